package io.quiesce.bench.experiments;

import static io.quiesce.bench.Contestant.java;
import static io.quiesce.bench.Contestant.nativePeer;
import static io.quiesce.bench.Contestant.quiesce;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.util.List;

/** What a read section costs. */
public final class RcuRead implements Experiment {
  private static final List<Pair> PAIRS =
      List.of(
          new Pair("quiesce membarrier implicit", "liburcu bp"),
          new Pair("quiesce membarrier implicit", "liburcu memb"),
          new Pair("quiesce membarrier implicit", "ReentrantReadWriteLock"),
          new Pair("quiesce membarrier implicit", "StampedLock read"),
          new Pair("quiesce membarrier implicit", "StampedLock optimistic"),
          new Pair("quiesce membarrier implicit", "reference count"),
          new Pair("quiesce membarrier implicit", "WriterReaderPhaser"),
          new Pair("quiesce membarrier implicit", "bare dereference"),
          new Pair("quiesce membarrier explicit", "liburcu memb"),
          new Pair("quiesce membarrier explicit", "bare dereference"),
          new Pair("quiesce membarrier virtual", "ReentrantReadWriteLock"),
          new Pair("quiesce membarrier virtual", "reference count"),
          new Pair("quiesce fenced", "liburcu mb"),
          new Pair("quiesce fenced", "liburcu mb, locked add"),
          new Pair("quiesce qsbr", "liburcu qsbr"),
          new Pair("quiesce qsbr", "bare dereference"),
          new Pair("quiesce implicit RcuRef", "liburcu bp"),
          new Pair("quiesce qsbr RcuRef", "liburcu qsbr"),
          new Pair("quiesce qsbr RcuRef", "bare dereference"),
          new Pair("quiesce sleepable", "ReentrantReadWriteLock"),
          new Pair("quiesce sleepable", "reference count"),
          new Pair("quiesce guarded", "ReentrantReadWriteLock"),
          new Pair("quiesce guarded", "reference count"));

  /** For the list of experiments. */
  public RcuRead() {}

  @Override
  public String name() {
    return "rcu.read";
  }

  @Override
  public String title() {
    return "What does a read section cost?";
  }

  @Override
  public String method() {
    return "Each thread opens a section, reads one word behind a typed reference and closes the"
        + " section,"
        + " 1,024 times between two looks at the stop flag. Counted is wall time from the first"
        + " thread's start to the last one's end, times threads, over all sections. qsbr readers"
        + " are online throughout and announce a quiescent state every 1,024 reads, here and in"
        + " liburcu, whose read side is inlined. RcuRef rows follow an RcuRef, which checks the"
        + " section and casts. Nobody updates meanwhile. The bare dereference is"
        + " the same loop without sections: the floor. liburcu's mb fences with mfence up to 0.15.4,"
        + " the row with the locked add does as later ones do. An optimistic StampedLock read can"
        + " protect"
        + " nothing that is freed; it is here for its cost.";
  }

  @Override
  public List<Cell> cells(Plan plan) {
    return plan.threadsOr(1, 2).stream().map(threads -> cell(plan, threads)).toList();
  }

  private static Cell cell(Plan plan, int threads) {
    Params params = Params.of("threads", threads);
    return new Cell(
        params,
        Measure.NS,
        plan.round(100, 500),
        List.of(
            ours("quiesce membarrier explicit", "explicit", params),
            peer("liburcu memb", "urcu-memb", params),
            ours("quiesce membarrier implicit", "implicit", params),
            peer("liburcu bp", "urcu-bp", params),
            ours("quiesce qsbr", "qsbr", params),
            peer("liburcu qsbr", "urcu-qsbr", params),
            ours("quiesce implicit RcuRef", "implicit-ref", params),
            ours("quiesce qsbr RcuRef", "qsbr-ref", params),
            theirs("bare dereference", "bare", params),
            ours("quiesce fenced", "fenced", params),
            peer("liburcu mb", "urcu-mb", params),
            peer("liburcu mb, locked add", "urcu-mb-locked", params),
            ours("quiesce sleepable", "sleepable", params),
            ours("quiesce membarrier virtual", "virtual", params),
            ours("quiesce guarded", "guarded", params),
            theirs("ReentrantReadWriteLock", "rwlock", params),
            theirs("StampedLock read", "stamped-read", params),
            theirs("StampedLock optimistic", "stamped-optimistic", params),
            theirs("reference count", "refcount", params),
            theirs("WriterReaderPhaser", "phaser", params),
            peer("pthread rwlock", "pthread-rwlock", params)),
        PAIRS);
  }

  private static Contestant ours(String subject, String reader, Params params) {
    return quiesce(subject, "read", params.with("reader", reader));
  }

  private static Contestant theirs(String subject, String reader, Params params) {
    return java(subject, "read", params.with("reader", reader));
  }

  private static Contestant peer(String subject, String program, Params params) {
    return nativePeer(subject, program, params.with("section", "full"));
  }
}
