package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@link java.util.concurrent.locks.Lock} promises, of every lock. */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class ExclusiveLockTest {
  private static final int THREADS = 6;
  private static final int ROUNDS = 1_500;

  private int shared; // guarded by the lock of the test

  @ParameterizedTest
  @EnumSource
  void oneAtATime(Kind kind) throws InterruptedException {
    exclude(kind, false);
  }

  @ParameterizedTest
  @EnumSource
  void oneAtATimeOnVirtualThreads(Kind kind) throws InterruptedException {
    exclude(kind, true);
  }

  private void exclude(Kind kind, boolean virtual) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    AtomicInteger taken = new AtomicInteger();
    shared = 0;
    try (Together threads = new Together()) {
      for (int i = 0; i < THREADS; i++) {
        threads.start(
            virtual,
            () -> {
              for (int round = 0; round < ROUNDS; round++) {
                if (!take(lock, round)) {
                  continue;
                }
                int before = shared;
                if (round % 64 == 0) {
                  Thread.yield();
                }
                shared = before + 1;
                taken.incrementAndGet();
                lock.unlock();
              }
            });
      }
    }
    assertThat(shared).isEqualTo(taken.get()).isGreaterThan(ROUNDS);
    assertThat(lock.tryLock()).isTrue();
  }

  private static boolean take(ExclusiveLock lock, int round) throws InterruptedException {
    return switch (round % 8) {
      case 0 -> lock.tryLock();
      case 1 -> lock.tryLock(round % 3 * 20L, TimeUnit.MICROSECONDS);
      case 2 -> {
        lock.lockInterruptibly();
        yield true;
      }
      default -> {
        lock.lock();
        yield true;
      }
    };
  }

  @ParameterizedTest
  @EnumSource(names = {"TICKET", "MCS", "MCS_PARK", "CLH", "CLH_PARK"})
  void firstComeFirstServed(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    try (Together threads = new Together()) {
      lock.lock();
      for (int i = 0; i < THREADS; i++) {
        int number = i;
        Thread thread =
            threads.start(
                i % 2 == 1,
                () -> {
                  lock.lock();
                  order.add(number);
                  lock.unlock();
                });
        Together.untilParked(thread);
      }
      lock.unlock();
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4, 5);
  }

  @ParameterizedTest
  @EnumSource
  void theOwnerIsRefusedInsteadOfWaitingForItself(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    lock.lock();
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    assertThat(lock.owner()).isSameAs(Thread.currentThread());
    assertThat(lock.isLocked()).isTrue();
    assertThat(lock.tryLock()).isFalse();
    assertThatThrownBy(lock::lock)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("reentrant");
    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.DAYS))
        .isInstanceOf(IllegalStateException.class);
    lock.unlock();
    assertThat(lock.isLocked()).isFalse();
    assertThat(lock.owner()).isNull();
    assertThat(lock.toString()).contains(kind.name()).contains("free");
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheOwnerUnlocks(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    lock.lock();
    try (Together threads = new Together()) {
      threads.start(
          () -> {
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
          });
    }
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @ParameterizedTest
  @EnumSource
  void timedFormsWaitAsLongAsTheySay(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
    lock.unlock();
    assertThat(lock.tryLock(-1, TimeUnit.SECONDS)).isTrue();
    try (Together threads = new Together()) {
      Thread late =
          threads.start(
              () -> {
                assertThat(lock.tryLock()).isFalse();
                assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isFalse();
                assertThat(lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS)).isFalse();
                long began = System.nanoTime();
                assertThat(lock.tryLock(30, TimeUnit.MILLISECONDS)).isFalse();
                assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(30_000_000);
              });
      late.join();
      Thread early =
          threads.start(
              () -> {
                assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
                lock.unlock();
              });
      Together.untilParked(early);
      lock.unlock();
    }
    assertThat(lock.isLocked()).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptBeforeIsThrown(Kind kind) {
    ExclusiveLock lock = kind.create();
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS))
        .isInstanceOf(InterruptedException.class);
    assertThat(lock.isLocked()).isFalse();
    Thread.currentThread().interrupt();
    lock.lock();
    lock.unlock();
    assertThat(lock.tryLock()).isTrue();
    assertThat(Thread.interrupted()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void anInterruptWhileWaitingIsThrownOrKept(boolean virtual) throws InterruptedException {
    for (Kind kind : Kind.values()) {
      ExclusiveLock lock = kind.create();
      AtomicBoolean thrown = new AtomicBoolean();
      AtomicBoolean kept = new AtomicBoolean();
      try (Together threads = new Together()) {
        lock.lock();
        Thread interruptible =
            threads.start(
                virtual,
                () -> {
                  try {
                    lock.lockInterruptibly();
                  } catch (InterruptedException expected) {
                    thrown.set(!Thread.currentThread().isInterrupted());
                  }
                });
        Thread stubborn =
            threads.start(
                virtual,
                () -> {
                  lock.lock();
                  kept.set(Thread.currentThread().isInterrupted());
                  lock.unlock();
                });
        Together.untilParked(interruptible);
        Together.untilParked(stubborn);
        interruptible.interrupt();
        stubborn.interrupt();
        interruptible.join();
        Together.untilParked(stubborn);
        lock.unlock();
      }
      assertThat(thrown).as(kind.name()).isTrue();
      assertThat(kept).as(kind.name()).isTrue();
      assertThat(lock.tryLock()).as(kind.name()).isTrue();
    }
  }

  /** Time-out, interrupt and hand-over in the same moment: one outcome, and nothing lost. */
  @ParameterizedTest
  @EnumSource
  void interruptTimeoutAndGrantAtOnce(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    AtomicInteger acquired = new AtomicInteger();
    AtomicInteger gone = new AtomicInteger();
    AtomicInteger interrupts = new AtomicInteger();
    int rounds = 300;
    for (int i = 0; i < rounds; i++) {
      long micros = ThreadLocalRandom.current().nextLong(1, 150);
      try (Together threads = new Together()) {
        lock.lock();
        CountDownLatch running = new CountDownLatch(2);
        Together.Body body =
            () -> {
              running.countDown();
              try {
                if (lock.tryLock(micros, TimeUnit.MICROSECONDS)) {
                  acquired.incrementAndGet();
                  lock.unlock();
                } else {
                  gone.incrementAndGet();
                }
                if (Thread.interrupted()) {
                  interrupts.incrementAndGet();
                }
              } catch (InterruptedException expected) {
                gone.incrementAndGet();
                interrupts.incrementAndGet();
              }
            };
        Thread first = threads.start(body);
        threads.start(i % 2 == 0, body);
        running.await();
        long until = System.nanoTime() + ThreadLocalRandom.current().nextLong(micros * 1_000);
        while (System.nanoTime() - until < 0) {
          Thread.onSpinWait();
        }
        if (i % 4 == 0) {
          first.interrupt();
        }
        lock.unlock();
      }
      assertThat(lock.tryLock()).as("free after round %s", i).isTrue();
      lock.unlock();
    }
    assertThat(acquired.get() + gone.get()).isEqualTo(2 * rounds);
    assertThat(interrupts.get()).isLessThanOrEqualTo(rounds / 4);
  }

  /** Nothing is lost when everybody but the first gives up; nor is the lock said to be taken. */
  @ParameterizedTest
  @EnumSource
  void aStormOfTimeOutsLosesNoHandOver(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    for (int round = 0; round < 8; round++) {
      AtomicInteger taken = new AtomicInteger();
      try (Together threads = new Together()) {
        lock.lock();
        for (int i = 0; i < 8; i++) {
          int salt = i;
          threads.start(
              i % 3 == 0,
              () -> {
                for (int j = 0; j < 10; j++) {
                  if (lock.tryLock(20L + (long) salt * j, TimeUnit.MICROSECONDS)) {
                    taken.incrementAndGet();
                    lock.unlock();
                  }
                }
              });
        }
        threads.start(
            () -> {
              lock.lock();
              taken.addAndGet(1_000);
              lock.unlock();
            });
        Thread.sleep(3);
        lock.unlock();
      }
      assertThat(taken.get()).isGreaterThanOrEqualTo(1_000);
      assertThat(lock.isLocked()).isFalse();
      assertThat(lock.tryLock()).isTrue();
      lock.unlock();
    }
  }

  /** The second thread's longest wait while the first takes the lock again and again. */
  @ParameterizedTest
  @EnumSource(
      names = {"SPIN", "TICKET"},
      mode = EnumSource.Mode.EXCLUDE)
  void oneThatLoopsDoesNotStarveTheOther(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger looped = new AtomicInteger();
    long longest = 0;
    try (Together threads = new Together()) {
      threads.start(
          () -> {
            while (!stop.get()) {
              lock.lock();
              shared++;
              lock.unlock();
              looped.incrementAndGet();
            }
          });
      Together.until("it loops", () -> looped.get() > 1_000);
      for (int i = 0; i < 30; i++) {
        long began = System.nanoTime();
        lock.lock();
        shared++;
        lock.unlock();
        longest = Math.max(longest, System.nanoTime() - began);
      }
      stop.set(true);
    }
    // A starved one waits until the loop ends, which it never does; the rest is the scheduler's.
    assertThat(longest).isLessThan(TimeUnit.SECONDS.toNanos(10));
  }

  /** A thread that dies with a lock has it for good, as with {@code ReentrantLock}. */
  @ParameterizedTest
  @EnumSource
  void aThreadThatDiesWithTheLockKeepsIt(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    try (Together threads = new Together()) {
      threads.start(lock::lock);
    }
    assertThat(lock.tryLock(5, TimeUnit.MILLISECONDS)).isFalse();
    assertThat(lock.owner()).isNotNull();
    assertThat(lock.toString()).contains("held by");
  }

  @ParameterizedTest
  @EnumSource
  void serialisationIsRefused(Kind kind) throws Exception {
    try (ObjectOutputStream out = new ObjectOutputStream(new ByteArrayOutputStream())) {
      assertThatThrownBy(() -> out.writeObject(kind.create()))
          .isInstanceOf(NotSerializableException.class);
    }
  }
}
