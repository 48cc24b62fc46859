package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deadlocks are seen by the JVM's own detection, or by ours; what is none is not. */
@Timeout(100)
class DeadlocksTest {
  /** Two threads that each have one lock and wait for the other's, until they are interrupted. */
  static Thread[] deadlock(
      Together threads, boolean virtual, ExclusiveLock one, ExclusiveLock other) {
    CyclicBarrier both = new CyclicBarrier(2);
    return new Thread[] {
      threads.start(virtual, () -> takeBoth(both, one, other)),
      threads.start(virtual, () -> takeBoth(both, other, one))
    };
  }

  private static void takeBoth(CyclicBarrier both, ExclusiveLock mine, ExclusiveLock yours)
      throws Exception {
    mine.lock();
    try {
      both.await();
      yours.lockInterruptibly();
      yours.unlock();
    } catch (InterruptedException expected) {
      // That is how the test ends it.
    } finally {
      mine.unlock();
    }
  }

  @ParameterizedTest
  @EnumSource
  void ofPlatformThreadsIsSeenByTheJvmAndByUs(Kind kind) throws InterruptedException {
    ExclusiveLock one = kind.create();
    ExclusiveLock other = kind.create();
    try (Together threads = new Together()) {
      Thread[] pair = deadlock(threads, false, one, other);
      var bean = ManagementFactory.getThreadMXBean();
      Together.until(
          "the JVM sees both",
          () -> {
            long[] found = bean.findDeadlockedThreads();
            return found != null && found.length == 2;
          });
      assertThat(bean.findDeadlockedThreads())
          .containsExactlyInAnyOrder(pair[0].threadId(), pair[1].threadId());
      Together.until("we see it", () -> Deadlocks.find().size() == 1);
      assertThat(Deadlocks.find().getFirst()).containsExactlyInAnyOrder(pair);
      pair[0].interrupt();
      pair[1].interrupt();
    }
    assertThat(Deadlocks.find()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void ofVirtualThreadsIsSeenByUs(Kind kind) throws InterruptedException {
    ExclusiveLock one = kind.create();
    ExclusiveLock other = kind.create();
    try (Together threads = new Together()) {
      Thread[] pair = deadlock(threads, true, one, other);
      Together.until("we see it", () -> Deadlocks.find().size() == 1);
      assertThat(Deadlocks.report())
          .contains(pair[0].toString())
          .contains(pair[1].toString())
          .contains(" waits for ")
          .contains(kind.name())
          .contains("takeBoth");
      pair[0].interrupt();
      pair[1].interrupt();
    }
    assertThat(Deadlocks.report()).isEmpty();
  }

  /** A wait with an end is no deadlock, nor is one for a signal. */
  @ParameterizedTest
  @EnumSource
  void timedAndConditionWaitsAreNone(Kind kind) throws InterruptedException {
    ExclusiveLock one = kind.create();
    ExclusiveLock other = kind.create();
    CyclicBarrier both = new CyclicBarrier(2);
    try (Together threads = new Together()) {
      Thread timed =
          threads.start(
              () -> {
                one.lock();
                both.await();
                try {
                  assertThat(other.tryLock(1, TimeUnit.DAYS)).isTrue();
                } catch (InterruptedException expected) {
                  // That is how the test ends it.
                }
                one.unlock();
              });
      Thread waiting =
          threads.start(
              () -> {
                other.lock();
                both.await();
                one.lock();
                one.unlock();
                other.unlock();
              });
      Together.until("both wait", () -> isWaiting(timed) && isWaiting(waiting));
      for (int i = 0; i < 20; i++) {
        Thread.sleep(1);
        assertThat(Deadlocks.find()).isEmpty();
      }
      timed.interrupt();
    }
    try (Together threads = new Together()) {
      Thread signalled =
          threads.start(
              () -> {
                one.lock();
                try {
                  one.newCondition().await();
                } catch (InterruptedException expected) {
                  // That is how the test ends it.
                }
                one.unlock();
              });
      Together.untilParked(signalled);
      assertThat(Deadlocks.find()).isEmpty();
      signalled.interrupt();
    }
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  @Test
  void readersThatWaitForWritersAreInTheCycle() throws InterruptedException {
    PerCpuReadWriteLock data = new PerCpuReadWriteLock("data");
    McsLock index = new McsLock("index");
    CyclicBarrier both = new CyclicBarrier(2);
    try (Together threads = new Together()) {
      Thread writer = threads.start(() -> takeBoth(both, data.writeLock(), index));
      Thread reader =
          threads.start(
              true,
              () -> {
                index.lock();
                try {
                  both.await();
                  data.readLock().lockInterruptibly();
                  data.readLock().unlock();
                } catch (InterruptedException expected) {
                  // That is how the test ends it.
                } finally {
                  index.unlock();
                }
              });
      Together.until("we see it", () -> Deadlocks.find().size() == 1);
      assertThat(Deadlocks.find()).singleElement().isEqualTo(rotated(List.of(writer, reader)));
      writer.interrupt();
      reader.interrupt();
    }
  }

  /** As it begins with either. */
  private static List<Thread> rotated(List<Thread> cycle) {
    List<Thread> found = Deadlocks.find().getFirst();
    return found.getFirst() == cycle.getFirst() ? cycle : cycle.reversed();
  }
}
