package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** What a process-wide barrier costs its caller, by the number of siblings that run. */
public final class BarrierCost implements Experiment {
  /** For the list of experiments. */
  public BarrierCost() {}

  @Override
  public String name() {
    return "barrier.cost";
  }

  @Override
  public String title() {
    return "What does a process-wide memory barrier cost its caller?";
  }

  @Override
  public String method() {
    return "One thread issues barriers, each timed on its own (a clock reading is included), while"
        + " that many siblings compute without a pause; a round's figure is its median. private:"
        + " one membarrier for the whole process. rseq: the same, and running restartable sequences"
        + " start over. single: one call for each sibling's CPU; adaptive: fenceCpus, which chooses"
        + " between that and one broadcast by what this machine was found to prefer. global: the"
        + " command that waits for the scheduler. mprotect and affinity: what one does without"
        + " membarrier. syscall: a call that does nothing, the floor.";
  }

  /** 0 to the number of CPUs less one; a selection where that is many. */
  static List<Integer> siblings(Plan plan) {
    int most = Math.max(1, plan.cpus() - 1);
    TreeSet<Integer> counts = new TreeSet<>(List.of(0, 1, most));
    for (int n = 2; n < most; n = plan.quick() ? n * 2 : n + Math.max(1, n / 2)) {
      counts.add(n);
    }
    return List.copyOf(counts);
  }

  @Override
  public List<Cell> cells(Plan plan) {
    return siblings(plan).stream().map(count -> cell(plan, count)).toList();
  }

  private static Cell cell(Plan plan, int siblings) {
    Params params = Params.of("siblings", siblings);
    List<Contestant> contestants = new ArrayList<>();
    List<Pair> pairs = new ArrayList<>();
    for (String strategy : List.of("private", "rseq", "rseq-cpu", "global", "affinity")) {
      contestants.add(ours(strategy, params));
      contestants.add(peer(strategy, params));
      pairs.add(new Pair("quiesce " + strategy, "native " + strategy));
    }
    contestants.add(ours("single", params));
    contestants.add(ours("adaptive", params));
    contestants.add(peer("mprotect", params));
    contestants.add(peer("syscall", params));
    pairs.add(new Pair("quiesce adaptive", "quiesce single"));
    pairs.add(new Pair("quiesce adaptive", "quiesce rseq"));
    pairs.add(new Pair("quiesce private", "native mprotect"));
    pairs.add(new Pair("quiesce private", "quiesce affinity"));
    return new Cell(params, Measure.NS, plan.round(60, 300), contestants, pairs);
  }

  private static Contestant ours(String strategy, Params params) {
    return Contestant.quiesce("quiesce " + strategy, "barrier", params.with("strategy", strategy));
  }

  private static Contestant peer(String strategy, Params params) {
    return Contestant.nativePeer(
        "native " + strategy, "membarrier", params.with("strategy", strategy));
  }
}
