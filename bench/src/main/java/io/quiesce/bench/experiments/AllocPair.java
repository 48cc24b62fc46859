package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;

/** What a small block costs. */
public final class AllocPair implements Experiment {
  private static final String BATCHES = Allocators.OURS + " batch";
  private static final List<String> PEERS =
      List.of(
          Allocators.GLIBC,
          Allocators.JEMALLOC,
          Allocators.MIMALLOC,
          Allocators.TCMALLOC,
          Allocators.ADAPTIVE,
          Allocators.ARENA);

  /** For the list of experiments. */
  public AllocPair() {}

  @Override
  public String name() {
    return "alloc.pair";
  }

  @Override
  public String title() {
    return "What does it cost to allocate and free 64 bytes off the heap?";
  }

  @Override
  public String method() {
    return "measure=pair: allocate, free, again and again; what every cache is best at."
        + " measure=batch: 32 allocations, then their frees. Counted is wall time from the first"
        + " thread's start to the last one's end, times the CPUs that the threads can have had, over"
        + " all blocks. Nobody touches the blocks, but an arena zeroes its own. malloc and its kin"
        + " are called from Java through critical downcalls, the cheapest there are. Netty pooled"
        + " has caches for all threads here.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (String measure : List.of("pair", "batch")) {
      for (int threads : plan.threadsOr(1, 2)) {
        cells.add(cell(plan, measure, threads));
      }
    }
    return cells;
  }

  private static Cell cell(Plan plan, String measure, int threads) {
    Params params = Params.of("threads", threads, "kind", "platform", "measure", measure);
    String ours = measure.equals("pair") ? Allocators.OURS : BATCHES;
    List<Contestant> contestants = new ArrayList<>();
    contestants.add(Allocators.of(ours, "pair", params, "quiesce"));
    contestants.addAll(Allocators.of("pair", params, PEERS));
    contestants.add(Allocators.of(Allocators.POOLED, "pair", params, "netty-pooled-cached"));
    return new Cell(
        params,
        Measure.NS,
        plan.round(100, 400),
        contestants,
        Allocators.pairs(ours, contestants.stream().map(Contestant::subject).toList()));
  }
}
