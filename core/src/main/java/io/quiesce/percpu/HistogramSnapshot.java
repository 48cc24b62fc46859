package io.quiesce.percpu;

/**
 * What a {@link PerCpuHistogram} has counted: immutable, on the heap, safe from any thread.
 *
 * <p>Values are those of HdrHistogram: a value stands for all that share its count, which differ by
 * less than one unit of the last significant digit.
 */
public final class HistogramSnapshot {
  /** Takes one count. */
  @FunctionalInterface
  public interface CountConsumer {
    /**
     * Called once for each count that is not zero.
     *
     * @param value the smallest value of the count
     * @param count how often it was recorded, above 0
     */
    void accept(long value, long count);
  }

  private final HistogramLayout layout;
  private final long[] counts;
  private final long total;
  private final long overflows;

  /** Owns the array, whose last element counts what was too high. */
  HistogramSnapshot(HistogramLayout layout, long[] counts) {
    this.layout = layout;
    this.counts = counts;
    long sum = 0;
    for (int i = 0; i < layout.length(); i++) {
      sum += counts[i];
    }
    total = sum;
    overflows = counts[layout.length()];
  }

  /**
   * How many values were recorded, without those that were too high.
   *
   * @return 0 or more
   */
  public long totalCount() {
    return total;
  }

  /**
   * How many values were above {@link #highestTrackableValue()}; no other method counts them.
   *
   * @return 0 or more
   */
  public long overflowCount() {
    return overflows;
  }

  /**
   * The smallest value.
   *
   * @return the smallest that shares its count; 0 when there is none
   */
  public long min() {
    for (int i = 0; i < layout.length(); i++) {
      if (counts[i] != 0) {
        return layout.value(i);
      }
    }
    return 0;
  }

  /**
   * The largest value.
   *
   * @return the largest that shares its count; 0 when there is none
   */
  public long max() {
    for (int i = layout.length() - 1; i >= 0; i--) {
      if (counts[i] != 0) {
        return layout.lastValue(i);
      }
    }
    return 0;
  }

  /**
   * The average, of the middle of each count.
   *
   * @return the mean; 0 when there is no value
   */
  public double mean() {
    if (total == 0) {
      return 0;
    }
    double sum = 0;
    for (int i = 0; i < layout.length(); i++) {
      if (counts[i] != 0) {
        sum += (double) layout.middleValue(i) * counts[i];
      }
    }
    return sum / total;
  }

  /**
   * The value that a share of all values does not exceed.
   *
   * @param percentile 0 to 100; what lies outside counts as the nearer end
   * @return the largest value that shares its count (the smallest for percentile 0); 0 when there
   *     is no value
   */
  public long valueAtPercentile(double percentile) {
    // One step down, so that 99.9 of 1,000 is the 999th in spite of rounding.
    double wanted = Math.clamp(Math.nextDown(percentile), 0.0, 100.0);
    long rank = Math.max(1, (long) Math.ceil(wanted * total / 100.0));
    long seen = 0;
    for (int i = 0; i < layout.length(); i++) {
      seen += counts[i];
      if (seen >= rank) {
        return percentile <= 0 ? layout.value(i) : layout.lastValue(i);
      }
    }
    return 0;
  }

  /**
   * Hands over every count that is not zero, by rising value. With HdrHistogram {@code
   * snapshot.forEach(histogram::recordValueWithCount)} gives a histogram that is equal to one that
   * recorded the values itself with the same settings.
   *
   * @param consumer called in the calling thread; what it throws comes through
   */
  public void forEach(CountConsumer consumer) {
    for (int i = 0; i < layout.length(); i++) {
      if (counts[i] != 0) {
        consumer.accept(layout.value(i), counts[i]);
      }
    }
  }

  /**
   * The setting of the histogram.
   *
   * @return 1 or more
   */
  public long lowestDiscernibleValue() {
    return layout.lowest();
  }

  /**
   * The setting of the histogram.
   *
   * @return at least twice the lowest
   */
  public long highestTrackableValue() {
    return layout.highest();
  }

  /**
   * The setting of the histogram.
   *
   * @return 1 to 5
   */
  public int significantDigits() {
    return layout.digits();
  }

  @Override
  public String toString() {
    return "HistogramSnapshot[count="
        + total
        + ", min="
        + min()
        + ", mean="
        + mean()
        + ", p99="
        + valueAtPercentile(99)
        + ", max="
        + max()
        + ", overflows="
        + overflows
        + "]";
  }
}
