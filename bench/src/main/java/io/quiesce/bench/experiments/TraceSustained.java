package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;

/** What an event costs where threads trace without a pause, faster than anyone can write. */
public final class TraceSustained implements Experiment {
  /** For the list of experiments. */
  public TraceSustained() {}

  @Override
  public String name() {
    return "trace.sustained";
  }

  @Override
  public String title() {
    return "What does a trace event cost that reaches the file, when threads do nothing but trace?";
  }

  @Override
  public String method() {
    return "The discarding tables of trace.event without pauses: each thread traces a fixed number"
        + " of events as fast as it can into 4 x 8 MiB for each CPU, and what the writer cannot"
        + " take meanwhile is lost. The divisor is the events that a reader gets back, so most of"
        + " a figure is how long the writer takes for an event, whoever is measured.";
  }

  @Override
  public List<String> extras() {
    return List.of("kept", "lost");
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (String event : plan.quick() ? List.of("two-ints") : List.of("two-ints", "long-string")) {
      for (int threads : plan.quick() ? plan.threadsOr(1) : plan.threadsOr(1, 2)) {
        Params params = Params.of("threads", threads, "event", event, "mode", "discard");
        Params launch = params.with("pace", TraceEvent.pace(event));
        cells.add(TraceEvent.enabled(params, launch, plan.round(300, 1000)));
      }
    }
    return cells;
  }
}
