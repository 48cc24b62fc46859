package io.quiesce.locks;

import io.quiesce.internal.Facilities;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The way to JFR, closed where it is absent and until somebody records. */
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
    return Facilities.isRecording();
  }

  /**
   * A wait is over.
   *
   * @param owner who had the lock when it began
   * @param acquired whether it ended with the lock
   */
  static void waited(ExclusiveLock lock, @Nullable Thread owner, long nanos, boolean acquired) {
    if (nanos >= LONG_WAIT_NANOS && Facilities.isRecording()) {
      try {
        LockJfr.waited(lock.name(), lock.getClass().getSimpleName(), owner, nanos, acquired);
      } catch (OutOfMemoryError | StackOverflowError unrecorded) {
        // The caller has the lock already and must get to know it.
      }
    }
  }
}
