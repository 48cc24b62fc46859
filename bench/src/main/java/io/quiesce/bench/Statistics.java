package io.quiesce.bench;

import java.util.Arrays;
import java.util.List;

/**
 * A median with its spread.
 *
 * @param median the middle value, or the mean of the two middle ones
 * @param min the least
 * @param max the greatest
 * @param runs how many values
 */
public record Statistics(double median, double min, double max, int runs) {

  /**
   * Of some values.
   *
   * @param values at least one, all finite
   * @return their median and spread
   */
  public static Statistics of(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    if (sorted.length == 0 || !Arrays.stream(sorted).allMatch(Double::isFinite)) {
      throw new IllegalArgumentException("no median of " + values);
    }
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Statistics(median, sorted[0], sorted[sorted.length - 1], sorted.length);
  }
}
