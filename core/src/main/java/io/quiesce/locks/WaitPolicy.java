package io.quiesce.locks;

/**
 * How a thread waits for its turn: the same for every algorithm that takes one.
 *
 * <p>A virtual thread never yields and spins at most briefly, whatever the policy says about it,
 * and it always parks in the end: a carrier that is kept busy may be the one that the holder needs.
 */
public enum WaitPolicy {
  /**
   * Spins and nothing else, as the locks of 2002 did. For threads that are pinned to CPUs of their
   * own; with more threads than CPUs it is slower by orders of magnitude, because turns are given
   * to threads that do not run.
   */
  SPIN(Integer.MAX_VALUE, 0, false),

  /** Spins for two microseconds, gives the CPU away some times, then parks. For fair locks. */
  SPIN_YIELD_PARK(64, 200, true),

  /** Spins for some hundred nanoseconds, then parks. For locks that newcomers may take first. */
  SPIN_PARK(8, 0, true);

  private static final int VIRTUAL_SPINS = 32;
  private static final boolean ALONE = Runtime.getRuntime().availableProcessors() == 1;

  private final int spins;
  private final int yields;
  private final boolean parks;

  WaitPolicy(int spins, int yields, boolean parks) {
    this.spins = spins;
    this.yields = yields;
    this.parks = parks;
  }

  /** Looks before the first yield or park. */
  int spins(Thread thread) {
    if (thread.isVirtual()) {
      return VIRTUAL_SPINS;
    }
    return ALONE && parks ? 0 : spins; // alone, nobody can change anything meanwhile
  }

  int yields(Thread thread) {
    return thread.isVirtual() ? 0 : yields;
  }

  boolean parks(Thread thread) {
    return parks || thread.isVirtual();
  }
}
