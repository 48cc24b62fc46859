package io.quiesce.verify;

import io.quiesce.linux.Membarrier;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;

/**
 * The claim of docs/ordering.md about HotSpot, run on the machine at hand: an opaque store followed
 * by an opaque load in the reader, an opaque store, {@link Membarrier#fence()} and an opaque load
 * in the updater; that neither sees the other, (0, 0), must never happen, and must happen without
 * the fence, else the test could not fail.
 *
 * <p>A loop of its own beside the jcstress test, because the barrier takes microseconds where the
 * reader takes one nanosecond: here the two start together for each trial, and the updater
 * announces its place between store and load by nothing but the protocol.
 *
 * <pre>
 *   reader                        updater
 *   wait for trial t              begin trial t
 *   x[t] = 1  (opaque)            y[t] = 1  (opaque)
 *   r1 = y[t] (opaque)            [ Membarrier.fence() ]
 *                                 r2 = x[t] (opaque)
 * </pre>
 */
public final class StoreBufferingLitmus {
  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  /** Each word on a line of its own. */
  private static final int X = 16;

  private static final int Y = 48;
  private static final int GO = 80;
  private static final int SEEN = 112;
  private static final int PLACES = 144;

  /** Reader and updater meet in different phases by turns of this many pauses. */
  private static final int SKEWS = 24;

  private StoreBufferingLitmus() {}

  /**
   * What was counted.
   *
   * @param trials how often both sides ran
   * @param neither how often neither saw the other
   */
  public record Counts(long trials, long neither) {}

  /** One trial per value: words only grow, so nothing is reset and no trial disturbs the next. */
  private static final class Trial {
    private final long[] words = new long[PLACES];
    private final boolean fenced;
    private long neither;

    Trial(boolean fenced) {
      this.fenced = fenced;
    }

    long get(int place) {
      return (long) WORD.getOpaque(words, place);
    }

    void set(int place, long value) {
      WORD.setOpaque(words, place, value);
    }

    void reader() {
      for (long t = 1; t != Long.MAX_VALUE; t++) {
        long go = await(GO, t);
        if (go == Long.MAX_VALUE) {
          return;
        }
        skew((int) (t / 7 % SKEWS));
        set(X, t);
        long seen = get(Y);
        WORD.setVolatile(words, SEEN, seen == t ? -t : t); // negative: it saw the updater
      }
    }

    long updater(long nanos) {
      long until = System.nanoTime() + nanos;
      long t = 0;
      while ((++t & 255) != 0 || System.nanoTime() < until) {
        WORD.setVolatile(words, GO, t);
        skew((int) (t % SKEWS));
        set(Y, t);
        if (fenced) {
          Membarrier.fence();
        }
        long seen = get(X);
        long reader = await(SEEN, t);
        if (seen < t && reader > 0) {
          neither++;
        }
      }
      WORD.setVolatile(words, GO, Long.MAX_VALUE);
      return t - 1;
    }

    /** Waits until a word's absolute value is at least {@code t}. */
    private long await(int place, long t) {
      long value = (long) WORD.getAcquire(words, place);
      for (int spins = 0; Math.abs(value) < t; spins++) {
        relax(spins);
        value = (long) WORD.getAcquire(words, place);
      }
      return value;
    }

    /** Two CPUs are needed at once; where others have them, give way and try again. */
    private static void relax(int spins) {
      if ((spins & 4095) == 4095) {
        Thread.yield();
      } else {
        Thread.onSpinWait();
      }
    }

    private static void skew(int pauses) {
      for (int i = 0; i < pauses; i++) {
        Thread.onSpinWait();
      }
    }
  }

  /**
   * Runs the loop.
   *
   * @param fenced whether the updater runs the process-wide barrier
   * @param millis how long
   * @return the counts
   * @throws InterruptedException if interrupted
   */
  public static Counts run(boolean fenced, long millis) throws InterruptedException {
    Trial trial = new Trial(fenced);
    Thread reader = Thread.ofPlatform().daemon(true).name("litmus-reader").start(trial::reader);
    long trials = trial.updater(millis * 1_000_000);
    reader.join();
    return new Counts(trials, trial.neither);
  }

  /**
   * Runs both forms for half the time each and says what came out.
   *
   * @param seconds how long
   * @param out where it says so
   * @return 0 if the claim holds and the twin shows that it could have failed, else 1
   * @throws InterruptedException if interrupted
   */
  public static int run(int seconds, PrintStream out) throws InterruptedException {
    if (!Membarrier.isAvailable()) {
      out.println("litmus skipped: no process-wide barrier here");
      return 0;
    }
    Counts without = run(false, seconds * 500L);
    Counts with = run(true, seconds * 500L);
    out.printf(
        Locale.ROOT,
        "store buffering, (0, 0): without barrier %d of %d, with barrier %d of %d%n",
        without.neither(),
        without.trials(),
        with.neither(),
        with.trials());
    return with.neither() == 0 && without.neither() > 0 ? 0 : 1;
  }

  /**
   * The command line: seconds, 10 by default.
   *
   * @param args at most one number
   * @throws InterruptedException if interrupted
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(run(args.length == 0 ? 10 : Integer.parseInt(args[0]), System.out));
  }
}
