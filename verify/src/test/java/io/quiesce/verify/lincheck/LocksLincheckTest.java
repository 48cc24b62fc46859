package io.quiesce.verify.lincheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.locks.RawLocks;
import org.jetbrains.kotlinx.lincheck.LinChecker;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * A plain count under each lock is linearizable, under stress. Model checking is left to Spin: it
 * runs one thread at a time and takes a waiter that spins, yields and parks for a time for a
 * livelock, and the clock that decides when to park is outside of its schedule.
 *
 * <p>Longer: {@code -Dquiesce.verify.long=N} multiplies iterations by N.
 */
class LocksLincheckTest {
  private static final int TIMES = Integer.getInteger("quiesce.verify.long", 1);

  private static StressOptions stress() {
    return new StressOptions()
        .iterations(4 * TIMES)
        .invocationsPerIteration(500)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(0)
        .actorsAfter(1)
        .minimizeFailedScenario(false)
        .sequentialSpecification(Sequential.class);
  }

  @Test
  void aCountUnderEachLockIsLinearizable() {
    LinChecker.check(Spin.class, stress());
    LinChecker.check(Ticket.class, stress());
    LinChecker.check(Clh.class, stress());
    LinChecker.check(Mcs.class, stress());
    LinChecker.check(Nodeless.class, stress());
  }

  @Test
  void aLockThatIsTakenByALookAndAStoreIsFound() {
    StressOptions options = stress().iterations(200);
    assertThatThrownBy(() -> LinChecker.check(Broken.class, options))
        .satisfies(found -> assertThat(found.getMessage()).contains("Invalid execution results"));
  }

  /** A count. */
  static class Count {
    private final RawLocks.Raw lock;
    private int count;

    Count(RawLocks.Raw lock) {
      this.lock = lock;
    }

    final int add() {
      lock.lock();
      int seen = count;
      for (int i = 0; i < 4; i++) {
        Thread.onSpinWait();
      }
      count = seen + 1;
      lock.unlock();
      return seen;
    }
  }

  /** Under {@link RawLocks#spin}. */
  public static class Spin {
    private final Count count = new Count(RawLocks.spin());

    /** By any thread. */
    @Operation
    public int next() {
      return count.add();
    }
  }

  /** Under {@link RawLocks#ticket}. */
  public static class Ticket {
    private final Count count = new Count(RawLocks.ticket());

    /** By any thread. */
    @Operation
    public int next() {
      return count.add();
    }
  }

  /** Under {@link RawLocks#clh}. */
  public static class Clh {
    private final Count count = new Count(RawLocks.clh());

    /** By any thread. */
    @Operation
    public int next() {
      return count.add();
    }
  }

  /** Under {@link RawLocks#mcs}. */
  public static class Mcs {
    private final Count count = new Count(RawLocks.mcs());

    /** By any thread. */
    @Operation
    public int next() {
      return count.add();
    }
  }

  /** Under {@link RawLocks#nodeless}. */
  public static class Nodeless {
    private final Count count = new Count(RawLocks.nodeless());

    /** By any thread. */
    @Operation
    public int next() {
      return count.add();
    }
  }

  /** Under {@link RawLocks#spinTwin}. */
  public static class Broken {
    private final Count count = new Count(RawLocks.spinTwin());

    /** By any thread. */
    @Operation
    public int next() {
      return count.add();
    }
  }

  /** What all must look like. */
  public static class Sequential {
    private int count;

    /** Adds. */
    public int next() {
      return count++;
    }
  }
}
