package io.quiesce.locks;

import io.quiesce.linux.Membarrier;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import io.quiesce.percpu.PerCpuCounter;
import io.quiesce.percpu.PerCpuOps;
import java.io.Serial;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A reader-writer lock whose readers only count, each on its own CPU: reading scales with the CPUs,
 * and writing is dear.
 *
 * <h2>Algorithm</h2>
 *
 * <pre>
 *   CPU 0:  entries 7  exits 6     gate: NodelessMcsLock, held by the writer,
 *   CPU 1:  entries 3  exits 4           and for a moment by each reader that met one
 *           7 + 3  =  6 + 4        writer: null, or who keeps readers out
 * </pre>
 *
 * A reader adds 1 to {@code entries}, and if there is no writer then it is in. A writer takes the
 * gate, says that it is there, and waits until {@code exits} equals {@code entries}. One of the two
 * sees the other (L.6): a full barrier stands between the reader's addition and its look, or, where
 * there are restartable sequences and the process-wide barrier, only the latter at the writer's
 * side, so that the reader runs no atomic instruction at all.
 *
 * <p>A reader may leave on another CPU than it came in, so a CPU's counts mean nothing alone, and
 * in which order they are summed matters: first all exits, then a barrier, then all entries. Each
 * exit that was summed has its entry summed too, so that the sums are equal only if nobody is in.
 *
 * <p><em>Who goes first.</em> A reader that meets a writer takes its exit back and queues at the
 * gate with the writers; with the gate it enters and passes the gate on. So writers wait for those
 * readers only that are in when they get the gate, readers for those writers only that were at the
 * gate before, or passed them by within the bound of {@link NodelessMcsLock}; neither starves the
 * other. {@code tryLock()} of the read lock says false while a writer is there or is coming.
 *
 * <p><em>Nesting.</em> Nobody knows who reads, so nothing can be told from a thread's identity: a
 * thread that reads and takes the read lock again waits for ever if a writer has come in between,
 * and one that reads and wants the write lock waits for itself. Don't; use the timed forms where it
 * cannot be excluded. The writer may take the read lock and then give up the write lock: it goes on
 * as a reader. The read lock may be given up by another thread than took it. Giving it up without
 * having it is an error that is found under {@code -Dquiesce.debug=true} only, and otherwise spoils
 * the lock.
 *
 * <p>The write lock is an {@link ExclusiveLock}: owner, conditions, statistics, deadlock reports. A
 * reader that waits for a writer is seen by these reports too; a writer that waits for readers is
 * not, since they are anonymous. The read lock has no conditions.
 *
 * <p>Memory order is that of {@link ReadWriteLock}. For read sections of some dozen nanoseconds and
 * writes that are a thousand times rarer; where a reader may see an old version, {@code
 * io.quiesce.rcu} costs it a fourth and never makes it wait. Space: some 300 bytes and 16 per CPU.
 *
 * <p>Source: Dice and Kogan, "BRAVO: biased locking for reader-writer locks", 2019; the kernel's
 * per-CPU reader-writer semaphore; sleepable RCU for the order of the sums.
 */
public final class PerCpuReadWriteLock implements ReadWriteLock {
  /** The barrier of the writers spares the readers theirs. */
  private static final boolean ASYMMETRIC = PerCpuOps.isAvailable() && Platform.membarrier();

  private final PerCpuCounter entries = PerCpuCounter.create();
  private final PerCpuCounter exits = PerCpuCounter.create();
  private final NodelessMcsLock gate;
  private final WriteLock writeLock;
  private final ReadLock readLock = new ReadLock();

  /** The place of the writer that keeps readers out. Stored by who has the gate. */
  private volatile @Nullable Waiter writer;

  /**
   * A free lock.
   *
   * @param name appears in reports
   */
  public PerCpuReadWriteLock(String name) {
    this(name, null);
  }

  /**
   * A free lock with statistics of its write lock.
   *
   * @param name appears in reports
   * @param statistics where to count; null for none
   */
  public PerCpuReadWriteLock(String name, @Nullable LockStatistics statistics) {
    gate = new NodelessMcsLock(name);
    writeLock = new WriteLock(name, statistics);
  }

  @Override
  public Lock readLock() {
    return readLock;
  }

  /** The write lock, with an owner and conditions. */
  @Override
  public ExclusiveLock writeLock() {
    return writeLock;
  }

  /**
   * How many read; a glimpse for reports.
   *
   * @return about so many holds of the read lock
   */
  public long readers() {
    long out = exits.sum();
    return Math.max(0, entries.sum() - out);
  }

  @Override
  public String toString() {
    return "PerCpuReadWriteLock[" + writeLock + ", " + readers() + " readers]";
  }

  // ---- both sides ----

  /** L.6, the reader's part. */
  private static void readersBarrier() {
    if (!ASYMMETRIC) {
      VarHandle.fullFence();
    }
  }

  /** L.6, the writer's part. */
  private static void writersBarrier() {
    if (ASYMMETRIC) {
      Membarrier.fence();
    } else {
      VarHandle.fullFence();
    }
  }

  private void leave() {
    exits.increment(); // at least a release; see S.1
    readersBarrier();
    Waiter waiting = writer;
    if (waiting != null) {
      waiting.wake();
    }
  }

  /**
   * Whether no reader is in; with the gate, and {@code writer} stored. L.7: exits, barrier,
   * entries. The same barrier is that of L.6: who came in before it is in the sum of the entries.
   */
  private boolean isDrained() {
    long out = exits.sum();
    if (entries.sum() != out) {
      return false; // a look without the barrier, which is wrong only seldom and then once
    }
    out = exits.sum();
    writersBarrier();
    return entries.sum() == out;
  }

  // ---- readers ----

  /** Counts. */
  private final class ReadLock implements Lock {
    /** Whether the current thread is in. */
    private boolean enter() {
      if (writer != null) {
        return false;
      }
      entries.increment();
      readersBarrier();
      if (writer == null) {
        return true;
      }
      leave();
      return false;
    }

    /** The writer itself: it is in for sure. */
    private boolean enterAsWriter() {
      if (!writeLock.isHeldByCurrentThread()) {
        return false;
      }
      entries.increment();
      return true;
    }

    /** The current thread has the gate. What it counts is seen by who has it next. */
    private void enterWithGate() {
      try {
        entries.increment();
      } finally {
        gate.unlock();
      }
    }

    @Override
    public void lock() {
      if (!enter() && !enterAsWriter()) {
        gate.lock();
        enterWithGate();
      }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (!enter() && !enterAsWriter()) {
        gate.lockInterruptibly();
        enterWithGate();
      }
    }

    @Override
    public boolean tryLock() {
      return enter() || enterAsWriter();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (enter() || enterAsWriter()) {
        return true;
      }
      if (!gate.tryLock(time, unit)) {
        return false;
      }
      enterWithGate();
      return true;
    }

    @Override
    public void unlock() {
      if (OffHeap.isDebug()) {
        long out = exits.sum();
        VarHandle.fullFence();
        if (entries.sum() <= out) {
          throw new IllegalMonitorStateException("nobody has the read lock of " + writeLock);
        }
      }
      leave();
    }

    @Override
    public Condition newCondition() {
      throw new UnsupportedOperationException(
          "a read lock has no conditions; use those of the write lock");
    }

    @Override
    public String toString() {
      return "ReadLock[" + writeLock.name() + ", " + readers() + " readers]";
    }
  }

  // ---- writers ----

  /** Has the gate from the time it waits for readers until it is given up. */
  private final class WriteLock extends ExclusiveLock {
    @Serial private static final long serialVersionUID = 1L;

    private final transient Turn drained = _ -> isDrained();

    WriteLock(String name, @Nullable LockStatistics statistics) {
      super(name, statistics);
    }

    @Override
    boolean tryAcquire() {
      if (readers() > 0 || gate.isLocked()) {
        return false; // keeping readers out for a moment would not help
      }
      Waiter place = new Waiter(Thread.currentThread()); // before the gate: there may be no memory
      if (!gate.tryLock()) {
        return false;
      }
      boolean acquired = false;
      try {
        writer = place;
        acquired = isDrained();
      } finally {
        if (!acquired) {
          release();
        }
      }
      return acquired;
    }

    @Override
    Outcome acquire(Thread current, boolean interruptible, long nanos) {
      Waiter place = new Waiter(current);
      long began = nanos == FOREVER ? 0 : System.nanoTime();
      Outcome outcome = gate.acquireUnmeasured(current, interruptible, nanos);
      if (outcome != Outcome.ACQUIRED) {
        return outcome;
      }
      writer = place;
      long left = nanos == FOREVER ? FOREVER : Math.max(0, nanos - (System.nanoTime() - began));
      outcome = await(place, WaitPolicy.SPIN_YIELD_PARK, drained, interruptible, left);
      if (outcome != Outcome.ACQUIRED) {
        release();
      }
      return outcome;
    }

    /** The last look must see every reader whose look missed {@code parked}. */
    @Override
    long beforePark(Waiter waiter) {
      writersBarrier();
      return FOREVER;
    }

    @Override
    void release() {
      writer = null;
      gate.unlock();
    }

    @Override
    public boolean isLocked() {
      return owner() != null;
    }
  }
}
