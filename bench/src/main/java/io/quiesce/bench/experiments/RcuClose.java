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

/** Replacing and closing an off-heap block under its readers. */
public final class RcuClose implements Experiment {
  private static final List<String> PEERS =
      List.of("Arena.ofShared", "ReentrantReadWriteLock", "reference count");

  /** For the list of experiments. */
  public RcuClose() {}

  @Override
  public String name() {
    return "rcu.close";
  }

  @Override
  public String title() {
    return "What does it cost to close something that others are reading?";
  }

  @Override
  public String method() {
    return "One thread replaces an off-heap block of 4 KiB and closes the old one, again and again;"
        + " readers use it without a pause, 16 loads a section unless accesses says otherwise."
        + " closer: the closer's call, median, 64 in a row and then a millisecond of rest; making"
        + " the blocks is not counted. freed: one close at a time, from the call to the block's"
        + " real end. rate: closes per second, making and freeing included, until all are freed."
        + " readers: sections per second of all readers while a thousand blocks per second are"
        + " closed. idle: that many more platform threads that have read once and sleep. Readers"
        + " of an arena that lose the race get an exception, clear the interrupt that comes with it,"
        + " and look again.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (String measure : List.of("closer", "freed", "rate")) {
      Measure unit = measure.equals("rate") ? Measure.rate("closes") : Measure.NS;
      for (int readers : List.of(1, 2)) {
        if (readers == 1 || measure.equals("closer") || !plan.quick()) {
          cells.add(cell(plan, unit, Params.of("measure", measure, "readers", readers, "idle", 0)));
        }
      }
      if (measure.equals("closer") || !plan.quick()) {
        cells.add(cell(plan, unit, Params.of("measure", measure, "readers", 1, "idle", 1000)));
      }
    }
    for (int accesses : List.of(1, 16, 1000)) {
      for (int readers : plan.quick() ? List.of(1) : List.of(1, 2)) {
        cells.add(
            cell(
                plan,
                Measure.rate("sections"),
                Params.of(
                    "measure", "readers", "readers", readers, "idle", 0, "accesses", accesses)));
      }
    }
    return cells;
  }

  private static Cell cell(Plan plan, Measure unit, Params params) {
    List<Contestant> contestants = new ArrayList<>();
    contestants.add(ours("quiesce guarded", "guarded", params));
    contestants.add(theirs("Arena.ofShared", "arena", params));
    contestants.add(ours("quiesce retire", "retire", params));
    contestants.add(theirs("ReentrantReadWriteLock", "rwlock", params));
    contestants.add(theirs("reference count", "refcount", params));
    List<Pair> pairs = new ArrayList<>();
    for (String subject : List.of("quiesce guarded", "quiesce retire")) {
      PEERS.forEach(peer -> pairs.add(new Pair(subject, peer)));
    }
    if (params.get("measure", "").equals("freed")) {
      contestants.add(ours("quiesce guarded waiting", "guarded-wait", params));
      PEERS.forEach(peer -> pairs.add(new Pair("quiesce guarded waiting", peer)));
    }
    return new Cell(params, unit, plan.round(100, 500), contestants, pairs);
  }

  private static Contestant ours(String subject, String way, Params params) {
    return Contestant.quiesce(subject, "close", params.with("way", way));
  }

  private static Contestant theirs(String subject, String way, Params params) {
    return Contestant.java(subject, "close", params.with("way", way));
  }
}
