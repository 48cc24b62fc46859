package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@link Condition} promises, of every lock. */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class ConditionTest {
  private int items; // guarded by the lock of the test

  @ParameterizedTest
  @EnumSource
  void nobodyWithoutTheLock(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    assertThatThrownBy(condition::signal).isInstanceOf(IllegalMonitorStateException.class);
    assertThatThrownBy(condition::signalAll).isInstanceOf(IllegalMonitorStateException.class);
    assertThatThrownBy(condition::await).isInstanceOf(IllegalMonitorStateException.class);
    try (Together threads = new Together()) {
      lock.lock();
      threads.start(
          () ->
              assertThatThrownBy(condition::signal)
                  .isInstanceOf(IllegalMonitorStateException.class));
    }
  }

  @ParameterizedTest
  @EnumSource
  void signalledInTheOrderOfWaiting(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    AtomicInteger waiting = new AtomicInteger();
    try (Together threads = new Together()) {
      for (int i = 0; i < 4; i++) {
        int number = i;
        threads.start(
            i % 2 == 0,
            () -> {
              lock.lock();
              waiting.incrementAndGet();
              condition.awaitUninterruptibly();
              assertThat(lock.isHeldByCurrentThread()).isTrue();
              order.add(number);
              lock.unlock();
            });
        Together.until("it waits", () -> waiting.get() == number + 1 && !lock.isLocked());
      }
      for (int i = 0; i < 2; i++) {
        int before = i;
        lock.lock();
        condition.signal();
        lock.unlock();
        Together.until("one has come", () -> order.size() == before + 1);
      }
      assertThat(order).containsExactly(0, 1);
      lock.lock();
      condition.signalAll();
      assertThat(order).hasSize(2); // the lock is ours until we give it up
      lock.unlock();
    }
    assertThat(order).hasSize(4);
  }

  @ParameterizedTest
  @EnumSource
  void timedFormsSayHowTheyEnded(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    lock.lock();
    assertThat(condition.awaitNanos(1_000_000)).isLessThanOrEqualTo(0);
    assertThat(condition.awaitNanos(0)).isLessThanOrEqualTo(0);
    assertThat(condition.awaitNanos(-5)).isLessThanOrEqualTo(0);
    assertThat(condition.await(1, TimeUnit.MILLISECONDS)).isFalse();
    assertThat(condition.awaitUntil(Date.from(Instant.now().plusMillis(2)))).isFalse();
    assertThat(condition.awaitUntil(new Date(0))).isFalse();
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    AtomicInteger signalled = new AtomicInteger();
    try (Together threads = new Together()) {
      threads.start(
          () -> {
            lock.lock();
            signalled.addAndGet(condition.awaitNanos(Long.MAX_VALUE) > 0 ? 1 : 0);
            signalled.addAndGet(condition.await(1, TimeUnit.DAYS) ? 1 : 0);
            signalled.addAndGet(
                condition.awaitUntil(Date.from(Instant.now().plusSeconds(1_000))) ? 1 : 0);
            lock.unlock();
          });
      lock.unlock();
      for (int i = 1; i <= 3; i++) {
        int wanted = i;
        Together.until(
            "signal " + i + " has arrived",
            () -> {
              lock.lock();
              condition.signal();
              lock.unlock();
              return signalled.get() >= wanted;
            });
      }
    }
    assertThat(signalled).hasValue(3);
  }

  @ParameterizedTest
  @EnumSource
  void interruptsAreThrownWithTheLockHeld(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    lock.lock();
    Thread.currentThread().interrupt();
    assertThatThrownBy(condition::await).isInstanceOf(InterruptedException.class);
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    lock.unlock();
    AtomicBoolean thrown = new AtomicBoolean();
    AtomicBoolean kept = new AtomicBoolean();
    try (Together threads = new Together()) {
      Thread interruptible =
          threads.start(
              () -> {
                lock.lock();
                try {
                  condition.await();
                } catch (InterruptedException expected) {
                  thrown.set(lock.isHeldByCurrentThread());
                }
                lock.unlock();
              });
      Together.until(
          "the first waits",
          () -> interruptible.getState() == Thread.State.WAITING && !lock.isLocked());
      interruptible.interrupt();
      interruptible.join();
      Thread stubborn =
          threads.start(
              () -> {
                lock.lock();
                condition.awaitUninterruptibly();
                kept.set(Thread.currentThread().isInterrupted());
                lock.unlock();
              });
      Together.until(
          "the second waits",
          () -> stubborn.getState() == Thread.State.WAITING && !lock.isLocked());
      stubborn.interrupt();
      Thread.sleep(2);
      assertThat(kept).isFalse();
      lock.lock();
      condition.signal(); // the one that was interrupted is gone and takes none
      lock.unlock();
    }
    assertThat(thrown).isTrue();
    assertThat(kept).isTrue();
  }

  /** One whose time is over stays in the queue until it has the lock; the signal passes it by. */
  @ParameterizedTest
  @EnumSource
  void aSignalPassesByOneWhoseTimeIsOver(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    AtomicBoolean late = new AtomicBoolean();
    AtomicBoolean woken = new AtomicBoolean();
    AtomicInteger waiting = new AtomicInteger(); // counted with the lock held
    try (Together threads = new Together()) {
      threads.start(
          () -> {
            lock.lock();
            waiting.incrementAndGet();
            late.set(condition.awaitNanos(50_000_000) <= 0);
            lock.unlock();
          });
      Together.until("the first waits", () -> waiting.get() == 1 && !lock.isLocked());
      threads.start(
          () -> {
            lock.lock();
            waiting.incrementAndGet();
            condition.awaitUninterruptibly();
            woken.set(true);
            lock.unlock();
          });
      Together.until("the second waits", () -> waiting.get() == 2 && !lock.isLocked());
      lock.lock();
      Thread.sleep(150); // it gives up and cannot come back, since the lock is ours
      condition.signal();
      lock.unlock();
    }
    assertThat(woken).isTrue();
    assertThat(late).isTrue();
  }

  /** A signal goes to somebody who stays, whoever gives up at the same moment. */
  @ParameterizedTest
  @EnumSource
  void noSignalIsSpentOnOneThatGivesUp(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition notEmpty = lock.newCondition();
    int total = 400;
    AtomicInteger taken = new AtomicInteger();
    items = 0;
    try (Together threads = new Together()) {
      for (int i = 0; i < 3; i++) {
        int salt = i;
        threads.start(
            i == 1,
            () -> {
              while (taken.get() < total) {
                lock.lock();
                try {
                  // Those with a time-out come and go; the first never gives up by itself.
                  while (items == 0 && taken.get() < total) {
                    if (salt == 0) {
                      notEmpty.await();
                    } else if (notEmpty.awaitNanos(20_000L * salt) <= 0) {
                      break;
                    }
                  }
                  if (items > 0) {
                    items--;
                    if (taken.incrementAndGet() == total) {
                      notEmpty.signalAll();
                    }
                  }
                } finally {
                  lock.unlock();
                }
              }
            });
      }
      for (int i = 0; i < total; i++) {
        lock.lock();
        items++;
        notEmpty.signal();
        lock.unlock();
        if (i % 16 == 0) {
          Thread.sleep(0, 30_000);
        }
      }
    }
    assertThat(taken).hasValue(total);
  }
}
