package io.quiesce.percpu;

/**
 * Which bucket a value falls into, bit for bit as in HdrHistogram, so that counts can be handed
 * over without loss.
 *
 * <pre>
 *   bucket 0:  subCount buckets, each 1 unit wide
 *   bucket k:  the upper half of subCount buckets, each 2^k units wide
 *
 *   index  0 ............ subCount-1 | half more | half more | ...
 * </pre>
 *
 * A unit is the largest power of two that is not above the lowest discernible value; {@code
 * subCount} is the smallest power of two that is not below 2 * 10^digits, so that neighbours differ
 * by less than one unit in the last digit.
 */
final class HistogramLayout {
  private final long lowest;
  private final long highest;
  private final int digits;
  private final int unit; // as a power of two
  private final int half; // half of the sub-buckets, as a power of two
  private final long mask;
  private final int zeros; // leading zeros of a value in bucket 0
  private final int length;

  HistogramLayout(long lowest, long highest, int digits) {
    if (lowest < 1) {
      throw new IllegalArgumentException("lowest is " + lowest + "; it must be 1 or more");
    }
    if (highest / 2 < lowest) {
      throw new IllegalArgumentException(
          "highest is " + highest + "; it must be at least twice the lowest, " + lowest);
    }
    if (digits < 1 || digits > 5) {
      throw new IllegalArgumentException(digits + " digits; there can be 1 to 5");
    }
    this.lowest = lowest;
    this.highest = highest;
    this.digits = digits;
    unit = 63 - Long.numberOfLeadingZeros(lowest);
    long single = 2;
    for (int i = 0; i < digits; i++) {
      single *= 10;
    }
    int count = 64 - Long.numberOfLeadingZeros(single - 1);
    if (count + unit > 62) {
      throw new IllegalArgumentException(
          "lowest " + lowest + " with " + digits + " digits does not fit in 63 bits; lower one");
    }
    half = count - 1;
    mask = ((1L << count) - 1) << unit;
    zeros = 64 - unit - count;
    int buckets = 1;
    for (long limit = 1L << (count + unit); limit <= highest; limit <<= 1) {
      buckets++;
      if (limit > Long.MAX_VALUE / 2) {
        break;
      }
    }
    length = (buckets + 1) << half;
  }

  long lowest() {
    return lowest;
  }

  long highest() {
    return highest;
  }

  int digits() {
    return digits;
  }

  /** How many counts there are. */
  int length() {
    return length;
  }

  /** Of a value from 0 to the highest; a few instructions. */
  int index(long value) {
    int bucket = zeros - Long.numberOfLeadingZeros(value | mask);
    int sub = (int) (value >>> (bucket + unit));
    return (bucket << half) + sub;
  }

  /** The bucket that a count belongs to. */
  private int bucket(int index) {
    return Math.max(0, (index >> half) - 1);
  }

  /** The smallest value of a count. */
  long value(int index) {
    int bucket = bucket(index);
    long sub = index - ((long) bucket << half);
    return sub << (bucket + unit);
  }

  /** How many values share a count. */
  long width(int index) {
    return 1L << (bucket(index) + unit);
  }

  /** The largest value of a count. */
  long lastValue(int index) {
    return value(index) + width(index) - 1;
  }

  /** The value in the middle of a count. */
  long middleValue(int index) {
    return value(index) + (width(index) >> 1);
  }
}
