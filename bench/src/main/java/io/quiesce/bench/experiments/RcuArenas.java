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

/** Closing arenas: what it costs, and what it does to a thread that has nothing to do with it. */
public final class RcuArenas implements Experiment {
  private static final String METHOD =
      "pair: an arena is made, 64 bytes are allocated, it is closed; the three calls timed"
          + " together, median, 64 in a row and then a millisecond of rest. pair-rate: the same"
          + " without rest, per second, all threads together, until all memory is freed. scan: one"
          + " thread adds up 10 KB of an open arena, time per scan, on average (scan-p99: the time"
          + " that one scan in a hundred exceeds), while another thread makes and closes a thousand unrelated arenas per second, or rests"
          + " (nobody closes).";

  private static final String OURS = "quiesce arena";
  private static final String PEER = "Arena.ofShared";
  private static final String NOBODY = "nobody closes";

  /** For the list of experiments. */
  public RcuArenas() {}

  @Override
  public String name() {
    return "rcu.arena";
  }

  @Override
  public String title() {
    return "What does it cost to close an arena, and whom?";
  }

  @Override
  public String method() {
    return METHOD;
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (String measure : List.of("pair", "pair-rate")) {
      Measure unit = measure.equals("pair") ? Measure.NS : Measure.rate("closes");
      for (int threads : List.of(1, 8)) {
        Params params = Params.of("measure", measure, "threads", threads);
        cells.add(
            new Cell(
                params,
                unit,
                plan.round(100, 500),
                List.of(ours(OURS, "quiesce", params), theirs(PEER, "shared", params)),
                List.of(new Pair(OURS, PEER))));
      }
    }
    Params scan = Params.of("measure", "scan", "bytes", 10_240, "closes", 1000);
    Params still = scan.with("closes", 0);
    String peerAlone = PEER + ", " + NOBODY;
    String oursAlone = OURS + ", " + NOBODY;
    List<Pair> pairs =
        List.of(
            new Pair(OURS, PEER),
            new Pair(OURS, oursAlone),
            new Pair(OURS, peerAlone),
            new Pair(PEER, peerAlone));
    cells.add(
        new Cell(
            scan,
            Measure.NS,
            plan.round(100, 500),
            List.of(
                ours(OURS, "quiesce", scan),
                theirs(PEER, "shared", scan),
                ours(oursAlone, "quiesce", still),
                theirs(peerAlone, "shared", still)),
            pairs,
            List.of(
                new Cell.View(
                    scan.with("measure", "scan-p99"), new Measure("p99", "ns", true), pairs))));
    return cells;
  }

  private static Contestant ours(String subject, String way, Params params) {
    return Contestant.quiesce(subject, "arena", params.with("way", way));
  }

  private static Contestant theirs(String subject, String way, Params params) {
    return Contestant.java(subject, "arena", params.with("way", way));
  }
}
