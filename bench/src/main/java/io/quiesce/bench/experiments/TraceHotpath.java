package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The tracer's three ways to reserve a record, as its source asked: which of them is cheapest. */
public final class TraceHotpath implements Experiment {
  private static final String SEQUENCE = "restartable sequence";
  private static final String SWAP = "compare-and-swap";
  private static final String LOCK = "lock";

  private static final List<Pair> PAIRS =
      List.of(new Pair(SEQUENCE, SWAP), new Pair(SEQUENCE, LOCK), new Pair(SWAP, LOCK));

  /** For the list of experiments. */
  public TraceHotpath() {}

  @Override
  public String name() {
    return "trace.hotpath";
  }

  @Override
  public String title() {
    return "Which protection of a CPU's trace buffer is cheapest?";
  }

  @Override
  public String method() {
    return "A whole event of two ints, overwriting, 4 x 256 KiB for each CPU, with each of the"
        + " tracer's hot paths: one restartable sequence, compare-and-swap of the offset, a lock"
        + " word for each CPU. All three read the time stamp counter where it is to be trusted."
        + " CPU time of the threads over the events; cycles: the same in ticks of the counter.";
  }

  @Override
  public List<String> extras() {
    return List.of("cycles");
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (int threads : plan.threadsOr(1, 2)) {
      Params params = Params.of("threads", threads);
      cells.add(
          new Cell(
              params,
              Measure.NS,
              roundTime(plan),
              List.of(
                  contestant(SEQUENCE, "sequence", params),
                  contestant(SWAP, "cas", params),
                  contestant(LOCK, "lock", params)),
              PAIRS));
    }
    return cells;
  }

  private static Duration roundTime(Plan plan) {
    return plan.round(300, 1000);
  }

  private static Contestant contestant(String subject, String hotPath, Params params) {
    Params launch =
        params
            .with("event", "two-ints")
            .with("pace", 8_000)
            .with("tracer", "quiesce")
            .with("hotpath", hotPath);
    return Contestant.quiesce(subject, "trace", launch);
  }
}
