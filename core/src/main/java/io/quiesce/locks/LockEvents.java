package io.quiesce.locks;

import io.quiesce.internal.Facilities;
import io.quiesce.internal.Listeners;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The ways to listeners and to JFR; the latter is closed until somebody records. */
final class LockEvents {
  /** Default of {@code quiesce.locks.longWaitMillis}. */
  private static final long DEFAULT_MILLIS = 10;

  private static final long LONG_WAIT_NANOS =
      nanos(Long.getLong("quiesce.locks.longWaitMillis", DEFAULT_MILLIS));

  private LockEvents() {}

  /** Of a number of milliseconds that somebody has set; the largest ones mean never. */
  static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(Math.max(0, millis));
  }

  /** Whether waits need to be measured. */
  static boolean isWanted() {
    return Facilities.isRecording() || Listeners.wantLockWaits();
  }

  /**
   * A wait is over.
   *
   * @param owner who had the lock when it began
   * @param acquired whether it ended with the lock
   */
  static void waited(ExclusiveLock lock, @Nullable Thread owner, long nanos, boolean acquired) {
    if (nanos < LONG_WAIT_NANOS) {
      return;
    }
    try {
      if (Listeners.wantLockWaits()) {
        String kind = lock.getClass().getSimpleName();
        Listeners.tell(listener -> listener.lockWaited(lock.name(), kind, owner, nanos, acquired));
      }
      if (Facilities.isRecording()) {
        LockJfr.waited(lock.name(), lock.getClass().getSimpleName(), owner, nanos, acquired);
      }
    } catch (Throwable unrecorded) {
      // Memory or stack ran out; the caller has the lock already and must get to know it.
    }
  }
}
