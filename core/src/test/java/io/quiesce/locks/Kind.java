package io.quiesce.locks;

import org.jspecify.annotations.Nullable;

/** Every lock there is, in every way of waiting that bears more threads than CPUs. */
enum Kind {
  SPIN(true, false, (name, statistics) -> new SpinLock(name, statistics)),
  TICKET(true, false, (name, statistics) -> new TicketLock(name, statistics)),
  MCS(false, true, (name, statistics) -> new McsLock(name, WaitPolicy.SPIN_YIELD_PARK, statistics)),
  MCS_PARK(false, true, (name, statistics) -> new McsLock(name, WaitPolicy.SPIN_PARK, statistics)),
  CLH(false, true, (name, statistics) -> new ClhLock(name, WaitPolicy.SPIN_YIELD_PARK, statistics)),
  CLH_PARK(false, true, (name, statistics) -> new ClhLock(name, WaitPolicy.SPIN_PARK, statistics)),
  NODELESS(false, false, (name, statistics) -> new NodelessMcsLock(name, statistics)),
  WRITE(false, false, (name, statistics) -> new PerCpuReadWriteLock(name, statistics).writeLock());

  /** Waits by sleeping for some microseconds again and again. */
  final boolean naps;

  /** First come, first served. */
  final boolean fair;

  @SuppressWarnings("ImmutableEnumChecker") // A lambda without state.
  private final Maker maker;

  private interface Maker {
    ExclusiveLock make(String name, @Nullable LockStatistics statistics);
  }

  Kind(boolean naps, boolean fair, Maker maker) {
    this.naps = naps;
    this.fair = fair;
    this.maker = maker;
  }

  ExclusiveLock create() {
    return maker.make(name(), null);
  }

  ExclusiveLock create(LockStatistics statistics) {
    return maker.make(name(), statistics);
  }
}
