package io.quiesce.rcu;

import io.quiesce.Incubating;

/** How whoever queues a callback wakes a worker that sleeps. */
@Incubating
public enum WakeUp {
  /**
   * The kernel's futex on a word that the worker lowers before it looks for the last time; {@link
   * #PARK} where there is no futex. No mutex anywhere; queueing costs a system call only when the
   * worker sleeps. The default.
   */
  FUTEX,

  /** The same protocol with {@code LockSupport.park}: portable. */
  PARK,

  /**
   * Nobody wakes it: the worker polls. Queueing never makes a system call. What userspace RCU calls
   * the real-time flag; it is no scheduling class.
   */
  POLL,

  /**
   * A mutex and a condition, taken for every callback. This is the fault that the source thread of
   * June 2011 measured (129 updates a second); it is here so that the experiment can be repeated.
   */
  MONITOR
}
