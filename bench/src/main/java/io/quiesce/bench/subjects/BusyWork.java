package io.quiesce.bench.subjects;

/**
 * Work that takes a known time and that no compiler can drop or shorten: a chain of xorshift steps,
 * each of which needs the one before. The native peers run the same chain.
 *
 * <p>How many steps a time is, is found once, in the process that drives the experiments, and told
 * to every subject: all of them do exactly the same work.
 */
public final class BusyWork {
  private static final int STEPS = 20_000;
  private static final long CALIBRATION_NANOS = 60_000_000;

  private BusyWork() {}

  /** Found at the first use. */
  private static final class Calibrated {
    static final double NANOS_PER_STEP = calibrate();

    private Calibrated() {}

    /** The least of many: what disturbs a sample makes it longer. */
    private static double calibrate() {
      long state = 1;
      long least = Long.MAX_VALUE;
      long start = System.nanoTime();
      long before = start;
      do {
        state = run(state, STEPS);
        long now = System.nanoTime();
        least = Math.min(least, now - before);
        before = now;
      } while (before - start < CALIBRATION_NANOS);
      Sink.take(state);
      return (double) Math.max(1, least) / STEPS;
    }
  }

  /**
   * How many steps take a time on this machine.
   *
   * @param nanos the time, in ns
   * @return at least 1, but none for no time
   */
  public static int steps(int nanos) {
    return nanos == 0 ? 0 : (int) Math.max(1, Math.round(nanos / Calibrated.NANOS_PER_STEP));
  }

  /** Works; give the result to the next call, or to the {@link Sink}. */
  static long run(long state, int steps) {
    long x = state;
    for (int i = 0; i < steps; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }
}
