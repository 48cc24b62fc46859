package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.rcu.Rcu;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/** {@code rcu.synchronize}: each grace period timed on its own, beside readers without a pause. */
public final class SynchronizeSubject implements Subject {
  private final Samples samples = new Samples(1 << 20);
  private Rcu rcu = Rcu.shared();
  private boolean expedited;
  private Team readers = Team.ofPlatformThreads(0, index -> {});

  /** For the host. */
  public SynchronizeSubject() {}

  @Override
  public void setUp(Params params) {
    Rcu.Flavour flavour =
        Rcu.Flavour.valueOf(params.get("flavour", "membarrier").toUpperCase(Locale.ROOT));
    expedited = params.get("expedited", 0) == 1;
    rcu = Rcu.builder("synchronize").flavour(flavour).build();
    if (flavour != Rcu.Flavour.SLEEPABLE) {
      rcu.reader(); // the caller is registered, as in the native peer
    }
    ReadLoop.Factory loops =
        flavour == Rcu.Flavour.QSBR ? ReadLoops.qsbr(rcu) : ReadLoops.implicit(rcu);
    readers = Team.ofPlatformThreads(params.get("readers", 0), index -> disturb(loops.newLoop()));
  }

  private void disturb(ReadLoop loop) {
    long sum = 0;
    loop.begin();
    readers.running();
    do {
      sum += loop.batch();
      loop.betweenBatches();
    } while (!readers.stopped());
    loop.end();
    Sink.take(sum);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    samples.clear();
    readers.begin();
    readers.awaitRunning();
    long from;
    long to = System.nanoTime();
    long until = to + time.toNanos();
    do {
      from = to;
      if (expedited) {
        rcu.synchronizeExpedited();
      } else {
        rcu.synchronize();
      }
      to = System.nanoTime();
      samples.add(to - from);
    } while (to < until);
    readers.end();
    return samples.result();
  }
}
