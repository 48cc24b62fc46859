package io.quiesce.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.List;

/**
 * The time stamp counter of x86-64, and its relation to {@code CLOCK_MONOTONIC}.
 *
 * <p>A time source only where the kernel's own clock source is the counter, because only the kernel
 * knows that all CPUs agree. {@code -Dquiesce.tsc=on} says that it may be trusted all the same (a
 * virtual machine whose kernel uses the hypervisor's clock), {@code off} that it may not. Safe from
 * any thread. Source: {@code /sys/devices/system/clocksource}, the {@code rdtsc} instruction.
 */
public final class Tsc {
  private static final String SOURCE =
      "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  private static final long CALIBRATION_NANOS = 20_000_000;
  private static final int ANCHOR_ROUNDS = 16;

  /** Whether the counter is a time source. */
  static final Facility FACILITY = probe();

  private Tsc() {}

  private static Facility probe() {
    if (!NativeCode.PAGE_FACILITY.on()) {
      return NativeCode.PAGE_FACILITY;
    }
    String choice = Settings.choice("quiesce.tsc", "auto", List.of("auto", "on", "off"));
    String source = CpuTopology.read(Path.of(SOURCE));
    return switch (choice) {
      case "on" -> Facility.on("trusted because of -Dquiesce.tsc=on");
      case "off" ->
          Facility.off("switched off by -Dquiesce.tsc=off; remove the property or set auto");
      default ->
          "tsc".equals(source)
              ? Facility.on("the kernel's clock source is the time stamp counter")
              : Facility.off(
                  "the kernel's clock source is "
                      + source
                      + "; set -Dquiesce.tsc=on if all CPUs' counters are known to agree");
    };
  }

  /** Handles of the sequences; touched only where they exist. */
  private static final class Stubs {
    private static final FunctionDescriptor LONG = FunctionDescriptor.of(ValueLayout.JAVA_LONG);
    static final MethodHandle PLAIN = NativeCode.downcall(Sequences.TSC.name(), LONG);
    static final MethodHandle ORDERED = NativeCode.downcall(Sequences.TSC_ORDERED.name(), LONG);
  }

  /** The counter's rate, measured when first asked for. */
  private static final class Rate {
    static final long TICKS_PER_SECOND = measure();

    private static long measure() {
      Anchor first = anchor();
      long end = first.monotonicNanos() + CALIBRATION_NANOS;
      Anchor last = first;
      while (last.monotonicNanos() < end) {
        Thread.onSpinWait();
        last = anchor();
      }
      return scale(
          last.tsc() - first.tsc(), 1_000_000_000, last.monotonicNanos() - first.monotonicNanos());
    }
  }

  /**
   * The counter and the clock at the same moment, as nearly as can be had.
   *
   * @param tsc ticks
   * @param monotonicNanos {@code CLOCK_MONOTONIC} in nanoseconds
   */
  public record Anchor(long tsc, long monotonicNanos) {
    /**
     * The time of a stamp, by the line through this anchor and a later one. Stamps beyond either
     * are extrapolated.
     *
     * @param stamp ticks
     * @param later taken after this one
     * @return {@code CLOCK_MONOTONIC} in nanoseconds
     * @throws IllegalArgumentException if {@code later} is not later
     */
    public long toNanos(long stamp, Anchor later) {
      long ticks = later.tsc - tsc;
      if (ticks <= 0) {
        throw new IllegalArgumentException(
            "the second anchor (" + later.tsc + ") must be later than the first (" + tsc + ")");
      }
      return monotonicNanos + scale(stamp - tsc, later.monotonicNanos - monotonicNanos, ticks);
    }

    /**
     * The time of a stamp, by this anchor and the calibrated rate. The error grows with the
     * distance, by some microseconds per second.
     *
     * @param stamp ticks
     * @return {@code CLOCK_MONOTONIC} in nanoseconds
     */
    public long toNanos(long stamp) {
      return monotonicNanos + scale(stamp - tsc, 1_000_000_000, ticksPerSecond());
    }
  }

  /**
   * Whether the counter may be used as a clock.
   *
   * @return true when the kernel uses it as one, or the property says so
   */
  public static boolean isAvailable() {
    Platform.verify();
    return FACILITY.on();
  }

  /**
   * The counter now, in ticks; not ordered against the instructions around it. Works wherever there
   * is machine code, even where {@link #isAvailable()} is false; stamps of different CPUs may then
   * disagree.
   *
   * @return ticks since some fixed moment
   * @throws UnsupportedOperationException where there is no machine code
   */
  public static long read() {
    if (!NativeCode.isAvailable()) {
      throw NativeCode.PAGE_FACILITY.unsupported("Tsc.read()");
    }
    try {
      return (long) Stubs.PLAIN.invokeExact();
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  /**
   * As {@link #read()}, but after every earlier load and before every later instruction.
   *
   * @return ticks since some fixed moment
   * @throws UnsupportedOperationException where there is no machine code
   */
  public static long readOrdered() {
    if (!NativeCode.isAvailable()) {
      throw NativeCode.PAGE_FACILITY.unsupported("Tsc.readOrdered()");
    }
    try {
      return (long) Stubs.ORDERED.invokeExact();
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  /**
   * The counter's rate. The first call takes 20 ms to measure it, to within some parts per million.
   *
   * @return ticks per second
   * @throws UnsupportedOperationException where there is no machine code
   */
  public static long ticksPerSecond() {
    if (!NativeCode.isAvailable()) {
      throw NativeCode.PAGE_FACILITY.unsupported("Tsc.ticksPerSecond()");
    }
    return Rate.TICKS_PER_SECOND;
  }

  /**
   * Reads counter and clock together: of several tries, the one whose two counter readings around
   * the clock were closest. Takes about a microsecond.
   *
   * @return the middle of the narrowest bracket
   * @throws UnsupportedOperationException where there is no machine code
   */
  public static Anchor anchor() {
    long bestWidth = Long.MAX_VALUE;
    Anchor best = new Anchor(0, 0);
    for (int i = 0; i < ANCHOR_ROUNDS; i++) {
      long before = readOrdered();
      long nanos = MonotonicClock.nanos();
      long after = readOrdered();
      long width = after - before;
      if (width >= 0 && width < bestWidth) {
        bestWidth = width;
        best = new Anchor(before + width / 2, nanos);
      }
    }
    return best;
  }

  /** {@code value * multiplier / divisor} with 128 bits in between, rounded towards zero. */
  static long scale(long value, long multiplier, long divisor) {
    long high = Math.multiplyHigh(value, multiplier);
    long low = value * multiplier;
    if (high == low >> 63) {
      return low / divisor;
    }
    return BigInteger.valueOf(value)
        .multiply(BigInteger.valueOf(multiplier))
        .divide(BigInteger.valueOf(divisor))
        .longValue();
  }
}
