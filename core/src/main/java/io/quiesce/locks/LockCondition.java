package io.quiesce.locks;

import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A condition for any lock of this package: a queue of waiting threads that the lock itself guards.
 *
 * <p>To await is to queue, unlock, park until signalled, and lock again. A signal removes the first
 * place. One compare-and-set on the place decides between being signalled and giving up, so a
 * signal is never spent on a thread that leaves without it (L.5).
 *
 * <p>A signalled thread is not woken by the signal, since the signaller has the lock and it could
 * only wait once more. Where the lock has a queue that takes it, the signaller puts a place for it
 * there, and it is woken when the lock is to be had; other locks wake it after the unlock. The
 * waiter makes that place beforehand, so that a signal needs no memory, and neither does the way
 * back to the lock: to throw without the lock is not among the things that a wait may do.
 *
 * <p>A platform thread yields once before it parks. Where threads outnumber CPUs the one that is to
 * signal may be waiting for this very CPU, and then neither has to enter the kernel to sleep and to
 * wake: {@code locks.hackbench} with a thousand threads takes half the time, with a third of the
 * changes of the running thread. Where nobody else wants the CPU a yield costs a system call.
 */
final class LockCondition implements Condition {
  private final ExclusiveLock lock;
  private @Nullable Waiter first; // both guarded by the lock
  private @Nullable Waiter last;

  LockCondition(ExclusiveLock lock) {
    this.lock = lock;
  }

  private void requireOwner() {
    if (!lock.isHeldByCurrentThread()) {
      throw new IllegalMonitorStateException("the current thread does not have " + lock);
    }
  }

  private Waiter enqueue() {
    requireOwner();
    Thread thread = Thread.currentThread();
    Waiter place = new Waiter(thread); // before anything changes: there may be no memory
    if (lock.takesSignalled()) {
      place.lockPlace = new Waiter(thread); // now, so that a signal needs no memory
      place.lockPlace.parked = true; // whoever gives it the lock has to wake it, unless it is awake
    }
    if (last == null) {
      first = place;
    } else {
      last.setNext(place);
    }
    last = place;
    return place;
  }

  /** The lock is held. */
  private void remove(Waiter place) {
    Waiter before = null;
    for (Waiter at = first; at != null; before = at, at = at.next()) {
      if (at == place) {
        Waiter after = at.next();
        if (before == null) {
          first = after;
        } else {
          before.setNext(after);
        }
        if (after == null) {
          last = before;
        }
        return;
      }
    }
  }

  @Override
  public void await() throws InterruptedException {
    waitForSignal(true, ExclusiveLock.FOREVER);
  }

  @Override
  public void awaitUninterruptibly() {
    try {
      waitForSignal(false, ExclusiveLock.FOREVER);
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public long awaitNanos(long nanos) throws InterruptedException {
    long most = bounded(nanos);
    long deadline = System.nanoTime() + most;
    waitForSignal(true, most);
    return deadline - System.nanoTime();
  }

  @Override
  public boolean await(long time, TimeUnit unit) throws InterruptedException {
    return waitForSignal(true, bounded(unit.toNanos(time)));
  }

  @Override
  @SuppressWarnings("JavaUtilDate") // The interface's.
  public boolean awaitUntil(Date deadline) throws InterruptedException {
    long end = Math.max(0, deadline.getTime()); // the difference of two that are not negative fits
    long millis = end - System.currentTimeMillis();
    return waitForSignal(true, bounded(TimeUnit.MILLISECONDS.toNanos(millis)));
  }

  /** A time far below 0 would make the deadline wrap around into the far future. */
  private static long bounded(long nanos) {
    return Math.clamp(nanos, 0, ExclusiveLock.FOREVER - 1);
  }

  /**
   * Waits.
   *
   * @return whether it was signalled
   */
  private boolean waitForSignal(boolean interruptible, long nanos) throws InterruptedException {
    if (interruptible && Thread.interrupted()) {
      throw new InterruptedException();
    }
    lock.requireStack(); // while nothing has changed
    Waiter place = enqueue();
    long deadline = nanos == ExclusiveLock.FOREVER ? 0 : System.nanoTime() + nanos;
    boolean interrupted = false;
    lock.unlock();
    if (!Thread.currentThread().isVirtual()) {
      giveWay();
    }
    while (place.state() == Waiter.WAITING) {
      if (Thread.interrupted()) {
        interrupted = true;
        if (interruptible && place.abandon()) {
          break;
        }
      }
      if (nanos == ExclusiveLock.FOREVER) {
        LockSupport.park(this);
      } else {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          place.abandon(); // or it is signalled in this very moment
          break;
        }
        LockSupport.parkNanos(this, left);
      }
    }
    boolean signalled = place.state() == Waiter.GRANTED;
    Waiter lockPlace = place.lockPlace;
    if (lockPlace == null) {
      lock.lock();
    } else if (signalled) {
      lock.lockEnqueued(lockPlace, place.since);
    } else {
      lock.lockAt(lockPlace);
    }
    if (!signalled) {
      remove(place);
    }
    if (interrupted) {
      if (interruptible && !signalled) {
        throw new InterruptedException();
      }
      Thread.currentThread().interrupt();
    }
    return signalled;
  }

  @SuppressWarnings("ThreadPriorityCheck") // Once; see the head of the class.
  private static void giveWay() {
    Thread.yield();
  }

  @Override
  public void signal() {
    requireOwner();
    while (first != null) {
      if (signalFirst(first)) {
        return;
      }
    }
  }

  @Override
  public void signalAll() {
    requireOwner();
    while (first != null) {
      signalFirst(first);
    }
  }

  private boolean signalFirst(Waiter place) {
    Waiter lockPlace = place.lockPlace;
    if (lockPlace != null && lock.isMeasured()) {
      place.since = System.nanoTime();
    }
    first = place.next();
    if (first == null) {
      last = null;
    }
    if (!place.grant()) {
      return false; // it has given up, and finds itself gone when it has the lock
    }
    if (lockPlace == null) {
      lock.wakeAtUnlock(place);
    } else {
      lock.enqueue(lockPlace);
    }
    return true;
  }
}
