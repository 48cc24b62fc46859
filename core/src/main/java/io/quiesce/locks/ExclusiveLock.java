package io.quiesce.locks;

import java.io.NotSerializableException;
import java.io.Serial;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What the mutual-exclusion locks of this package have in common: a name, an owner, and the forms
 * of {@link Lock}.
 *
 * <p>They are not reentrant: {@code lock()} by the owner throws {@link IllegalStateException}
 * instead of waiting for itself, {@code tryLock()} says false. Only the owner may unlock; anybody
 * else gets {@link IllegalMonitorStateException}. The owner is visible to jstack and {@link
 * java.lang.management.ThreadMXBean#findDeadlockedThreads}; for virtual threads see {@link
 * Deadlocks}. All have conditions. Memory order is that of {@link Lock}: unlocking happens before
 * the next locking (L.1 in {@code docs/ordering.md}).
 *
 * <p>An error while a thread waits (no stack or memory left) is thrown without the lock, and leaves
 * nothing in the queue. An unlock that has no stack left to run is not safe so.
 *
 * <p>None can be serialised.
 */
public abstract class ExclusiveLock extends AbstractOwnableSynchronizer implements Lock {
  @Serial private static final long serialVersionUID = 1L;

  /** No deadline. */
  static final long FOREVER = Long.MAX_VALUE;

  private static final int LOOKS_BETWEEN_CLOCKS = 64;

  /** Of a quarter of a kilobyte or more; about 100 ns, in which the lock is taken anyway. */
  private static final int FRAMES_BELOW = 16;

  private static final Waiter NOBODY = new Waiter(null);
  private static final Turn AT_ONCE = _ -> true;

  /** How a wait ended. No enumeration, since an error that ends one is carried to the caller. */
  static final class Outcome {
    static final Outcome ACQUIRED = new Outcome(null);
    static final Outcome TIMED_OUT = new Outcome(null);
    static final Outcome INTERRUPTED = new Outcome(null);
    static final Outcome NO_MEMORY = new Outcome(null);
    static final Outcome NO_STACK = new Outcome(null);

    private final @Nullable RuntimeException failure;

    private Outcome(@Nullable RuntimeException failure) {
      this.failure = failure;
    }

    /** Tells the caller, when the place in the queue has been given up. */
    void throwFailure() {
      if (this == NO_STACK) {
        throw new StackOverflowError("while waiting for a lock");
      }
      if (this == NO_MEMORY) {
        throw new OutOfMemoryError("while waiting for a lock");
      }
      if (failure != null) {
        throw failure;
      }
    }
  }

  /** Appears in reports. */
  private final String name;

  /** Apart, so that locks without statistics are no larger for it. */
  private final transient LockStatistics.@Nullable Meter meter;

  /**
   * Those that were signalled while the lock has been held, as a ring: the last of them, which
   * points to the first. Guarded by the lock.
   */
  private transient @Nullable Waiter toWake;

  ExclusiveLock(String name, @Nullable LockStatistics statistics) {
    this.name = name;
    this.meter = statistics == null ? null : new LockStatistics.Meter(statistics);
  }

  /** Takes the lock if it is free, whoever waits (where the algorithm allows). Owner not set. */
  abstract boolean tryAcquire();

  /**
   * Waits for the lock.
   *
   * @param nanos at most so long, or {@link #FOREVER}
   */
  abstract Outcome acquire(Thread current, boolean interruptible, long nanos);

  /** Whether the holder can queue another thread, which waits for a condition (L.5). */
  boolean takesSignalled() {
    return false;
  }

  /**
   * Puts a place into the queue; its thread may not have looked at it yet.
   *
   * @return whether there is somebody to wait for
   */
  boolean enqueue(Waiter place) {
    throw new UnsupportedOperationException();
  }

  /** Waits, without regard to interrupts, at a place that is in the queue or about to be. */
  void acquireEnqueued(Waiter place) {
    throw new UnsupportedOperationException();
  }

  /** Gives the lock up; the owner is cleared already. */
  abstract void release();

  /**
   * Its name.
   *
   * @return as given to the constructor
   */
  public final String name() {
    return name;
  }

  /**
   * Waits for the lock without regard to interrupts.
   *
   * @throws IllegalStateException if the current thread has it already
   */
  @Override
  public final void lock() {
    if (tryAcquire()) {
      own(Thread.currentThread());
    } else {
      lockSlowly();
    }
  }

  private void lockSlowly() {
    Thread current = Thread.currentThread();
    refuseOwner(current);
    requireStack();
    acquireAndOwn(current, null, 0, false, FOREVER);
  }

  private void own(Thread current) {
    setExclusiveOwnerThread(current);
    if (meter != null) {
      meter.heldSince = System.nanoTime();
    }
  }

  /** As part of another lock, which measures. */
  final Outcome acquireUnmeasured(Thread current, boolean interruptible, long nanos) {
    Outcome outcome = tryAcquire() ? Outcome.ACQUIRED : acquire(current, interruptible, nanos);
    if (outcome == Outcome.ACQUIRED) {
      setExclusiveOwnerThread(current);
    }
    return outcome;
  }

  /** Whether waits are timed. */
  final boolean isMeasured() {
    return meter != null || LockEvents.isWanted();
  }

  /**
   * Waits at the place where the one that signalled this thread puts it.
   *
   * @param since when it was signalled, which is when this wait began; 0 if nobody has measured
   */
  final void lockEnqueued(Waiter place, long since) {
    place.parked = false; // it runs; it looks at its turn after this, and says so when it parks
    acquireAndOwn(Thread.currentThread(), place, since, false, FOREVER);
  }

  /** Locks, at this place if it has to wait, so that it needs no memory. Nobody has queued it. */
  final void lockAt(Waiter place) {
    if (tryLock()) {
      return;
    }
    place.parked = false;
    if (!enqueue(place)) {
      place.grant(); // there is nobody else to do it
    }
    acquireAndOwn(Thread.currentThread(), place, 0, false, FOREVER);
  }

  private Outcome acquire(
      Thread current, @Nullable Waiter enqueued, boolean interruptible, long nanos) {
    if (enqueued == null) {
      return acquire(current, interruptible, nanos);
    }
    acquireEnqueued(enqueued);
    return Outcome.ACQUIRED;
  }

  /** Waits, and measures it if somebody wants to know. */
  private Outcome acquireAndOwn(
      Thread current, @Nullable Waiter enqueued, long since, boolean interruptible, long nanos) {
    if (!isMeasured()) {
      Outcome outcome = acquire(current, enqueued, interruptible, nanos);
      if (outcome == Outcome.ACQUIRED) {
        setExclusiveOwnerThread(current);
      } else {
        outcome.throwFailure();
      }
      return outcome;
    }
    Thread owner = since == 0 ? owner() : null; // whoever has it now had it not when it began
    long began = since == 0 ? System.nanoTime() : since;
    Outcome outcome = acquire(current, enqueued, interruptible, nanos);
    long now = System.nanoTime();
    boolean acquired = outcome == Outcome.ACQUIRED;
    if (acquired) {
      setExclusiveOwnerThread(current);
    }
    if (meter != null) {
      meter.waited(now, now - began, acquired);
    }
    LockEvents.waited(this, owner, now - began, acquired);
    outcome.throwFailure();
    return outcome;
  }

  /**
   * Whoever has queued and has not the stack to call {@link #await} could not leave the queue
   * either. So that is tried before, some kilobytes deeper than it will be: those that leave the
   * queue may be interpreted, which takes more stack. Few frames of many words, since a CPU
   * remembers the returns of some dozen calls only.
   */
  final void requireStack() {
    long _ = requireStack(FRAMES_BELOW, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  }

  @SuppressWarnings("TooManyParameters") // That is what it is for.
  private long requireStack(
      int frames,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f,
      long g,
      long h,
      long i,
      long j,
      long k,
      long l,
      long m,
      long n,
      long o,
      long p) {
    if (frames == 0) {
      await(NOBODY, WaitPolicy.SPIN_PARK, AT_ONCE, false, FOREVER).throwFailure();
      return 0;
    }
    long below = requireStack(frames - 1, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a);
    return below
        + (a ^ below)
        + (b ^ below)
        + (c ^ below)
        + (d ^ below)
        + (e ^ below)
        + (f ^ below)
        + (g ^ below)
        + (h ^ below)
        + (i ^ below)
        + (j ^ below)
        + (k ^ below)
        + (l ^ below)
        + (m ^ below)
        + (n ^ below)
        + (o ^ below)
        + (p ^ below); // so all of them are kept meanwhile
  }

  private void refuseOwner(Thread current) {
    if (getExclusiveOwnerThread() == current) {
      throw new IllegalStateException(
          "the current thread has " + this + " already, and it is not reentrant");
    }
  }

  /**
   * Waits for the lock until the thread is interrupted.
   *
   * @throws InterruptedException if it is, or was; the lock is not taken then
   * @throws IllegalStateException if the current thread has it already
   */
  @Override
  public final void lockInterruptibly() throws InterruptedException {
    tryLock(FOREVER);
  }

  /**
   * Takes the lock if it can be had at once.
   *
   * @return whether the current thread has taken it
   */
  @Override
  public final boolean tryLock() {
    if (!tryAcquire()) {
      return false;
    }
    own(Thread.currentThread());
    return true;
  }

  /**
   * Waits for the lock for a while.
   *
   * @param time at most so long; not above 0 does not wait
   * @param unit of the time
   * @return whether the current thread has taken it
   * @throws InterruptedException if the thread is interrupted, or was
   * @throws IllegalStateException if the current thread has it already
   */
  @Override
  public final boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return tryLock(Math.min(unit.toNanos(time), FOREVER - 1));
  }

  private boolean tryLock(long nanos) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (tryLock()) {
      return true;
    }
    Thread current = Thread.currentThread();
    refuseOwner(current);
    if (nanos <= 0) {
      return false;
    }
    requireStack();
    Outcome outcome = acquireAndOwn(current, null, 0, true, nanos);
    if (outcome == Outcome.INTERRUPTED) {
      throw new InterruptedException();
    }
    return outcome == Outcome.ACQUIRED;
  }

  /**
   * Gives the lock up.
   *
   * @throws IllegalMonitorStateException if the current thread does not have it
   */
  @Override
  public final void unlock() {
    if (getExclusiveOwnerThread() != Thread.currentThread()) {
      throw new IllegalMonitorStateException("the current thread does not have " + this);
    }
    Waiter last = toWake;
    if (last != null) {
      toWake = null;
    }
    if (meter == null) {
      setExclusiveOwnerThread(null);
      release();
    } else {
      unlockMeasured(meter);
    }
    if (last != null) {
      wake(last);
    }
  }

  private static void wake(Waiter last) {
    Waiter at = last.alsoToWake;
    while (at != null) {
      LockSupport.unpark(at.thread);
      at = at == last ? null : at.alsoToWake;
    }
  }

  /**
   * A condition has signalled a waiter of a lock that cannot queue it: it is woken when the lock is
   * free, since before that it could only wait once more. The lock is held.
   */
  final void wakeAtUnlock(Waiter signalled) {
    Waiter last = toWake;
    signalled.alsoToWake = last == null ? signalled : last.alsoToWake;
    if (last != null) {
      last.alsoToWake = signalled;
    }
    toWake = signalled;
  }

  private void unlockMeasured(LockStatistics.Meter counted) {
    long held = System.nanoTime() - counted.heldSince;
    setExclusiveOwnerThread(null);
    release();
    counted.held(held);
  }

  /**
   * A condition of this lock, with the contract of {@link Condition}. Waiters are signalled in the
   * order in which they began to wait.
   *
   * @return a new condition
   */
  @Override
  public final Condition newCondition() {
    return new LockCondition(this);
  }

  /**
   * Whether the current thread has the lock.
   *
   * @return true for the owner
   */
  public final boolean isHeldByCurrentThread() {
    return getExclusiveOwnerThread() == Thread.currentThread();
  }

  /**
   * Whether anybody has the lock; a glimpse.
   *
   * @return true if somebody has it
   */
  public abstract boolean isLocked();

  /**
   * Who has the lock; a glimpse for reports.
   *
   * @return the owner; null if nobody, or if it is just changing
   */
  public final @Nullable Thread owner() {
    return getExclusiveOwnerThread();
  }

  /** What one wait looks at: whether it is over. */
  interface Turn {
    boolean come(Waiter waiter);
  }

  /**
   * Waits as a policy says, until the turn comes, the time is over or the thread is interrupted.
   *
   * <p>The waiter stands in a queue, and whoever comes behind waits for it. So an error in the wait
   * (no stack or memory left, a barrier that the kernel refuses) ends it as a time-out does: the
   * caller gives the place up, and the error is thrown after that.
   *
   * @param turn the look; it may take the lock, and then throws nothing
   */
  final Outcome await(
      Waiter waiter, WaitPolicy policy, Turn turn, boolean interruptible, long nanos) {
    try {
      return waitInLoop(waiter, policy, turn, interruptible, nanos);
    } catch (StackOverflowError failure) {
      return Outcome.NO_STACK; // no call
    } catch (OutOfMemoryError failure) {
      return Outcome.NO_MEMORY;
    } catch (RuntimeException failure) {
      return new Outcome(failure);
    }
  }

  /** One look follows every wake-up, and one stands between setting {@code parked} and parking. */
  private Outcome waitInLoop(
      Waiter waiter, WaitPolicy policy, Turn turn, boolean interruptible, long nanos) {
    Thread thread = Thread.currentThread();
    long deadline = nanos == FOREVER ? 0 : System.nanoTime() + nanos;
    int spins = policy.spins(thread);
    int yields = policy.yields(thread);
    boolean interrupted = false;
    Outcome outcome = Outcome.ACQUIRED;
    boolean registered = false;
    Deadlocks.@Nullable Wait wait = null;
    try {
      for (int look = 0; !turn.come(waiter); ) {
        boolean clock = look >= spins || look % LOOKS_BETWEEN_CLOCKS == 0;
        if (clock && interruptible && Thread.interrupted()) {
          outcome = Outcome.INTERRUPTED;
          break;
        }
        long left = FOREVER;
        if (clock && nanos != FOREVER && (left = deadline - System.nanoTime()) <= 0) {
          outcome = Outcome.TIMED_OUT;
          break;
        }
        if (look < spins) {
          look++;
          Thread.onSpinWait();
        } else if (look < spins + yields) {
          look++;
          giveWay();
        } else if (!policy.parks(thread)) {
          look = 0;
        } else {
          if (!registered && nanos == FOREVER) {
            registered = true;
            wait = Deadlocks.waits(thread, this);
          }
          long rest = restBeforePark(waiter);
          if (rest > 0) {
            LockSupport.parkNanos(this, Math.min(left, rest));
            interrupted |= !interruptible && Thread.interrupted();
            continue;
          }
          waiter.parked = true; // volatile: before the look that follows
          long most = Math.min(left, beforePark(waiter));
          if (!turn.come(waiter)) {
            if (most == FOREVER) {
              LockSupport.park(this);
            } else {
              LockSupport.parkNanos(this, most);
            }
            waiter.parked = false;
            waiter.wokenInVain = true; // or else nobody will ask
            // A pending interrupt would make the next park return at once.
            interrupted |= !interruptible && Thread.interrupted();
          } else {
            waiter.parked = false;
            break;
          }
        }
      }
    } finally {
      if (wait != null) {
        wait.over();
      }
      if (interrupted) {
        thread.interrupt();
      }
    }
    return outcome;
  }

  /** How long to sleep before the next park, unseen by those that could wake the thread. */
  long restBeforePark(Waiter waiter) {
    return 0;
  }

  /** What an algorithm does between setting {@code parked} and the last look; how long to park. */
  long beforePark(Waiter waiter) {
    return FOREVER;
  }

  @SuppressWarnings("ThreadPriorityCheck") // Gives the CPU to a holder that was preempted.
  private static void giveWay() {
    Thread.yield();
  }

  /**
   * Locks cannot be serialised.
   *
   * @return never
   * @throws NotSerializableException always
   */
  @Serial
  @SuppressWarnings("DoNotCallSuggester") // Serialisation calls it.
  final Object writeReplace() throws NotSerializableException {
    throw new NotSerializableException(getClass().getName());
  }

  @Override
  public String toString() {
    Thread owner = owner();
    return getClass().getSimpleName()
        + "["
        + name
        + (owner == null ? ", free]" : ", held by " + owner.getName() + "]");
  }
}
