package io.quiesce.bench;

/**
 * What a round yields.
 *
 * @param key the name in the subject's result line
 * @param unit for people, such as {@code ns} or {@code sections/s}
 * @param lowerIsBetter whether less is better
 */
public record Measure(String key, String unit, boolean lowerIsBetter) {

  /** Time of one operation. */
  public static final Measure NS = new Measure("ns", "ns", true);

  /**
   * A rate.
   *
   * @param what is done, such as {@code callbacks}
   * @return the measure
   */
  public static Measure rate(String what) {
    return new Measure("rate", what + "/s", false);
  }

  /**
   * The direction for JSON.
   *
   * @return {@code lower} or {@code higher}
   */
  public String better() {
    return lowerIsBetter ? "lower" : "higher";
  }

  /**
   * How many times better a value is than the peer's.
   *
   * @param subject the value
   * @param peer the peer's value
   * @return above 1 if better
   */
  public double gain(double subject, double peer) {
    return lowerIsBetter ? peer / subject : subject / peer;
  }
}
