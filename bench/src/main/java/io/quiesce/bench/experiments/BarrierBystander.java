package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Contestant.Kind;
import io.quiesce.bench.Contestant.Launch;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;

/** What barriers do to those who have nothing to do with them. */
public final class BarrierBystander implements Experiment {
  private static final String ALONE = "undisturbed";

  /** For the list of experiments. */
  public BarrierBystander() {}

  @Override
  public String name() {
    return "barrier.bystander";
  }

  @Override
  public String title() {
    return "How far do barriers slow down innocent work?";
  }

  @Override
  public String method() {
    return "A bystander computes on 16 KiB of its own, and its steps per second are counted, while a"
        + " thread loops: on a barrier, on synchronize(), or on batches of 1,000 deferred calls."
        + " bystander=process: it is a process of its own (in C, pinned to the last CPU), and the"
        + " loop runs in a JVM with no other busy thread. bystander=sibling: it is a thread of the"
        + " very process. A gain of 0.9 against 'undisturbed' means that a tenth of the work was"
        + " lost.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<String> strategies =
        plan.quick()
            ? List.of("private", "rseq", "affinity", "synchronize", "batched")
            : List.of(
                "private", "rseq", "rseq-cpu", "global", "affinity", "synchronize", "batched");
    return List.of(process(plan, strategies), sibling(plan, strategies));
  }

  private static String subject(String strategy) {
    return "quiesce " + strategy;
  }

  private static List<Pair> pairs(List<String> strategies) {
    List<Pair> pairs = new ArrayList<>();
    strategies.forEach(strategy -> pairs.add(new Pair(subject(strategy), ALONE)));
    pairs.add(new Pair("quiesce batched", "quiesce private"));
    pairs.add(new Pair("quiesce batched", "quiesce synchronize"));
    return pairs;
  }

  private static Cell process(Plan plan, List<String> strategies) {
    Launch bystander = new Launch("bystander", true, Params.of("cpu", plan.cpus() - 1));
    List<Contestant> contestants = new ArrayList<>();
    contestants.add(new Contestant(ALONE, Kind.NATIVE, bystander, null, Params.NONE));
    for (String strategy : strategies) {
      Launch disturber = new Launch("barrier", false, Params.of("strategy", strategy));
      contestants.add(
          new Contestant(subject(strategy), Kind.QUIESCE, bystander, disturber, Params.NONE));
    }
    return new Cell(
        Params.of("bystander", "process"),
        Measure.rate("steps"),
        plan.round(120, 500),
        contestants,
        pairs(strategies));
  }

  private static Cell sibling(Plan plan, List<String> strategies) {
    List<Contestant> contestants = new ArrayList<>();
    contestants.add(Contestant.java(ALONE, "bystander", Params.NONE));
    for (String strategy : strategies) {
      contestants.add(
          Contestant.quiesce(subject(strategy), "bystander", Params.of("strategy", strategy)));
    }
    return new Cell(
        Params.of("bystander", "sibling"),
        Measure.rate("steps"),
        plan.round(120, 500),
        contestants,
        pairs(strategies));
  }
}
