package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A signal puts a place for the signalled thread into the lock's queue, and wakes nobody (L.5). */
@SuppressWarnings({"LockNotBeforeTry", "WaitNotInLoop", "JavaUtilDate"}) // Short sections.
@Timeout(100)
class SignalQueuesTest {
  private int items; // guarded by the lock of the test

  /** Its park has not ended: it is still the condition that it sleeps at, not the lock. */
  private static boolean sleepsAt(Thread thread, Object blocker) {
    return LockSupport.getBlocker(thread) == blocker
        && (thread.getState() == Thread.State.WAITING
            || thread.getState() == Thread.State.TIMED_WAITING);
  }

  private static Thread waiter(
      Together threads, boolean virtual, Lock lock, Condition at, Together.Body then)
      throws InterruptedException {
    Thread thread =
        threads.start(
            virtual,
            () -> {
              lock.value().lock();
              try {
                at.await();
                assertThat(lock.value().isHeldByCurrentThread()).isTrue();
                then.run();
              } finally {
                lock.value().unlock();
              }
            });
    Together.until("it waits", () -> sleepsAt(thread, at) && !lock.value().isLocked());
    return thread;
  }

  private record Lock(ExclusiveLock value) {}

  @ParameterizedTest
  @EnumSource(names = {"MCS", "MCS_PARK", "NODELESS"})
  void aSignalledThreadSleepsUntilTheUnlock(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    for (boolean virtual : new boolean[] {false, true}) {
      Condition condition = lock.newCondition();
      AtomicBoolean came = new AtomicBoolean();
      try (Together threads = new Together()) {
        Thread thread = waiter(threads, virtual, new Lock(lock), condition, () -> came.set(true));
        lock.lock();
        condition.signal();
        Thread.sleep(20);
        boolean asleep = sleepsAt(thread, condition);
        lock.unlock(); // a failure must not leave it locked: all threads are joined
        assertThat(asleep).isTrue();
      }
      assertThat(came).isTrue();
    }
    assertThat(lock.isLocked()).isFalse();
  }

  /** A fair lock: the signalled ones stand among those that lock, where the signal put them. */
  @ParameterizedTest
  @EnumSource(names = {"MCS", "MCS_PARK"})
  void theSignalledHaveTheirTurnWhereTheyWereQueued(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch goOn = new CountDownLatch(1);
    try (Together threads = new Together()) {
      Lock held = new Lock(lock);
      Thread first = waiter(threads, false, held, condition, () -> order.add("signalled 1"));
      Thread second = waiter(threads, true, held, condition, () -> order.add("signalled 2"));
      lock.lock();
      for (int i = 1; i <= 3; i++) {
        int number = i;
        Thread locker =
            threads.start(
                () -> {
                  lock.lock();
                  order.add("locker " + number);
                  if (number == 1) {
                    goOn.await();
                  }
                  lock.unlock();
                });
        Together.until("it is queued", () -> sleepsAt(locker, lock));
        condition.signal(); // the third is for nobody
      }
      lock.unlock();
      Together.until("the first locker has it", () -> order.size() == 1);
      Thread.sleep(5);
      boolean asleep = sleepsAt(first, condition) && sleepsAt(second, condition);
      goOn.countDown();
      assertThat(asleep).isTrue(); // the unlock was not theirs
    }
    assertThat(order)
        .containsExactly("locker 1", "signalled 1", "locker 2", "signalled 2", "locker 3");
  }

  /** It goes on from the condition at once, and waits for the lock at the place it was given. */
  @ParameterizedTest
  @EnumSource
  void anInterruptBehindTheSignalIsKept(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    for (int form = 0; form < 4; form++) {
      Condition condition = lock.newCondition();
      boolean interruptible = form % 2 == 0;
      AtomicBoolean kept = new AtomicBoolean();
      AtomicBoolean owned = new AtomicBoolean();
      try (Together threads = new Together()) {
        Thread thread =
            threads.start(
                form >= 2,
                () -> {
                  lock.lock();
                  if (interruptible) {
                    condition.await(); // does not throw
                  } else {
                    condition.awaitUninterruptibly();
                  }
                  owned.set(lock.isHeldByCurrentThread());
                  kept.set(Thread.currentThread().isInterrupted());
                  lock.unlock();
                });
        Together.until("it waits", () -> sleepsAt(thread, condition) && !lock.isLocked());
        lock.lock();
        condition.signal();
        thread.interrupt();
        if (lock.takesSignalled()) {
          Together.until("it waits for the lock", () -> sleepsAt(thread, lock));
        }
        Thread.sleep(2);
        boolean early = owned.get();
        lock.unlock();
        assertThat(early).isFalse();
      }
      assertThat(owned).isTrue();
      assertThat(kept).isTrue();
    }
  }

  /** It was signalled in time and returns late: the signal is its own, and not handed on. */
  @ParameterizedTest
  @EnumSource
  void aSignalCountsThoughTheTimePassesBeforeTheUnlock(Kind kind) throws InterruptedException {
    boolean inTime = false;
    for (int attempt = 0; attempt < 20 && !inTime; attempt++) {
      inTime = signalsInTime(kind); // unless the machine was too slow to signal within the time
    }
    assertThat(inTime).isTrue();
  }

  private static boolean signalsInTime(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    AtomicInteger waiting = new AtomicInteger(); // counted with the lock held
    AtomicInteger signalled = new AtomicInteger();
    AtomicBoolean other = new AtomicBoolean();
    List<Together.Body> forms =
        List.of(
            () -> signalled.addAndGet(condition.await(300, TimeUnit.MILLISECONDS) ? 1 : 0),
            () ->
                signalled.addAndGet(
                    condition.awaitUntil(Date.from(Instant.now().plusMillis(300))) ? 1 : 0),
            () -> signalled.addAndGet(condition.awaitNanos(1L << 50) > 0 ? 1 : 0),
            () -> {
              condition.awaitUninterruptibly();
              other.set(true);
            });
    long began = System.nanoTime();
    try (Together threads = new Together()) {
      for (int i = 0; i < forms.size(); i++) {
        int number = i;
        threads.start(
            () -> {
              lock.lock();
              waiting.incrementAndGet();
              forms.get(number).run();
              lock.unlock();
            });
        Together.until("it waits", () -> waiting.get() == number + 1 && !lock.isLocked());
      }
      lock.lock();
      for (int i = 1; i < forms.size(); i++) {
        condition.signal();
      }
      if (System.nanoTime() - began > 250_000_000) {
        condition.signalAll();
        lock.unlock();
        return false;
      }
      Thread.sleep(350);
      int early = signalled.get();
      lock.unlock();
      assertThat(early).isZero();
      Together.until("three have come", () -> signalled.get() == 3 && !lock.isLocked());
      assertThat(other).isFalse();
      lock.lock();
      condition.signal();
      lock.unlock();
    }
    assertThat(other).isTrue();
    return true;
  }

  @ParameterizedTest
  @EnumSource
  void signalAllOfMany(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    int many = 300;
    List<Integer> arrival = new ArrayList<>(); // both guarded by the lock
    List<Integer> order = new ArrayList<>();
    AtomicInteger waiting = new AtomicInteger();
    try (Together threads = new Together()) {
      for (int i = 0; i < many; i++) {
        int number = i;
        threads.start(
            i % 10 != 0,
            () -> {
              lock.lock();
              arrival.add(number);
              waiting.incrementAndGet();
              condition.await();
              order.add(number);
              lock.unlock();
            });
      }
      Together.until("all wait", () -> waiting.get() == many && !lock.isLocked());
      lock.lock();
      condition.signalAll();
      assertThat(order).isEmpty();
      lock.unlock();
    }
    assertThat(order).hasSize(many);
    if (lock.takesSignalled()) {
      assertThat(order).isEqualTo(arrival);
    }
  }

  /** Each interrupt may fall on either side of a signal, or between it and the queue. */
  @ParameterizedTest
  @EnumSource
  void noSignalIsSpentOnOneThatIsInterrupted(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Condition notEmpty = lock.newCondition();
    int total = 400;
    AtomicInteger taken = new AtomicInteger();
    items = 0;
    try (Together threads = new Together()) {
      List<Thread> takers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        takers.add(
            threads.start(
                i == 1,
                () -> {
                  while (taken.get() < total) {
                    lock.lock();
                    try {
                      while (items == 0 && taken.get() < total) {
                        notEmpty.await();
                      }
                      if (items > 0) {
                        items--;
                        if (taken.incrementAndGet() == total) {
                          notEmpty.signalAll();
                        }
                      }
                    } catch (InterruptedException left) {
                      Thread.onSpinWait(); // without a signal
                    } finally {
                      lock.unlock();
                    }
                  }
                }));
      }
      for (int i = 0; i < total; i++) {
        lock.lock();
        items++;
        notEmpty.signal();
        if (i % 3 == 0) {
          takers.get(i % 2).interrupt(); // never the last
        }
        lock.unlock();
        if (i % 5 == 0) {
          takers.get(i % 2).interrupt();
          Thread.sleep(0, 30_000);
        }
      }
    }
    assertThat(taken).hasValue(total);
  }

  /** An OutOfMemoryError in a signal would leave some waiters signalled and some not. */
  @ParameterizedTest
  @EnumSource(names = {"MCS", "NODELESS"})
  void aSignalNeedsNoMemory(Kind kind) throws InterruptedException, JMException {
    ExclusiveLock lock = kind.create();
    Condition condition = lock.newCondition();
    int many = 1_000;
    AtomicInteger waiting = new AtomicInteger();
    long allocated = 0;
    for (int round = 0; round < 2; round++) { // the first links the call sites
      waiting.set(0);
      try (Together threads = new Together()) {
        for (int i = 0; i < many; i++) {
          threads.start(
              true,
              () -> {
                lock.lock();
                waiting.incrementAndGet();
                condition.await();
                lock.unlock();
              });
        }
        Together.until("all wait", () -> waiting.get() == many && !lock.isLocked());
        lock.lock();
        long before = allocatedBytes();
        condition.signalAll();
        allocated = allocatedBytes() - before;
        lock.unlock();
      }
    }
    assertThat(allocated).isLessThan(many * 16L); // the smallest object
  }

  private static long allocatedBytes() throws JMException {
    return (long)
        ManagementFactory.getPlatformMBeanServer()
            .getAttribute(
                new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME),
                "CurrentThreadAllocatedBytes");
  }

  /** It sleeps at the condition while it waits for the lock; that is a wait for the lock. */
  @Test
  void aWaitForTheLockBeginsWithTheSignal() throws InterruptedException {
    for (Kind kind : List.of(Kind.MCS, Kind.NODELESS)) {
      LockStatistics statistics = LockStatistics.create("signalled");
      ExclusiveLock lock = kind.create(statistics);
      Condition condition = lock.newCondition();
      try (Together threads = new Together()) {
        waiter(threads, false, new Lock(lock), condition, () -> {});
        lock.lock();
        condition.signal();
        Thread.sleep(20);
        lock.unlock();
      }
      assertThat(statistics.snapshot().contended()).isEqualTo(1);
      assertThat(statistics.snapshot().waitNanos()).isGreaterThan(20_000_000);
      assertThat(statistics.snapshot().acquisitions()).isEqualTo(3);
    }
  }

  /** Whose time is over while the lock is held queues like anybody else, at its unused place. */
  @ParameterizedTest
  @EnumSource
  void oneWhoseTimeIsOverQueues(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    long nanos = 10_000_000;
    while (!itsTimeIsOverWhileTheLockIsHeld(kind, lock, nanos)) {
      nanos *= 2; // a busy machine: it was back before the lock was taken
    }
    lock.lock();
    lock.unlock();
  }

  /** Whether the lock was taken in time. */
  private static boolean itsTimeIsOverWhileTheLockIsHeld(Kind kind, ExclusiveLock lock, long nanos)
      throws InterruptedException {
    Condition condition = lock.newCondition();
    AtomicBoolean late = new AtomicBoolean();
    AtomicBoolean waiting = new AtomicBoolean();
    AtomicBoolean back = new AtomicBoolean(); // set and read under the lock
    boolean inTime;
    try (Together threads = new Together()) {
      Thread thread =
          threads.start(
              () -> {
                lock.lock();
                waiting.set(true);
                late.set(condition.awaitNanos(nanos) <= 0);
                back.set(true);
                lock.unlock();
              });
      Together.until("it waits", () -> waiting.get() && !lock.isLocked());
      lock.lock();
      inTime = !back.get();
      if (inTime && kind.naps) {
        Thread.sleep(TimeUnit.NANOSECONDS.toMillis(nanos) + 10);
      } else if (inTime) {
        Together.until(
            "it waits for the lock",
            () -> LockSupport.getBlocker(thread) instanceof ExclusiveLock); // or its gate
      }
      condition.signalAll(); // passes it by
      lock.unlock();
    }
    assertThat(late).isTrue();
    return inTime;
  }
}
