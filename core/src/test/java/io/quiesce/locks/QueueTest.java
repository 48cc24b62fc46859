package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Places in queues: those that were given up, the nodeless lock's head and its patience. */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class QueueTest {
  private static final int STORM = 2_000;

  private static int lengthFrom(Waiter first) {
    int length = 0;
    for (Waiter at = first; at != null && length <= STORM; at = at.next()) {
      length++;
    }
    return length;
  }

  @Test
  void placesThatWereGivenUpAreUnlinked() {
    Waiter first = new Waiter(null);
    Waiter[] places = new Waiter[6];
    Waiter last = first;
    for (int i = 0; i < places.length; i++) {
      places[i] = new Waiter(null);
      last.setNext(places[i]);
      last = places[i];
    }
    places[0].abandon();
    places[1].abandon();
    places[3].abandon();
    places[5].abandon(); // the last stays: a link to somebody new may be on its way
    first.unlinkAbandoned();
    assertThat(first.next()).isSameAs(places[2]);
    assertThat(places[2].next()).isSameAs(places[4]);
    assertThat(places[4].next()).isSameAs(places[5]);
  }

  @Test
  void aPlaceIsGrantedOrGivenUpAndClaimedOnce() {
    Waiter granted = new Waiter(null);
    assertThat(granted.grant()).isTrue();
    assertThat(granted.abandon()).isFalse();
    assertThat(granted.claim()).isFalse();
    Waiter left = new Waiter(null);
    assertThat(left.abandon()).isTrue();
    assertThat(left.grant()).isFalse();
    assertThat(left.claim()).isTrue();
    assertThat(left.claim()).isFalse();
  }

  /** One waits for good, so that those that give up behind it are not the last ones for long. */
  @ParameterizedTest
  @EnumSource(names = {"MCS", "NODELESS"})
  void timeOutsDoNotPileUpBehindALongHolder(Kind kind) throws Exception {
    ExclusiveLock lock = kind.create();
    try (Together threads = new Together()) {
      lock.lock();
      Thread first =
          threads.start(
              () -> {
                lock.lock();
                lock.unlock();
              });
      Together.untilParked(first);
      for (int i = 0; i < 2; i++) {
        threads
            .start(
                () -> {
                  for (int j = 0; j < STORM / 2; j++) {
                    assertThat(lock.tryLock(1, TimeUnit.NANOSECONDS)).isFalse();
                  }
                })
            .join();
      }
      Waiter from = queueOf(lock);
      assertThat(lengthFrom(from)).isBetween(2, 64);
      lock.unlock();
    }
  }

  private static Waiter queueOf(ExclusiveLock lock) throws ReflectiveOperationException {
    String name = lock instanceof McsLock ? "holder" : "head";
    var field = lock.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return (Waiter) field.get(lock);
  }

  /** When two give up at once, the tail may stay at a place that was given up. */
  @ParameterizedTest
  @EnumSource
  void aFreeLockCanBeTakenAfterTwoGaveUp(Kind kind) throws Exception {
    ExclusiveLock lock = kind.create();
    int rounds = 400;
    CyclicBarrier barrier = new CyclicBarrier(3);
    try (Together threads = new Together()) {
      for (int i = 0; i < 2; i++) {
        threads.start(
            () -> {
              for (int j = 0; j < rounds; j++) {
                barrier.await();
                if (lock.tryLock(30, TimeUnit.MICROSECONDS)) {
                  lock.unlock();
                }
                barrier.await();
              }
            });
      }
      int refused = 0;
      for (int j = 0; j < rounds; j++) {
        lock.lock();
        barrier.await();
        barrier.await();
        lock.unlock();
        if (lock.isLocked() || !lock.tryLock()) {
          refused++;
        } else {
          lock.unlock();
        }
      }
      assertThat(refused).isZero();
    }
  }

  /** A head that was by-passed long enough is handed the lock, whoever else would take it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHeadIsByPassedForAWhileOnly(boolean virtual) throws InterruptedException {
    NodelessMcsLock lock = new NodelessMcsLock("bound");
    AtomicBoolean in = new AtomicBoolean();
    try (Together threads = new Together()) {
      lock.lock();
      Thread waiter =
          threads.start(
              virtual,
              () -> {
                lock.lock();
                in.set(true);
                lock.unlock();
              });
      Together.untilParked(waiter);
      long before = System.nanoTime();
      int byPasses = 0;
      // Sections of some 50 us, one right after the other: the head is woken and finds it taken.
      while (true) {
        lock.unlock();
        if (!lock.tryLock()) {
          break; // handed over: the word stayed at 1
        }
        if (in.get()) {
          lock.unlock();
          break; // it got in while this thread did not run
        }
        byPasses++;
        long section = System.nanoTime();
        while (System.nanoTime() - section < 50_000) {
          Thread.onSpinWait();
        }
        assertThat(System.nanoTime() - before).isLessThan(30_000_000_000L);
      }
      Together.until("the head has it", in::get);
      assertThat(byPasses).isLessThan(100_000);
    }
    assertThat(lock.isLocked()).isFalse();
  }

  /** The bound does not depend on the scheduler: unlocks look at the time for such a head. */
  @Test
  void aHeadThatNeverRunsIsGrantedTheLockWhenItIsOverdue() {
    NodelessMcsLock lock = new NodelessMcsLock("overdue");
    Waiter head = new Waiter(Thread.currentThread());
    lock.lock();
    lock.enqueue(head);
    long began = System.nanoTime();
    lock.unlock();
    while (lock.tryLock()) {
      lock.unlock();
      assertThat(System.nanoTime() - began).isLessThan(60_000_000_000L);
    }
    assertThat(System.nanoTime() - began).isGreaterThan(NodelessMcsLock.PATIENCE_NANOS);
    assertThat(head.state()).isEqualTo(Waiter.GRANTED);
    assertThat(lock.isLocked()).isTrue();
  }

  /** A holder that holds on for longer than the head's patience: no by-pass at all after that. */
  @Test
  void afterALongSectionTheHeadIsNext() throws InterruptedException {
    NodelessMcsLock lock = new NodelessMcsLock("long");
    for (int i = 0; i < 10; i++) {
      AtomicBoolean in = new AtomicBoolean();
      try (Together threads = new Together()) {
        lock.lock();
        Thread waiter =
            threads.start(
                () -> {
                  lock.lock();
                  in.set(true);
                  lock.unlock();
                });
        // It rests with a time limit until it has no patience left, then parks without.
        Together.until("it is impatient", () -> waiter.getState() == Thread.State.WAITING);
        lock.unlock();
        boolean taken = lock.tryLock();
        assertThat(taken && !in.get()).isFalse();
        if (taken) {
          lock.unlock();
        }
      }
    }
  }

  /** The head gives up: its position goes to the next, also when that gives up as well. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHeadThatGivesUpPassesOn(boolean virtual) throws InterruptedException {
    NodelessMcsLock lock = new NodelessMcsLock("head");
    for (int i = 0; i < 20; i++) {
      try (Together threads = new Together()) {
        lock.lock();
        Thread head = threads.start(virtual, () -> refused(lock));
        Together.untilParked(head);
        Thread second = threads.start(virtual, () -> refused(lock));
        Together.untilParked(second);
        CountDownLatch done = new CountDownLatch(1);
        Thread third =
            threads.start(
                virtual,
                () -> {
                  lock.lock();
                  done.countDown();
                  lock.unlock();
                });
        Together.untilParked(third);
        if (i % 2 == 0) {
          second.interrupt(); // a head of the future
          second.join();
          head.interrupt();
        } else {
          head.interrupt();
          second.interrupt();
        }
        lock.unlock();
        assertThat(done.await(50, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(lock.tryLock()).isTrue();
      lock.unlock();
    }
  }

  private static void refused(ExclusiveLock lock) {
    try {
      lock.lockInterruptibly();
      lock.unlock(); // in the odd rounds it may be faster than the interrupt
    } catch (InterruptedException expected) {
      // As wanted.
    }
  }

  @Test
  void pinnedThreadsMayPureSpin() throws InterruptedException {
    for (ExclusiveLock lock :
        new ExclusiveLock[] {
          new McsLock("mcs", WaitPolicy.SPIN),
          new ClhLock("clh", WaitPolicy.SPIN, null),
          NodelessMcsLock.asIn2002("2002")
        }) {
      int[] count = new int[1];
      try (Together threads = new Together()) {
        for (int i = 0; i < 2; i++) {
          threads.start(
              () -> {
                for (int j = 0; j < 200; j++) {
                  lock.lock();
                  count[0]++;
                  lock.unlock();
                }
              });
        }
      }
      assertThat(count[0]).as(lock.name()).isEqualTo(400);
    }
  }
}
