package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;

/** Many threads, few of them at work. */
public final class AllocIdle implements Experiment {
  private static final List<String> SUBJECTS =
      List.of(
          Allocators.OURS,
          Allocators.GLIBC,
          Allocators.JEMALLOC,
          Allocators.MIMALLOC,
          Allocators.TCMALLOC,
          Allocators.NOTHING);

  /** For the list of experiments. */
  public AllocIdle() {}

  @Override
  public String name() {
    return "alloc.idle";
  }

  @Override
  public String title() {
    return "What do the caches of idle threads cost?";
  }

  @Override
  public String method() {
    return "500 threads, of which one sixteenth works at a time: each allocates 64 blocks of 16 to"
        + " 4,096 bytes, small ones more often, writes their first and last byte, checks and frees"
        + " them, eight such bursts in a row; then the next sixteenth has its turn. Caches by CPU"
        + " are warm for whoever comes; caches by thread are cold, and five hundred. ops: bursts in"
        + " a second of the process's CPU time, wake-ups included. rss: peak resident memory above"
        + " what it was when the threads had been born and the allocator was not loaded yet;"
        + " 'harness alone' shows how much of it is the JVM's. Netty pooled has caches for all"
        + " threads here.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    return plan.threadsOr(500).stream().map(threads -> cell(plan, threads)).toList();
  }

  private static Cell cell(Plan plan, int threads) {
    Params params = Params.of("threads", threads, "kind", "platform");
    List<Contestant> contestants = new ArrayList<>(Allocators.of("idle", params, SUBJECTS));
    contestants.add(Allocators.of(Allocators.POOLED, "idle", params, "netty-pooled-cached"));
    List<Cell.Pair> pairs =
        Allocators.pairs(Allocators.OURS, contestants.stream().map(Contestant::subject).toList());
    return new Cell(
        params.with("measure", "ops"),
        Measure.rate("bursts"),
        plan.round(100, 400),
        contestants,
        pairs,
        List.of(
            new Cell.View(
                params.with("measure", "rss"), new Measure("rss", "bytes", true), pairs)));
  }
}
