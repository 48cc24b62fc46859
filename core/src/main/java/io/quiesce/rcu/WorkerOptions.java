package io.quiesce.rcu;

import java.time.Duration;
import java.util.Objects;

/**
 * How a callback worker works. Immutable; each method returns a changed copy.
 *
 * @param cpu the CPU it pins itself to, or a negative number for none
 * @param wakeUp how it is woken
 * @param delay the least time between the beginnings of two batches, so that callbacks share grace
 *     periods; zero for none. Nobody who waits ({@link Rcu#barrier}, {@link Guarded#closeAndWait})
 *     sits it out, and a worker that was idle for as long starts at once. Rounded down to
 *     nanoseconds; a poller sleeps this long between looks, at least 50 us.
 * @param hurryAbove pending callbacks from which on the delay is skipped
 * @param blockAbove pending callbacks from which on {@link Rcu#call} blocks until half of them have
 *     run; {@link Long#MAX_VALUE}, the default, for never. A caller inside a section and a callback
 *     are never blocked, since they could wait for themselves; nor are virtual threads (and any
 *     thread of a sleepable domain) unless {@code -Dquiesce.rcu.trackVirtual=true} tells whether
 *     they are inside one. {@link Rcu#retire} and {@link Guarded} never block.
 */
public record WorkerOptions(
    int cpu, WakeUp wakeUp, Duration delay, long hurryAbove, long blockAbove) {

  /** The longest delay that makes sense; anything above is a mistake of units. */
  private static final Duration LONGEST_DELAY = Duration.ofHours(1);

  private static final WorkerOptions DEFAULTS =
      new WorkerOptions(-1, WakeUp.FUTEX, Duration.ofMillis(10), 100_000, Long.MAX_VALUE);

  /**
   * Checks the parts.
   *
   * @throws IllegalArgumentException for a delay below zero or above an hour, or a bound below one
   */
  public WorkerOptions {
    Objects.requireNonNull(wakeUp, "wakeUp");
    if (delay.isNegative() || delay.compareTo(LONGEST_DELAY) > 0) {
      throw new IllegalArgumentException("delay " + delay + " is not between zero and one hour");
    }
    if (hurryAbove < 1 || blockAbove < 1) {
      throw new IllegalArgumentException("a bound on pending callbacks must be at least 1");
    }
  }

  /**
   * No pinning, futex, 10 ms between batches, hurry above 100,000 pending callbacks, never block.
   *
   * @return the defaults
   */
  public static WorkerOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Pins the worker.
   *
   * @param cpu the CPU number, negative for no pinning
   * @return a copy with that CPU
   */
  public WorkerOptions cpu(int cpu) {
    return new WorkerOptions(cpu, wakeUp, delay, hurryAbove, blockAbove);
  }

  /**
   * Chooses the wake-up.
   *
   * @param wakeUp how the worker is woken
   * @return a copy with that wake-up
   */
  public WorkerOptions wakeUp(WakeUp wakeUp) {
    return new WorkerOptions(cpu, wakeUp, delay, hurryAbove, blockAbove);
  }

  /**
   * The real-time flag: polling, so that who queues never makes a system call.
   *
   * @param realTime true for {@link WakeUp#POLL}, false for {@link WakeUp#FUTEX}
   * @return a copy with that wake-up
   */
  public WorkerOptions realTime(boolean realTime) {
    return wakeUp(realTime ? WakeUp.POLL : WakeUp.FUTEX);
  }

  /**
   * Sets the batching delay.
   *
   * @param delay the least time between the beginnings of two batches
   * @return a copy with that delay
   */
  public WorkerOptions delay(Duration delay) {
    return new WorkerOptions(cpu, wakeUp, delay, hurryAbove, blockAbove);
  }

  /**
   * Sets the number of pending callbacks that ends the delay early.
   *
   * @param callbacks at least 1
   * @return a copy with that bound
   */
  public WorkerOptions hurryAbove(long callbacks) {
    return new WorkerOptions(cpu, wakeUp, delay, callbacks, blockAbove);
  }

  /**
   * Sets the number of pending callbacks that blocks callers.
   *
   * @param callbacks at least 1, {@link Long#MAX_VALUE} for never
   * @return a copy with that bound
   */
  public WorkerOptions blockAbove(long callbacks) {
    return new WorkerOptions(cpu, wakeUp, delay, hurryAbove, callbacks);
  }
}
