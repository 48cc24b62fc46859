package io.quiesce.locks;

import io.quiesce.percpu.HistogramSnapshot;
import io.quiesce.percpu.PerCpuCounter;
import io.quiesce.percpu.PerCpuHistogram;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * How often a lock was taken, how often somebody had to wait for it, and for how long it was waited
 * for and held.
 *
 * <pre>
 *   LockStatistics orders = LockStatistics.create("orders");
 *   Lock lock = new NodelessMcsLock("orders", orders);
 *   ...
 *   System.out.print(LockStatistics.report());
 * </pre>
 *
 * <p>Opt-in per lock: a lock without statistics pays a look at a final field. One with them reads
 * the clock twice more per acquisition and adds to two per-CPU words after the lock was given up:
 * some 100 ns in all, most of it the clock; the section itself becomes longer by one reading of the
 * clock. Several locks may share statistics, such as all of one kind.
 *
 * <p>An acquisition is counted when it ends, so that counting makes no section longer; a wait when
 * it is over. Waits that ended by time-out or interrupt are counted apart. A condition's wait ends
 * an acquisition, and its return is another; a thread that the signal puts into the lock's queue
 * waits for the lock from the signal on.
 *
 * <p>Safe from any thread. Figures are relaxed: a {@link #snapshot()} beside running threads may
 * have a wait without its acquisition. Two histograms of some 640 words per row of {@link
 * io.quiesce.percpu}, given back when they are unreachable; without native access on the heap.
 *
 * <p>Source: lockmeter (Bryant and Hawkes, "Lockmeter: highly-informative instrumentation for spin
 * locks in the Linux kernel", 2000).
 */
public final class LockStatistics {
  private static final long HIGHEST_NANOS = 3_600_000_000_000L;
  private static final int DIGITS = 1;

  private static final VarHandle LONGEST_WAIT;
  private static final VarHandle LONGEST_HOLD;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      LONGEST_WAIT = lookup.findVarHandle(LockStatistics.class, "longestWait", long.class);
      LONGEST_HOLD = lookup.findVarHandle(LockStatistics.class, "longestHold", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** Under itself. */
  private static final List<WeakReference<LockStatistics>> ALL = new ArrayList<>();

  private final String name;
  private final PerCpuHistogram waits = PerCpuHistogram.create(HIGHEST_NANOS, DIGITS);
  private final PerCpuHistogram holds = PerCpuHistogram.create(HIGHEST_NANOS, DIGITS);
  private final PerCpuCounter waited = PerCpuCounter.create();
  private final PerCpuCounter held = PerCpuCounter.create();
  private final PerCpuCounter givenUp = PerCpuCounter.create();
  private volatile long longestWait;
  private volatile long longestHold;

  private LockStatistics(String name) {
    this.name = name;
  }

  /**
   * What was counted since the last reset. Times are nanoseconds.
   *
   * @param name of the statistics
   * @param acquisitions that have ended
   * @param contended acquisitions that had to wait
   * @param givenUp waits that ended by time-out or interrupt
   * @param waitNanos waited in all by those that acquired
   * @param longestWaitNanos longest of these waits
   * @param waits all of these waits, one significant digit, up to an hour
   * @param holdNanos held in all
   * @param longestHoldNanos longest time held
   * @param holds all times held, one significant digit, up to an hour
   */
  public record Snapshot(
      String name,
      long acquisitions,
      long contended,
      long givenUp,
      long waitNanos,
      long longestWaitNanos,
      HistogramSnapshot waits,
      long holdNanos,
      long longestHoldNanos,
      HistogramSnapshot holds) {}

  /**
   * Statistics that count from zero, and are in {@link #all()} while somebody has them.
   *
   * @param name appears in reports
   * @return new ones, to be given to the constructor of a lock
   */
  public static LockStatistics create(String name) {
    LockStatistics created = new LockStatistics(name);
    synchronized (ALL) {
      ALL.removeIf(reference -> reference.refersTo(null));
      ALL.add(new WeakReference<>(created));
    }
    return created;
  }

  /**
   * All statistics that are in use.
   *
   * @return a copy, the oldest first
   */
  public static List<LockStatistics> all() {
    List<LockStatistics> found = new ArrayList<>();
    synchronized (ALL) {
      for (WeakReference<LockStatistics> reference : ALL) {
        LockStatistics statistics = reference.get();
        if (statistics != null) {
          found.add(statistics);
        }
      }
    }
    return found;
  }

  /**
   * A table of all statistics in use, those that were waited for longest first.
   *
   * @return lines of text, each ended by a line feed
   */
  public static String report() {
    return table(all().stream().map(LockStatistics::snapshot).toList());
  }

  /**
   * A table, those that were waited for longest first.
   *
   * @param snapshots what to show
   * @return lines of text, each ended by a line feed
   */
  public static String table(List<Snapshot> snapshots) {
    StringBuilder text = new StringBuilder(256);
    text.append(
        line(
            "lock",
            "taken",
            "waited",
            "%",
            "gave up",
            "wait in all",
            "99 %",
            "longest",
            "hold in all",
            "99 %",
            "longest"));
    snapshots.stream()
        .sorted(Comparator.comparingLong(Snapshot::waitNanos).reversed())
        .forEach(
            s ->
                text.append(
                    line(
                        s.name(),
                        Long.toString(s.acquisitions()),
                        Long.toString(s.contended()),
                        s.acquisitions() == 0
                            ? "-"
                            : String.format(
                                Locale.ROOT, "%.1f", 100.0 * s.contended() / s.acquisitions()),
                        Long.toString(s.givenUp()),
                        time(s.waitNanos()),
                        time(s.waits().valueAtPercentile(99)),
                        time(s.longestWaitNanos()),
                        time(s.holdNanos()),
                        time(s.holds().valueAtPercentile(99)),
                        time(s.longestHoldNanos()))));
    return text.toString();
  }

  private static String line(Object... columns) {
    return String.format("%-24s %12s %10s %5s %8s %12s %9s %9s %12s %9s %9s%n", columns)
        .replace(System.lineSeparator(), "\n");
  }

  private static String time(long nanos) {
    if (nanos < 10_000) {
      return nanos + " ns";
    }
    if (nanos < 10_000_000) {
      return nanos / 1_000 + " us";
    }
    return nanos < 10_000_000_000L ? nanos / 1_000_000 + " ms" : nanos / 1_000_000_000 + " s";
  }

  /**
   * Their name.
   *
   * @return as given at creation
   */
  public String name() {
    return name;
  }

  /**
   * What was counted since the last reset; some microseconds.
   *
   * @return a copy
   */
  public Snapshot snapshot() {
    HistogramSnapshot waitsNow = waits.snapshot();
    HistogramSnapshot holdsNow = holds.snapshot();
    return new Snapshot(
        name,
        holdsNow.totalCount() + holdsNow.overflowCount(),
        waitsNow.totalCount() + waitsNow.overflowCount(),
        givenUp.sum(),
        waited.sum(),
        longestWait,
        waitsNow,
        held.sum(),
        longestHold,
        holdsNow);
  }

  /** Counts from zero. What ends beside it may be counted in some figures and not in others. */
  public void reset() {
    waits.reset();
    holds.reset();
    waited.reset();
    held.reset();
    givenUp.reset();
    longestWait = 0;
    longestHold = 0;
  }

  /** One lock's part: what only its owner touches. Counting never throws: the lock is held. */
  static final class Meter {
    private final LockStatistics statistics;
    long heldSince;

    Meter(LockStatistics statistics) {
      this.statistics = statistics;
    }

    /** A wait is over, with the lock or without. */
    void waited(long now, long nanos, boolean acquired) {
      if (acquired) {
        heldSince = now;
      }
      try {
        statistics.countWait(Math.max(0, nanos), acquired);
      } catch (OutOfMemoryError | StackOverflowError uncounted) {
        // The fallback's buckets, at their first use. The lock is held, which must be known.
      }
    }

    /** The lock was given up. */
    void held(long nanos) {
      try {
        statistics.countHold(Math.max(0, nanos));
      } catch (OutOfMemoryError | StackOverflowError uncounted) {
        // As above; and those that were signalled have not been woken yet.
      }
    }
  }

  private void countWait(long nanos, boolean acquired) {
    if (!acquired) {
      givenUp.increment();
      return;
    }
    waits.record(nanos);
    waited.add(nanos);
    raise(LONGEST_WAIT, nanos);
  }

  private void countHold(long nanos) {
    holds.record(nanos);
    held.add(nanos);
    raise(LONGEST_HOLD, nanos);
  }

  private void raise(VarHandle longest, long nanos) {
    long seen = (long) longest.getOpaque(this);
    while (nanos > seen && !longest.compareAndSet(this, seen, nanos)) {
      seen = (long) longest.getOpaque(this);
    }
  }

  /** The figures in one line. */
  @Override
  public String toString() {
    Snapshot now = snapshot();
    return "LockStatistics["
        + name
        + ", taken "
        + now.acquisitions()
        + ", waited "
        + now.contended()
        + " for "
        + time(now.waitNanos())
        + "]";
  }
}
