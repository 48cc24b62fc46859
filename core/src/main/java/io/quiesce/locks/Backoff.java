package io.quiesce.locks;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Waits for what nobody announces: looks, with longer and longer pauses, bounded. */
final class Backoff {
  private static final int YIELDS = 32;
  private static final long FIRST_SLEEP_NANOS = 5_000;
  private static final long LONGEST_SLEEP_NANOS = 500_000;

  private Backoff() {}

  @SuppressWarnings("ThreadPriorityCheck") // Gives the CPU to a holder that was preempted.
  static ExclusiveLock.Outcome until(
      ExclusiveLock lock,
      BooleanSupplier taken,
      Thread current,
      boolean interruptible,
      long nanos,
      int mostPauses) {
    boolean forever = nanos == ExclusiveLock.FOREVER;
    long deadline = forever ? 0 : System.nanoTime() + nanos;
    boolean interrupted = false;
    boolean registered = false;
    Deadlocks.@Nullable Wait wait = null;
    int pauses = current.isVirtual() ? mostPauses + 1 : 4;
    int yields = current.isVirtual() ? 0 : YIELDS;
    long sleep = FIRST_SLEEP_NANOS;
    ExclusiveLock.Outcome outcome = ExclusiveLock.Outcome.ACQUIRED;
    try {
      while (!taken.getAsBoolean()) {
        if (interruptible && Thread.interrupted()) {
          outcome = ExclusiveLock.Outcome.INTERRUPTED;
          break;
        }
        long left = forever ? ExclusiveLock.FOREVER : deadline - System.nanoTime();
        if (left <= 0) {
          outcome = ExclusiveLock.Outcome.TIMED_OUT;
          break;
        }
        if (pauses <= mostPauses) {
          for (int i = 0; i < pauses; i++) {
            Thread.onSpinWait();
          }
          pauses *= 2;
        } else if (yields > 0) {
          yields--;
          Thread.yield();
        } else {
          if (!registered && forever) {
            registered = true;
            wait = Deadlocks.waits(current, lock);
          }
          LockSupport.parkNanos(lock, Math.min(left, sleep));
          interrupted |= !interruptible && Thread.interrupted();
          sleep = Math.min(2 * sleep, LONGEST_SLEEP_NANOS);
        }
      }
    } finally {
      if (wait != null) {
        wait.over();
      }
      if (interrupted) {
        current.interrupt();
      }
    }
    return outcome;
  }
}
