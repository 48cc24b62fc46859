package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;

/** Message passing through queues that the lock guards. */
public final class LocksHackbench implements Experiment {
  private static final List<String> SUBJECTS =
      List.of(LockPeers.NMCS, LockPeers.UNFAIR, LockPeers.MCS, LockPeers.FAIR, LockPeers.MONITOR);

  private static final List<Pair> PAIRS =
      List.of(
          new Pair(LockPeers.NMCS, LockPeers.UNFAIR),
          new Pair(LockPeers.NMCS, LockPeers.MONITOR),
          new Pair(LockPeers.MCS, LockPeers.FAIR),
          new Pair(LockPeers.MCS, LockPeers.UNFAIR));

  /** For the list of experiments. */
  public LocksHackbench() {}

  @Override
  public String name() {
    return "locks.hackbench";
  }

  @Override
  public String title() {
    return "How long does a crowd take that talks through queues with the lock?";
  }

  @Override
  public String method() {
    return "hackbench with queues in place of sockets: groups of 20 senders and 20 receivers. Each"
        + " sender sends 100 messages (10 in a quick run) of 100 bytes to each receiver of its"
        + " group in turn. A receiver has a queue for 64 messages, guarded by one lock with two"
        + " conditions, not full and not empty; synchronized has its one wait set. Messages are"
        + " copied in and out under the lock; nobody is signalled who does not wait. Counted is the"
        + " time from the opening of the gate, when all threads are there, until the last one has"
        + " sent or received all of its messages, which are checked. Births and deaths are not"
        + " counted. One run is one round.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (int groups : plan.quick() ? List.of(10, 25) : List.of(10, 25, 50, 75)) {
      cells.add(cell(plan, groups, "platform"));
    }
    for (int groups : plan.quick() ? List.of(10) : List.of(10, 25, 50, 75)) {
      cells.add(cell(plan, groups, "virtual"));
    }
    return cells;
  }

  private static Cell cell(Plan plan, int groups, String kind) {
    Params params = Params.of("groups", groups, "kind", kind);
    return new Cell(
        params,
        new Measure("seconds", "s", true),
        plan.round(100, 100),
        LockPeers.of("hackbench", params.with("loops", plan.quick() ? 10 : 100), SUBJECTS),
        PAIRS);
  }
}
