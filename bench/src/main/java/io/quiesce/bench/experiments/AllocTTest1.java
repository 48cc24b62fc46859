package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;

/** Threads that come, allocate, free and go. */
public final class AllocTTest1 implements Experiment {
  private static final List<String> EVERYBODY =
      List.of(
          Allocators.OURS,
          Allocators.GLIBC,
          Allocators.JEMALLOC,
          Allocators.MIMALLOC,
          Allocators.TCMALLOC,
          Allocators.POOLED,
          Allocators.ADAPTIVE,
          Allocators.UNPOOLED,
          Allocators.ARENA,
          Allocators.NOTHING);

  /** A life of a platform thread is that of the original. */
  private static final int LOOPS = 10_000;

  /** A generation of 1,000 lives of full length would be many rounds long. */
  private static final int LOOPS_OF_VIRTUAL = 1_000;

  /** For the list of experiments. */
  public AllocTTest1() {}

  @Override
  public String name() {
    return "alloc.ttest1";
  }

  @Override
  public String title() {
    return "How fast is the allocator under threads that come and go, and what does it hold?";
  }

  @Override
  public String method() {
    return "t-test1, the test of ptmalloc's author: each thread fills 8,000,000 / (10,000 x threads)"
        + " bins, at least 4, with blocks of 1 to 10,000 bytes, frees and allocates up to 29 random"
        + " bins in turn for 10,000 actions (1,000 for virtual threads), frees all and dies; another"
        + " one is born in its place. Of 1,024 allocations 4 are aligned, 16 zeroed, 80"
        + " reallocations of blocks below 2,000 bytes. Nothing else touches the blocks. Threads are"
        + " born until the round's time is over, and the last generation is waited for. ops: calls"
        + " of the allocator per second, births and deaths included. rss: peak resident memory of"
        + " the process in the round above what it was before the allocator was loaded: the"
        + " allocator's memory with the JVM's code and thread stacks; 'harness alone' shows what"
        + " those are. Both come from the same rounds. Netty is as by default on this JDK, but for"
        + " the leak detector, which is off: only its own threads have caches in its pool. With"
        + " caches for all threads it runs out of memory at 100 short-lived threads.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (int threads : plan.threadsOr(2, 8, 100)) {
      cells.add(cell(plan, threads, "platform", LOOPS, EVERYBODY));
    }
    if (plan.threads().isEmpty()) {
      List<String> most = EVERYBODY.stream().filter(s -> !s.equals(Allocators.ARENA)).toList();
      cells.add(cell(plan, 1000, "virtual", LOOPS_OF_VIRTUAL, most));
    }
    return cells;
  }

  private static Cell cell(Plan plan, int threads, String kind, int loops, List<String> subjects) {
    Params params = Params.of("threads", threads, "kind", kind);
    return new Cell(
        params.with("measure", "ops"),
        Measure.rate("operations"),
        plan.round(100, 150),
        Allocators.of("ttest1", params.with("loops", loops), subjects),
        Allocators.pairs(Allocators.OURS, subjects),
        List.of(
            new Cell.View(
                params.with("measure", "rss"),
                new Measure("rss", "bytes", true),
                Allocators.pairs(Allocators.OURS, subjects))));
  }
}
