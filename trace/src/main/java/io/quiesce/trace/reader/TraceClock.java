package io.quiesce.trace.reader;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * What the times in a trace mean. Immutable.
 *
 * @param name in the metadata
 * @param uuid tells clocks apart, or null
 * @param description for people, may be empty
 * @param frequency ticks per second, above 0
 * @param offsetSeconds from 1970 to tick 0
 * @param offsetTicks what is to be added to that, in ticks
 */
public record TraceClock(
    String name,
    @Nullable String uuid,
    String description,
    long frequency,
    long offsetSeconds,
    long offsetTicks) {
  private static final long NANOS = 1_000_000_000L;

  /** For a trace that does not describe one: nanoseconds since 1970. */
  static final TraceClock PLAIN = new TraceClock("", null, "", NANOS, 0, 0);

  /**
   * Nanoseconds since 1970, from the year 1677 to 2262; what is beyond wraps around.
   *
   * <p>As babeltrace2 does it, the offset and the ticks are converted and rounded down each for
   * itself. Other than there, without rounding in between.
   */
  public long nanosOf(long ticks) {
    return offsetSeconds * NANOS + nanos(offsetTicks, true) + nanos(ticks, false);
  }

  private long nanos(long ticks, boolean signed) {
    if (frequency == NANOS) {
      return ticks;
    }
    long seconds = signed ? Math.floorDiv(ticks, frequency) : Long.divideUnsigned(ticks, frequency);
    long rest = ticks - seconds * frequency;
    long fraction =
        rest <= Long.MAX_VALUE / NANOS
            ? rest * NANOS / frequency
            : BigInteger.valueOf(rest)
                .multiply(BigInteger.valueOf(NANOS))
                .divide(BigInteger.valueOf(frequency))
                .longValue();
    return seconds * NANOS + fraction;
  }
}
