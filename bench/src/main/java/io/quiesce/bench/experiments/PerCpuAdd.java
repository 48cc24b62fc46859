package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.List;

/** What it costs to count. */
public final class PerCpuAdd implements Experiment {
  private static final String OURS = "quiesce counter";

  /** For the list of experiments. */
  public PerCpuAdd() {}

  @Override
  public String name() {
    return "percpu.add";
  }

  @Override
  public String title() {
    return "What does an increment of a shared counter cost?";
  }

  @Override
  public String method() {
    return "All threads increment one counter, 1,024 times between two looks at the stop flag."
        + " Counted is wall time from the first thread's start to the last one's end, times the"
        + " CPUs that the threads can have had (at most as many as there are threads), over all"
        + " increments: about the CPU time of one. The sum is checked after each round. What a"
        + " per-CPU counter is for is its memory, see percpu.memory; here it must not be much"
        + " slower.";
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
            Contestant.quiesce(OURS, "count", params.with("counter", "quiesce")),
            Contestant.java("LongAdder", "count", params.with("counter", "adder")),
            Contestant.java("AtomicLong", "count", params.with("counter", "atomic"))),
        List.of(new Pair(OURS, "LongAdder"), new Pair(OURS, "AtomicLong")));
  }
}
