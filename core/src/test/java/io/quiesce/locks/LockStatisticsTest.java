package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is counted, of every lock. */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class LockStatisticsTest {
  @ParameterizedTest
  @EnumSource
  void acquisitionsWaitsAndHoldsAreCounted(Kind kind) throws InterruptedException {
    LockStatistics statistics = LockStatistics.create("stock");
    ExclusiveLock lock = kind.create(statistics);
    for (int i = 0; i < 10; i++) {
      lock.lock();
      lock.unlock();
    }
    assertThat(lock.tryLock()).isTrue();
    assertThat(statistics.snapshot().acquisitions()).isEqualTo(10); // the last goes on
    try (Together threads = new Together()) {
      threads.start(() -> assertThat(lock.tryLock(1, TimeUnit.MILLISECONDS)).isFalse()).join();
      Thread waiter =
          threads.start(
              () -> {
                lock.lock();
                lock.unlock();
              });
      Together.untilParked(waiter);
      Thread.sleep(5);
      lock.unlock();
    }
    LockStatistics.Snapshot seen = statistics.snapshot();
    assertThat(seen.name()).isEqualTo("stock");
    assertThat(seen.acquisitions()).isEqualTo(12);
    assertThat(seen.contended()).isEqualTo(1);
    assertThat(seen.givenUp()).isEqualTo(1);
    assertThat(seen.waitNanos()).isEqualTo(seen.longestWaitNanos()).isGreaterThan(5_000_000);
    assertThat(seen.longestHoldNanos()).isGreaterThan(5_000_000);
    assertThat(seen.holdNanos()).isGreaterThanOrEqualTo(seen.longestHoldNanos());
    assertThat(seen.waits().totalCount()).isEqualTo(1);
    assertThat(seen.holds().totalCount()).isEqualTo(12);
    assertThat(statistics.toString()).contains("stock, taken 12, waited 1");
    statistics.reset();
    LockStatistics.Snapshot none = statistics.snapshot();
    assertThat(none.acquisitions() + none.contended() + none.givenUp()).isZero();
    assertThat(none.waitNanos() + none.longestWaitNanos() + none.longestHoldNanos()).isZero();
    assertThat(none.holdNanos()).isZero();
  }

  @Test
  void aConditionsWaitIsNoHold() throws InterruptedException {
    LockStatistics statistics = LockStatistics.create("condition");
    ExclusiveLock lock = new NodelessMcsLock("condition", statistics);
    Condition condition = lock.newCondition();
    lock.lock();
    condition.await(30, TimeUnit.MILLISECONDS);
    lock.unlock();
    assertThat(statistics.snapshot().acquisitions()).isEqualTo(2);
    assertThat(statistics.snapshot().waitNanos()).isZero();
  }

  @Test
  void theReportBeginsWithWhatWasWaitedForLongest() {
    LockStatistics idle = LockStatistics.create("idle");
    LockStatistics busy = LockStatistics.create("busy");
    LockStatistics.Meter meter = new LockStatistics.Meter(busy);
    meter.waited(7, 12_345_678, true);
    meter.held(2_000);
    meter.waited(7, 1, false);
    LockStatistics.Meter other = new LockStatistics.Meter(idle);
    other.waited(7, 1_000, true);
    other.held(1_000);
    assertThat(LockStatistics.all()).contains(idle, busy);
    assertThat(LockStatistics.report().lines())
        .anyMatch(line -> line.startsWith("busy"))
        .anyMatch(line -> line.startsWith("idle"));
    List<String> lines =
        LockStatistics.table(List.of(idle.snapshot(), busy.snapshot())).lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0)).startsWith("lock");
    assertThat(lines.get(1)).startsWith("busy").contains("12 ms").contains("100.0");
    assertThat(lines.get(2)).startsWith("idle").contains("1000 ns");
  }

  /** Negative lengths, of a clock that goes backwards between CPUs, must not throw. */
  @Test
  void lengthsAreNeverBelowZero() {
    LockStatistics statistics = LockStatistics.create("clock");
    LockStatistics.Meter meter = new LockStatistics.Meter(statistics);
    meter.waited(0, -5, true);
    meter.held(-5);
    assertThat(statistics.snapshot().waitNanos()).isZero();
    assertThat(statistics.snapshot().holdNanos()).isZero();
  }
}
