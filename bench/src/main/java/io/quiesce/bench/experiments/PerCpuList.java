package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.List;

/** What it costs to hand an element over. */
public final class PerCpuList implements Experiment {
  private static final String OURS = "quiesce stack";
  private static final String QUEUE = "ConcurrentLinkedQueue";
  private static final String DEQUE = "ConcurrentLinkedDeque";
  private static final String TREIBER = "Treiber stack";

  /** For the list of experiments. */
  public PerCpuList() {}

  @Override
  public String name() {
    return "percpu.list";
  }

  @Override
  public String title() {
    return "What does it cost to put an element on a shared list and take one?";
  }

  @Override
  public String method() {
    return "Each thread puts the element that it holds on the list, takes one, and reads its value;"
        + " that pair is an operation. Sixteen elements for each thread lie on the list meanwhile."
        + " Elements exist before, on either side: off-heap nodes of a cache line for the per-CPU"
        + " stack, objects for the peers, whose links, which they allocate for each put, are their"
        + " own cost. Counted is wall time from the first thread's start to the last one's end,"
        + " times the CPUs that the threads can have had, over all pairs. That no element was lost"
        + " or doubled is checked after each round. The per-CPU stack gives what was pushed on the"
        + " same CPU, the peers give what was pushed anywhere: they do more, where that is wanted.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    return plan.threadsOr(1, 2, 8).stream().map(threads -> cell(plan, threads)).toList();
  }

  private static Cell cell(Plan plan, int threads) {
    Params params = Params.of("threads", threads);
    return new Cell(
        params,
        Measure.NS,
        plan.round(100, 400),
        List.of(
            Contestant.quiesce(OURS, "list", params.with("list", "quiesce")),
            Contestant.java(QUEUE, "list", params.with("list", "queue")),
            Contestant.java(DEQUE, "list", params.with("list", "deque")),
            Contestant.java(TREIBER, "list", params.with("list", "treiber"))),
        List.of(new Pair(OURS, QUEUE), new Pair(OURS, DEQUE), new Pair(OURS, TREIBER)));
  }
}
