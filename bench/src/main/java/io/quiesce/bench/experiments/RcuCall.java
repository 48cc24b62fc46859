package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.ArrayList;
import java.util.List;

/** What deferred calls cost and how soon they run, for each configuration of workers. */
public final class RcuCall implements Experiment {
  private static final List<String> SHARED = List.of("percpu", "percpu-pinned", "rt", "rt-pinned");
  private static final List<String> SHARED_QUICK = List.of("percpu-pinned", "rt-pinned");
  private static final List<String> OURS = List.of("no-delay", "monitor");

  /** For the list of experiments. */
  public RcuCall() {}

  @Override
  public String name() {
    return "rcu.call";
  }

  @Override
  public String title() {
    return "What does call() cost, and how soon does the callback run?";
  }

  @Override
  public String method() {
    return "enqueue: a million callbacks queued in a row by one thread while the worker runs them,"
        + " time per call; the callbacks are objects that exist, as liburcu's are ('runnable'"
        + " allocates what the Runnable form allocates). throughput: the same to the end of the"
        + " barrier. idle-latency: one callback after 30 to 40 ms of rest, from the call to its"
        + " start, median. idle-barrier: one barrier with nothing queued after such a rest."
        + " Workers as in the source's table: one shared (default), one per CPU, pinned or not,"
        + " polling (rt) or woken by futex, without the batching delay (no-delay), woken through a"
        + " monitor. Polling workers exist within a round only. That every callback ran exactly"
        + " once is checked outside the timing.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    return List.of(
        cell(plan, "enqueue", Measure.NS),
        cell(plan, "throughput", Measure.rate("callbacks")),
        cell(plan, "idle-latency", Measure.NS),
        cell(plan, "idle-barrier", Measure.NS));
  }

  private static Cell cell(Plan plan, String measure, Measure unit) {
    List<Contestant> contestants = new ArrayList<>();
    List<Pair> pairs = new ArrayList<>();
    String our = "quiesce membarrier";
    String peer = "liburcu memb";
    contestants.add(ours(our, measure, "default", "callback"));
    contestants.add(theirs(peer, measure, "default"));
    pairs.add(new Pair(our, peer));
    if (measure.equals("enqueue") || measure.equals("throughput")) {
      contestants.add(ours(our + " runnable", measure, "default", "runnable"));
      pairs.add(new Pair(our + " runnable", peer));
    }
    for (String worker : plan.quick() ? SHARED_QUICK : SHARED) {
      contestants.add(ours(our + " " + worker, measure, worker, "callback"));
      contestants.add(theirs(peer + " " + worker, measure, worker));
      pairs.add(new Pair(our + " " + worker, peer + " " + worker));
    }
    for (String worker : OURS) {
      contestants.add(ours(our + " " + worker, measure, worker, "callback"));
      pairs.add(new Pair(our + " " + worker, peer));
    }
    pairs.add(new Pair(our, our + " monitor"));
    return new Cell(Params.of("measure", measure), unit, plan.round(100, 500), contestants, pairs);
  }

  private static Contestant ours(String subject, String measure, String worker, String form) {
    return Contestant.quiesce(
            subject, "call", Params.of("measure", measure, "worker", worker, "form", form))
        .labelled(Params.of("worker", worker));
  }

  private static Contestant theirs(String subject, String measure, String worker) {
    return Contestant.nativePeer(
            subject, "urcu-memb", Params.of("measure", measure, "worker", worker))
        .labelled(Params.of("worker", worker));
  }
}
