package io.quiesce;

import io.quiesce.internal.Listeners;
import org.jspecify.annotations.Nullable;

/**
 * Is told of what JFR would be told of, as it happens: grace periods, callback batches, long waits
 * for locks, what allocators do seldom. For tracers and metrics.
 *
 * <p>Methods are called by the thread that did it, right after it, and at times from inside: a
 * grace period's with the domain's leader lock held, a fault's with an allocator's lock held. So
 * they must be short, must not wait, and must not use the RCU domain, lock or allocator they are
 * told of. Several threads may call at once. What a method throws is dropped.
 *
 * <p>Without a listener each place costs one load. Times are nanoseconds as {@link
 * System#nanoTime()} has them.
 */
@Incubating
public interface QuiesceListener {

  /**
   * A grace period begins.
   *
   * @param domain the name of the RCU domain
   * @param flavour membarrier, fenced, qsbr or sleepable, in capitals
   */
  default void gracePeriodBegun(String domain, String flavour) {}

  /**
   * A grace period has ended.
   *
   * @param domain the name of the RCU domain
   * @param flavour membarrier, fenced, qsbr or sleepable, in capitals
   * @param begun when it began
   * @param nanos how long it took
   * @param waitedFor how many readers it waited for
   * @param expedited whether somebody asked it to hurry
   */
  default void gracePeriodEnded(
      String domain, String flavour, long begun, long nanos, int waitedFor, boolean expedited) {}

  /**
   * A grace period lasts longer than the domain's stall limit; again at each doubling.
   *
   * @param domain the name of the RCU domain
   * @param nanos how long it has waited so far
   * @param report whom it waits for, in several lines
   */
  default void gracePeriodStalled(String domain, long nanos, String report) {}

  /**
   * A worker has run the callbacks and retired blocks of one grace period.
   *
   * @param domain the name of the RCU domain
   * @param worker the name of the worker
   * @param callbacks how many, blocks included
   * @param bytes of retired blocks
   * @param begun when the worker took them, before the grace period
   * @param nanos how long it took, the grace period included
   */
  default void callbacksRun(
      String domain, String worker, long callbacks, long bytes, long begun, long nanos) {}

  /**
   * Whether waits for locks are to be measured, which takes two looks at the clock for each. Asked
   * at each wait, so it must be cheap.
   *
   * @return true by default
   */
  default boolean wantsLockWaits() {
    return true;
  }

  /**
   * A wait for a lock was longer than {@code quiesce.locks.longWaitMillis}, 10 by default. Called
   * by the thread that waited, which has the lock now if it acquired it.
   *
   * @param lock its name
   * @param kind the simple name of its class
   * @param owner who had it when the wait began, if that is known
   * @param nanos how long
   * @param acquired false if the wait was given up
   */
  default void lockWaited(
      String lock, String kind, @Nullable Thread owner, long nanos, boolean acquired) {}

  /**
   * An allocator has emptied its caches and returned pages to the kernel.
   *
   * @param allocator its name
   * @param cause trim: asked for; limit: an allocation reached it; idle: by the housekeeper
   * @param blocks that were in the caches
   * @param bytes that the kernel got
   * @param begun when it began
   * @param nanos how long it took
   */
  default void allocatorTrimmed(
      String allocator, String cause, long blocks, long bytes, long begun, long nanos) {}

  /**
   * An allocation has failed, at the limit or because the kernel has no memory.
   *
   * @param allocator its name
   * @param wanted bytes
   * @param limit in bytes
   * @param reason in one sentence
   */
  default void allocatorExhausted(String allocator, long wanted, long limit, String reason) {}

  /**
   * Wrong use of off-heap memory was found.
   *
   * @param allocator its name
   * @param kind the name of the kind of fault, in capitals
   * @param address where
   * @param bytes of the block
   * @param report what is known, in several lines
   */
  default void memoryFault(
      String allocator, String kind, long address, long bytes, String report) {}

  /**
   * Adds a listener; it is called from here on, until it is removed. Adding it again does nothing.
   *
   * @param listener which is kept alive
   */
  static void add(QuiesceListener listener) {
    Listeners.add(listener);
  }

  /**
   * Takes a listener away; a call that is on its way may still arrive.
   *
   * @param listener one that was added; else nothing happens
   */
  static void remove(QuiesceListener listener) {
    Listeners.remove(listener);
  }
}
