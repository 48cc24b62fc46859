package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.List;

/** What a lock costs that nobody else wants. */
public final class LocksUncontended implements Experiment {
  private static final List<Pair> PAIRS =
      List.of(
          new Pair(LockPeers.NMCS, LockPeers.UNFAIR),
          new Pair(LockPeers.NMCS, LockPeers.MONITOR),
          new Pair(LockPeers.NMCS, LockPeers.STAMPED),
          new Pair(LockPeers.NMCS, LockPeers.MUTEX),
          new Pair(LockPeers.NMCS, LockPeers.CK_MCS),
          new Pair(LockPeers.MCS, LockPeers.UNFAIR),
          new Pair(LockPeers.MCS, LockPeers.FAIR),
          new Pair(LockPeers.MCS, LockPeers.MONITOR),
          new Pair(LockPeers.MCS, LockPeers.CK_MCS),
          new Pair(LockPeers.CLH, LockPeers.FAIR),
          new Pair(LockPeers.CLH, LockPeers.CK_CLH),
          new Pair(LockPeers.TICKET, LockPeers.CK_TICKET),
          new Pair(LockPeers.SPIN, LockPeers.PTHREAD_SPIN));

  /** For the list of experiments. */
  public LocksUncontended() {}

  @Override
  public String name() {
    return "locks.uncontended";
  }

  @Override
  public String title() {
    return "What does a lock cost that nobody else wants?";
  }

  @Override
  public String method() {
    return "One thread locks, increments a word and unlocks, 1,024 times between two looks at the"
        + " stop flag; ns is wall time over pairs. No other thread ever touched the lock. The word"
        + " is checked after each round. The compiler may merge neighbouring synchronized blocks of"
        + " the loop into one, which it may not do with any other lock: that row is a floor for"
        + " code that the compiler sees whole. Concurrency Kit's locks are inlined into their"
        + " loop, those of pthread are calls.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    Params params = Params.of("threads", 1);
    return List.of(
        new Cell(
            params,
            Measure.NS,
            plan.round(100, 400),
            LockPeers.of("lock", params.with("measure", "pair"), LockPeers.EVERYBODY),
            PAIRS));
  }
}
