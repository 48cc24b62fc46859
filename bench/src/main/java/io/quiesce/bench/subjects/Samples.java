package io.quiesce.bench.subjects;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongConsumer;

/** The last {@code limit} of any number of times; the mean is of all. Not thread-safe. */
final class Samples {
  private final long[] values;
  private long count;
  private double sum;

  Samples(int limit) {
    values = new long[limit];
    Arrays.fill(values, -1); // no page faults inside a round
  }

  void clear() {
    count = 0;
    sum = 0;
  }

  void add(long nanos) {
    values[(int) (count % values.length)] = nanos;
    count++;
    sum += nanos;
  }

  /** The times that are kept, in no order. */
  void forEach(LongConsumer consumer) {
    for (int i = 0; i < kept(); i++) {
      consumer.accept(values[i]);
    }
  }

  long count() {
    return count;
  }

  private int kept() {
    return (int) Math.min(count, values.length);
  }

  /** Sorts in place: add nothing afterwards without a clear. */
  void sort() {
    Arrays.sort(values, 0, kept());
  }

  double at(double fraction) {
    return kept() == 0 ? 0 : values[(int) ((kept() - 1) * fraction)];
  }

  /** Sorts, and gives the median as {@code ns} with company. */
  Map<String, Double> result() {
    sort();
    Map<String, Double> result = new LinkedHashMap<>();
    result.put("ns", at(0.5));
    result.put("p99", at(0.99));
    result.put("mean", sum / Math.max(1, count));
    result.put("samples", (double) count);
    return result;
  }
}
