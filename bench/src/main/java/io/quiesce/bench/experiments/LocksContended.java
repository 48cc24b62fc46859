package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import io.quiesce.bench.subjects.BusyWork;
import java.util.ArrayList;
import java.util.List;

/** What a lock does when many want it. */
public final class LocksContended implements Experiment {
  /** Enough to see the shape in a minute or two. */
  private static final List<String> SOME =
      List.of(
          LockPeers.NMCS,
          LockPeers.UNFAIR,
          LockPeers.MCS,
          LockPeers.FAIR,
          LockPeers.CK_MCS,
          LockPeers.MONITOR,
          LockPeers.MUTEX);

  private static final List<String> SOME_WAITING =
      List.of(LockPeers.NMCS, LockPeers.UNFAIR, LockPeers.MCS, LockPeers.MONITOR, LockPeers.MUTEX);

  private static final List<Pair> RATES =
      List.of(
          new Pair(LockPeers.NMCS, LockPeers.UNFAIR),
          new Pair(LockPeers.NMCS, LockPeers.MONITOR),
          new Pair(LockPeers.NMCS, LockPeers.STAMPED),
          new Pair(LockPeers.NMCS, LockPeers.MUTEX),
          new Pair(LockPeers.NMCS, LockPeers.CK_MCS),
          new Pair(LockPeers.MCS, LockPeers.FAIR),
          new Pair(LockPeers.MCS, LockPeers.UNFAIR),
          new Pair(LockPeers.MCS, LockPeers.CK_MCS),
          new Pair(LockPeers.MCS, LockPeers.NMCS_2002),
          new Pair(LockPeers.CLH, LockPeers.FAIR),
          new Pair(LockPeers.CLH, LockPeers.CK_CLH),
          new Pair(LockPeers.TICKET, LockPeers.CK_TICKET),
          new Pair(LockPeers.SPIN, LockPeers.PTHREAD_SPIN));

  /** Who is as even as whom: unfair locks are not compared with unfair ones. */
  private static final List<Pair> FAIRNESS =
      List.of(
          new Pair(LockPeers.MCS, LockPeers.UNFAIR),
          new Pair(LockPeers.MCS, LockPeers.MONITOR),
          new Pair(LockPeers.CLH, LockPeers.UNFAIR));

  private static final List<Pair> WAITS =
      List.of(
          new Pair(LockPeers.NMCS, LockPeers.UNFAIR),
          new Pair(LockPeers.NMCS, LockPeers.MONITOR),
          new Pair(LockPeers.NMCS, LockPeers.STAMPED),
          new Pair(LockPeers.NMCS, LockPeers.MUTEX),
          new Pair(LockPeers.MCS, LockPeers.UNFAIR),
          new Pair(LockPeers.CLH, LockPeers.UNFAIR));

  /** For the list of experiments. */
  public LocksContended() {}

  @Override
  public String name() {
    return "locks.contended";
  }

  @Override
  public String title() {
    return "What does a lock do when many threads want it?";
  }

  @Override
  public String method() {
    return "All threads take one lock again and again. Inside they work for cs ns: a chain of"
        + " xorshift steps on a word that the lock guards, whose number is found once for a run and"
        + " told to all subjects, in Java and C. Outside they work two steps (about 4 ns) on a word"
        + " of their own and look at the stop flag; nothing else, so the lock is always wanted."
        + " The first 20 ms and 2 ms for each thread do not count: whoever comes first has the lock"
        + " alone, and a queue is fast until it is full."
        + " throughput: sections per second, from then to the last thread's end; a lock that hands"
        + " over to threads that do not run prolongs the round."
        + " fairness: sections of the busiest thread over those of the idlest"
        + " one, of the same rounds. p999-wait, longest-wait: ns from before the call of lock to"
        + " after it, each call timed, in rounds of their own, since two looks at the clock cost"
        + " more than a short section; 99.9 % of a round's waits are no longer than the first, and"
        + " the figure is the median of the rounds, at least five. More threads than CPUs are"
        + " oversubscription: that is where queues that spin collapse, and it says nothing about"
        + " machines with as many CPUs.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (int cs : List.of(0, 50, 1000)) {
      for (int threads : plan.threadsOr(1, 2, 4, 8, 32)) {
        if (!plan.quick() || !plan.threads().isEmpty() || isQuick(threads, cs)) {
          cells.add(throughput(plan, threads, cs));
        }
      }
    }
    for (int cs : plan.quick() ? List.of(1000) : List.of(50, 1000)) {
      for (int threads : plan.quick() ? plan.threadsOr(8, 32) : plan.threadsOr(2, 8, 32)) {
        cells.add(waits(plan, threads, cs));
      }
    }
    return cells;
  }

  private static boolean isQuick(int threads, int cs) {
    return switch (cs) {
      case 0 -> false;
      case 50 -> threads == 2 || threads == 8;
      default -> threads == 2 || threads == 8 || threads == 32;
    };
  }

  private static List<String> subjects(Plan plan, List<String> some) {
    if (plan.quick()) {
      return some;
    }
    List<String> all = new ArrayList<>(LockPeers.EVERYBODY);
    all.add(LockPeers.NMCS_2002);
    all.add(LockPeers.MCS_SPIN);
    return all;
  }

  private static Cell throughput(Plan plan, int threads, int cs) {
    Params params = Params.of("threads", threads, "cs", cs);
    List<String> subjects = subjects(plan, SOME);
    Params launch =
        Params.of("threads", threads, "steps", BusyWork.steps(cs), "measure", "throughput");
    return new Cell(
        params.with("measure", "throughput"),
        Measure.rate("sections"),
        plan.round(150, 400),
        LockPeers.of("lock", launch, subjects),
        RATES,
        List.of(
            new Cell.View(
                params.with("measure", "fairness"),
                new Measure("fairness", "most/least", true),
                FAIRNESS)));
  }

  private static Cell waits(Plan plan, int threads, int cs) {
    Params params = Params.of("threads", threads, "cs", cs);
    Params launch = Params.of("threads", threads, "steps", BusyWork.steps(cs), "measure", "wait");
    return new Cell(
        params.with("measure", "p999-wait"),
        new Measure("p999", "ns", true),
        plan.round(400, 1000),
        LockPeers.of("lock", launch, subjects(plan, SOME_WAITING)),
        WAITS,
        List.of(
            new Cell.View(
                params.with("measure", "longest-wait"),
                new Measure("longest", "ns", true),
                WAITS)));
  }
}
