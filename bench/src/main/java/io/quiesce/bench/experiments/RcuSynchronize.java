package io.quiesce.bench.experiments;

import static io.quiesce.bench.Contestant.nativePeer;
import static io.quiesce.bench.Contestant.quiesce;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.List;

/** How long a grace period takes. */
public final class RcuSynchronize implements Experiment {
  /** For the list of experiments. */
  public RcuSynchronize() {}

  @Override
  public String name() {
    return "rcu.synchronize";
  }

  @Override
  public String title() {
    return "How long does synchronize() take?";
  }

  @Override
  public String method() {
    return "One thread calls synchronize again and again, each call timed on its own; a round's"
        + " figure is its median. Beside it run that many readers without a pause, each section one"
        + " load, as in rcu.read. The caller is registered as a reader, as in liburcu.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    return List.of(cell(plan, 0), cell(plan, 1));
  }

  private static Cell cell(Plan plan, int readers) {
    Params params = Params.of("readers", readers);
    return new Cell(
        params,
        Measure.NS,
        plan.round(120, 500),
        List.of(
            ours("quiesce membarrier", "membarrier", params),
            nativePeer("liburcu memb", "urcu-memb", params),
            quiesce(
                "quiesce membarrier expedited",
                "synchronize",
                params.with("flavour", "membarrier", "expedited", 1)),
            nativePeer("liburcu bp", "urcu-bp", params),
            ours("quiesce fenced", "fenced", params),
            nativePeer("liburcu mb", "urcu-mb", params),
            ours("quiesce qsbr", "qsbr", params),
            nativePeer("liburcu qsbr", "urcu-qsbr", params),
            ours("quiesce sleepable", "sleepable", params)),
        List.of(
            new Pair("quiesce membarrier", "liburcu memb"),
            new Pair("quiesce membarrier", "liburcu bp"),
            new Pair("quiesce membarrier expedited", "liburcu memb"),
            new Pair("quiesce fenced", "liburcu mb"),
            new Pair("quiesce qsbr", "liburcu qsbr"),
            new Pair("quiesce sleepable", "liburcu memb")));
  }

  private static Contestant ours(String subject, String flavour, Params params) {
    return quiesce(subject, "synchronize", params.with("flavour", flavour));
  }
}
