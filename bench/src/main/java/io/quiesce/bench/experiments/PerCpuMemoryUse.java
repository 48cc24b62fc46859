package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.List;

/** What a contended counter takes up. */
public final class PerCpuMemoryUse implements Experiment {
  private static final String OURS = "quiesce counter";

  /** For the list of experiments. */
  public PerCpuMemoryUse() {}

  @Override
  public String name() {
    return "percpu.memory";
  }

  @Override
  public String title() {
    return "What does a contended counter take up?";
  }

  @Override
  public String method() {
    return "10,000 counters, each used by eight threads until two of them met on it, and once more by"
        + " every thread; bytes per counter. Heap: the difference of used heap after full"
        + " collections, in a process that does nothing else. Off-heap, added for the per-CPU"
        + " counter: what the shared per-CPU memory handed out for the counters, or all that it"
        + " reserved, over the counters, whichever is more. A contended LongAdder has 56 bytes and"
        + " a padded cell of 280 for each CPU whose turn came: 336 right after two threads met, 616"
        + " with two CPUs once all have used it. An AtomicLong stays small, and slow.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    Params params = Params.of("threads", 8, "counters", 10_000);
    return List.of(
        new Cell(
            params,
            new Measure("bytes", "bytes", true),
            plan.round(100, 400),
            List.of(
                Contestant.quiesce(OURS, "count-memory", params.with("counter", "quiesce")),
                Contestant.java("LongAdder", "count-memory", params.with("counter", "adder")),
                Contestant.java("AtomicLong", "count-memory", params.with("counter", "atomic"))),
            List.of(new Pair(OURS, "LongAdder"), new Pair(OURS, "AtomicLong"))));
  }
}
