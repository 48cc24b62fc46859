package io.quiesce.verify.lincheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.locks.RawLocks;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.LinChecker;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * A plain count under each lock is linearizable. Giving up is left to Spin: whether a time is over
 * is decided by the clock, which is outside of what Lincheck schedules.
 *
 * <p>Longer: {@code -Dquiesce.verify.long=N} multiplies iterations by N.
 */
class LocksLincheckTest {
  private static final int TIMES = Integer.getInteger("quiesce.verify.long", 1);

  private static final List<Class<?>> LOCKS =
      List.of(Spin.class, Ticket.class, Clh.class, Mcs.class, Nodeless.class);

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .iterations(3 * TIMES)
        .invocationsPerIteration(200)
        .threads(2)
        .actorsPerThread(2)
        .actorsBefore(0)
        .actorsAfter(1)
        .minimizeFailedScenario(false)
        .sequentialSpecification(Sequential.class);
  }

  private static StressOptions stress() {
    return new StressOptions()
        .iterations(2 * TIMES)
        .invocationsPerIteration(300)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(0)
        .actorsAfter(1)
        .minimizeFailedScenario(false)
        .sequentialSpecification(Sequential.class);
  }

  @Test
  void everyInterleavingOfShortScenariosIsLinearizable() {
    LOCKS.forEach(lock -> LinChecker.check(lock, modelChecking()));
  }

  @Test
  void stressedHistoriesAreLinearizable() {
    LOCKS.forEach(lock -> LinChecker.check(lock, stress()));
  }

  @Test
  void aLockThatIsTakenByALookAndAStoreIsFoundByModelChecking() {
    assertThatThrownBy(() -> LinChecker.check(Broken.class, modelChecking()))
        .satisfies(found -> assertThat(found.getMessage()).contains("Invalid execution results"));
  }

  @Test
  void aLockThatIsTakenByALookAndAStoreIsFoundByStress() {
    StressOptions options = stress().iterations(200).invocationsPerIteration(1_000);
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
