package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waiters whose stack ends in the middle of the wait. */
@Timeout(100)
final class NoStackTest {
  private static final int ATTEMPTS = 300;
  private static final long PARKED_BY_THEN_NANOS = 20_000_000; // or waits without pauses
  private static final int STACK = 512 * 1024;

  /** One thread that waits for a lock as deep in its stack as it can. */
  private static final class Deep implements Runnable {
    private final ExclusiveLock lock;
    final SynchronousQueue<Boolean> go = new SynchronousQueue<>();
    volatile int begun;
    volatile int attempts;
    volatile int overflows;
    volatile int others;

    Deep(ExclusiveLock lock) {
      this.lock = lock;
    }

    /** What is used for the first time takes much stack, since the JVM has to link it. */
    void giveUpOnce() throws InterruptedException {
      assertThat(lock.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
    }

    private int lockAt(int depth) {
      if (depth > 0) {
        return 1 + lockAt(depth - 1);
      }
      lock.lock();
      return 0;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread.
    public void run() {
      int depth = 1_000;
      int step = 256;
      boolean before = false; // whether there was enough stack
      try {
        while (go.take()) {
          begun++;
          try {
            int _ = lockAt(depth + ThreadLocalRandom.current().nextInt(-6, 7));
            lock.unlock();
            step = before ? 2 * step : step; // the frames get smaller when they are compiled
            depth += step;
            before = true;
          } catch (StackOverflowError expected) {
            if (lock.isHeldByCurrentThread()) {
              others++;
            }
            overflows++;
            depth = Math.max(0, depth - step);
            step = Math.max(1, step / 2);
            before = false;
          }
          attempts++;
        }
      } catch (InterruptedException end) {
        // As told.
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  @DisplayName("a waiter that runs out of stack leaves the queue, and says that it has no lock")
  void anOverflowLeavesNothingBehind(Kind kind) throws InterruptedException {
    ExclusiveLock lock = kind.create();
    Deep deep = new Deep(lock);
    Thread thread = new Thread(null, deep, "deep", STACK);
    thread.setDaemon(true);
    lock.lock();
    try (Together others = new Together()) {
      others.start(deep::giveUpOnce);
    }
    lock.unlock();
    thread.start();
    for (int i = 0; i < ATTEMPTS; i++) {
      int before = deep.attempts;
      boolean free = lock.tryLock(20, TimeUnit.SECONDS);
      assertThat(free).as("after %d overflows", deep.overflows).isTrue();
      deep.go.put(true);
      Together.until("the attempt begins", () -> deep.begun != before);
      long until = System.nanoTime() + PARKED_BY_THEN_NANOS;
      while (System.nanoTime() < until
          && deep.attempts == before
          && thread.getState() != Thread.State.WAITING
          && thread.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      lock.unlock();
      Together.until("the attempt is over", () -> deep.attempts != before);
    }
    deep.go.put(false);
    thread.join(TimeUnit.SECONDS.toMillis(20));
    assertThat(deep.overflows).isGreaterThan(ATTEMPTS / 10);
    assertThat(deep.others).as("thrown with the lock held").isZero();
  }

  @Test
  void whatIsThrownInAWaitIsForTheCallerWhenItHasLeft() {
    ExclusiveLock lock = Kind.SPIN.create();
    Waiter place = new Waiter(Thread.currentThread());
    for (Throwable thrown :
        List.of(
            new IllegalStateException("refused"),
            new OutOfMemoryError("none"),
            new StackOverflowError())) {
      ExclusiveLock.Turn turn =
          _ -> {
            if (thrown instanceof RuntimeException exception) {
              throw exception;
            }
            throw (Error) thrown;
          };
      ExclusiveLock.Outcome outcome =
          lock.await(place, WaitPolicy.SPIN_PARK, turn, false, ExclusiveLock.FOREVER);
      assertThat(outcome).isNotSameAs(ExclusiveLock.Outcome.ACQUIRED);
      assertThatThrownBy(outcome::throwFailure).isInstanceOf(thrown.getClass());
    }
  }
}
