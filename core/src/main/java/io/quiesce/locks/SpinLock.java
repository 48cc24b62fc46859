package io.quiesce.locks;

import java.io.Serial;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A word that is set with compare-and-set, looked at before (test-and-test-and-set), and waited for
 * with longer and longer pauses.
 *
 * <p>Locking is one compare-and-set, unlocking one release store. Nobody is queued, so nobody is
 * woken and nothing is fair: a waiter looks, pauses for twice as long as before up to {@value
 * #MOST_PAUSES} hints to the CPU, then gives the CPU away, and after some rounds sleeps for some
 * microseconds (a virtual thread at once), so that a preempted holder gets to run. For sections of
 * some nanoseconds that hardly ever meet; else {@link NodelessMcsLock}. Space: 32 bytes.
 *
 * <p>Source: Rudolph and Segall, 1984; Anderson, "The performance of spin lock alternatives", 1990;
 * the spin lock that the 2002 experiment compares with.
 */
public final class SpinLock extends ExclusiveLock {
  @Serial private static final long serialVersionUID = 1L;

  private static final int MOST_PAUSES = 1_024;

  private static final VarHandle LOCKED;

  static {
    try {
      LOCKED = MethodHandles.lookup().findVarHandle(SpinLock.class, "locked", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private transient volatile int locked;

  /**
   * A free lock.
   *
   * @param name appears in reports
   */
  public SpinLock(String name) {
    this(name, null);
  }

  /**
   * A free lock with statistics.
   *
   * @param name appears in reports
   * @param statistics where to count; null for none
   */
  public SpinLock(String name, @Nullable LockStatistics statistics) {
    super(name, statistics);
  }

  @Override
  boolean tryAcquire() {
    return locked == 0 && LOCKED.compareAndSet(this, 0, 1);
  }

  @Override
  Outcome acquire(Thread current, boolean interruptible, long nanos) {
    return Backoff.until(this, this::tryAcquire, current, interruptible, nanos, MOST_PAUSES);
  }

  @Override
  void release() {
    LOCKED.setRelease(this, 0); // L.1
  }

  @Override
  public boolean isLocked() {
    return locked != 0;
  }
}
