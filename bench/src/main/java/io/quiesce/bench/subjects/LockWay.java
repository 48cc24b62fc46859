package io.quiesce.bench.subjects;

import io.quiesce.locks.ClhLock;
import io.quiesce.locks.McsLock;
import io.quiesce.locks.NodelessMcsLock;
import io.quiesce.locks.SpinLock;
import io.quiesce.locks.TicketLock;
import io.quiesce.locks.WaitPolicy;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;

/**
 * A lock, and the critical section that it guards. Monitors have no separate lock and unlock, so
 * whole sections are the common form. One of the classes is loaded in a subject's process: calls
 * are direct.
 */
abstract class LockWay {
  private static final int COUNT = 32;
  private static final int STATE = 33;

  /** What the lock guards, in the middle: on cache lines of its own. */
  private final long[] guarded = new long[2 * COUNT];

  private final int steps;

  LockWay(int steps) {
    this.steps = steps;
    guarded[STATE] = 1;
  }

  /** A batch of sections that only count. */
  abstract void pairs();

  /** One section with its work. */
  abstract void section();

  /**
   * One section with its work.
   *
   * @return how long the lock was waited for, in ns
   */
  abstract long timedSection();

  final void count() {
    guarded[COUNT]++;
  }

  final void work() {
    guarded[STATE] = BusyWork.run(guarded[STATE], steps);
    guarded[COUNT]++;
  }

  /** How many sections there were; right if they exclude each other. Nobody is inside. */
  final long counted() {
    Sink.take(guarded[STATE]);
    return guarded[COUNT];
  }

  static LockWay of(String name, int steps) {
    return switch (name) {
      case "synchronized" -> new Monitor(steps);
      case "stamped" -> new Stamped(steps);
      case "semaphore" -> new OnePermit(steps);
      default -> new OfLock(newLock(name), steps);
    };
  }

  static Lock newLock(String name) {
    return switch (name) {
      case "nmcs" -> new NodelessMcsLock("bench");
      case "nmcs-2002" -> NodelessMcsLock.asIn2002("bench");
      case "mcs" -> new McsLock("bench");
      case "mcs-spin" -> new McsLock("bench", WaitPolicy.SPIN);
      case "clh" -> new ClhLock("bench");
      case "ticket" -> new TicketLock("bench");
      case "spin" -> new SpinLock("bench");
      case "unfair" -> new ReentrantLock(false);
      case "fair" -> new ReentrantLock(true);
      default -> throw new IllegalArgumentException("no lock is called '" + name + "'");
    };
  }

  /** This library's locks, and the JDK's reentrant one. */
  static final class OfLock extends LockWay {
    private final Lock lock;

    OfLock(Lock lock, int steps) {
      super(steps);
      this.lock = lock;
    }

    @Override
    void pairs() {
      for (int i = 0; i < Team.BATCH; i++) {
        lock.lock();
        try {
          count();
        } finally {
          lock.unlock();
        }
      }
    }

    @Override
    void section() {
      lock.lock();
      try {
        work();
      } finally {
        lock.unlock();
      }
    }

    @Override
    long timedSection() {
      long before = System.nanoTime();
      lock.lock();
      try {
        long waited = System.nanoTime() - before;
        work();
        return waited;
      } finally {
        lock.unlock();
      }
    }
  }

  /** The language's own. */
  static final class Monitor extends LockWay {
    private final Object monitor = new Object();

    Monitor(int steps) {
      super(steps);
    }

    @Override
    void pairs() {
      for (int i = 0; i < Team.BATCH; i++) {
        synchronized (monitor) {
          count();
        }
      }
    }

    @Override
    void section() {
      synchronized (monitor) {
        work();
      }
    }

    @Override
    long timedSection() {
      long before = System.nanoTime();
      synchronized (monitor) {
        long waited = System.nanoTime() - before;
        work();
        return waited;
      }
    }
  }

  /** Its write lock. */
  static final class Stamped extends LockWay {
    private final StampedLock lock = new StampedLock();

    Stamped(int steps) {
      super(steps);
    }

    @Override
    void pairs() {
      for (int i = 0; i < Team.BATCH; i++) {
        long stamp = lock.writeLock();
        try {
          count();
        } finally {
          lock.unlockWrite(stamp);
        }
      }
    }

    @Override
    void section() {
      long stamp = lock.writeLock();
      try {
        work();
      } finally {
        lock.unlockWrite(stamp);
      }
    }

    @Override
    long timedSection() {
      long before = System.nanoTime();
      long stamp = lock.writeLock();
      try {
        long waited = System.nanoTime() - before;
        work();
        return waited;
      } finally {
        lock.unlockWrite(stamp);
      }
    }
  }

  /** An unfair semaphore of one permit. */
  static final class OnePermit extends LockWay {
    private final Semaphore permit = new Semaphore(1);

    OnePermit(int steps) {
      super(steps);
    }

    @Override
    void pairs() {
      for (int i = 0; i < Team.BATCH; i++) {
        permit.acquireUninterruptibly();
        try {
          count();
        } finally {
          permit.release();
        }
      }
    }

    @Override
    void section() {
      permit.acquireUninterruptibly();
      try {
        work();
      } finally {
        permit.release();
      }
    }

    @Override
    long timedSection() {
      long before = System.nanoTime();
      permit.acquireUninterruptibly();
      try {
        long waited = System.nanoTime() - before;
        work();
        return waited;
      } finally {
        permit.release();
      }
    }
  }
}
