package io.quiesce.rcu;

import io.quiesce.linux.Futex;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The wake-up protocol between those who queue and the worker that may sleep.
 *
 * <h2>Algorithm</h2>
 *
 * One word, 0 while the worker is awake, -1 while it may sleep; never anything else.
 *
 * <pre>
 *   worker                                 whoever queues
 *   lower: 0 -> -1, full barrier           exchange the queue's tail (full barrier, Q.1)
 *   look at the queue for the last time    read the word (W.1)
 *   work found: raise: word = 0            -1: word = 0, wake one
 *   none: sleep while the word is -1
 * </pre>
 *
 * Each side stores, has a full barrier, and reads what the other stores (store buffering): one of
 * the two must see the other. The sleep compares and waits in one step, so a wake-up between the
 * last look and the sleep is not lost. A spurious return finds -1 and sleeps again, so nothing
 * burns. The source decrements; lowering here is an exchange for -1, so that a worker that failed
 * between lowering and sleeping can lower again. The first version of the source's patch never
 * stored -1; the twin in the tests shows what that does.
 *
 * <p>Source: the {@code call_rcu} thread of June 2011 (Desnoyers, McKenney).
 */
abstract class WakeWord {
  static final int AWAKE = 0;
  static final int ASLEEP = -1;

  /**
   * Who wakes may die between its store and its system call (out of memory, out of stack). The word
   * is right then and only the sleep must end.
   */
  static final long LONGEST_SLEEP_NANOS = 1_000_000_000L;

  /** By the worker, awake: announces that it looks for the last time. Full barrier. */
  abstract void lower();

  /** By the worker, when its last look found something. */
  abstract void raise();

  /** By the worker: returns when the word is 0. */
  abstract void sleep();

  /** By whoever queued, after a full barrier: wakes the worker if it may sleep. */
  abstract void wake();

  abstract int word();

  static WakeWord create(WakeUp how, long pollNanos) {
    return switch (how) {
      case FUTEX -> Platform.futex() && OffHeap.isAvailable() ? new FutexWord() : new ParkWord();
      case PARK -> new ParkWord();
      case POLL -> new PollWord(pollNanos);
      case MONITOR -> new MonitorWord();
    };
  }

  /** The word off-heap, where the kernel can compare it. */
  static final class FutexWord extends WakeWord {
    // One line of its own, never freed: a late caller may still look at it.
    private final long address = OffHeap.allocate(128, 128);

    @Override
    void lower() {
      OffHeap.getAndSetInt(address, ASLEEP);
    }

    @Override
    void raise() {
      OffHeap.setIntVolatile(address, AWAKE);
    }

    @Override
    void sleep() {
      while (OffHeap.getIntVolatile(address) == ASLEEP) {
        Futex.await(address, ASLEEP, LONGEST_SLEEP_NANOS);
      }
    }

    @Override
    void wake() {
      if (OffHeap.getIntVolatile(address) == ASLEEP) { // W.1
        OffHeap.setIntVolatile(address, AWAKE);
        Futex.wake(address, 1);
      }
    }

    @Override
    int word() {
      return OffHeap.getIntVolatile(address);
    }
  }

  /** The word on the heap, the sleep a park. */
  static class ParkWord extends WakeWord {
    private static final VarHandle WORD;

    static {
      try {
        WORD = MethodHandles.lookup().findVarHandle(ParkWord.class, "word", int.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    private volatile int word;
    private volatile @Nullable Thread sleeper;

    @Override
    void lower() {
      sleeper = Thread.currentThread();
      WORD.getAndSet(this, ASLEEP);
    }

    @Override
    void raise() {
      word = AWAKE;
    }

    @Override
    void sleep() {
      while (word == ASLEEP) {
        LockSupport.parkNanos(this, LONGEST_SLEEP_NANOS);
        // An interrupt would make every further park return at once.
        Thread.interrupted();
      }
    }

    @Override
    void wake() {
      if (word == ASLEEP) { // W.1
        word = AWAKE;
        LockSupport.unpark(sleeper);
      }
    }

    @Override
    int word() {
      return word;
    }
  }

  /** No word that anybody who queues looks at: a poll every so often. */
  static final class PollWord extends WakeWord {
    private final long pollNanos;

    PollWord(long pollNanos) {
      this.pollNanos = pollNanos;
    }

    @Override
    void lower() {}

    @Override
    void raise() {}

    @Override
    void sleep() {
      LockSupport.parkNanos(this, pollNanos);
      Thread.interrupted(); // else the next poll would not wait
    }

    @Override
    void wake() {}

    @Override
    int word() {
      return AWAKE;
    }
  }

  /** The fault of 2011: a mutex and a condition for every callback. */
  static final class MonitorWord extends WakeWord {
    private int word;

    @Override
    synchronized void lower() {
      word = ASLEEP;
    }

    @Override
    synchronized void raise() {
      word = AWAKE;
    }

    @Override
    synchronized void sleep() {
      while (word == ASLEEP) {
        try {
          wait();
        } catch (InterruptedException spurious) {
          // Whoever stops the worker says so through its state, not by an interrupt.
        }
      }
    }

    @Override
    synchronized void wake() {
      word = AWAKE;
      notifyAll();
    }

    @Override
    synchronized int word() {
      return word;
    }
  }
}
