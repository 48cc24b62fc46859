package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.CpuSet;
import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.Membarrier;
import io.quiesce.linux.Platform;
import io.quiesce.linux.Rseq;
import io.quiesce.rcu.Rcu;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * {@code barrier.cost}: each process-wide barrier timed on its own, beside siblings that compute
 * without a pause. Also the disturber of {@code barrier.bystander}, which adds grace periods.
 */
public final class BarrierSubject implements Subject {
  private final Samples samples = new Samples(1 << 20);
  private AtomicIntegerArray cpus = new AtomicIntegerArray(0);
  private Team siblings = Team.ofPlatformThreads(0, index -> {});
  private Runnable barrier = () -> {};

  /** For the host. */
  public BarrierSubject() {}

  @Override
  public void setUp(Params params) {
    int count = params.get("siblings", 0);
    barrier = strategy(params.get("strategy", "private"));
    cpus = new AtomicIntegerArray(Math.max(1, count));
    cpus.set(0, nextCpu());
    siblings = Team.ofPlatformThreads(count, this::spin);
  }

  /** The barrier that a name stands for. */
  private Runnable strategy(String name) {
    return switch (name) {
      case "private" -> {
        need(Membarrier.isAvailable(), "membarrier");
        yield Membarrier::fence;
      }
      case "rseq" -> {
        need(Membarrier.isRseqAvailable(), "membarrier-rseq");
        yield Membarrier::fenceRseq;
      }
      case "rseq-cpu" -> {
        need(Membarrier.isRseqAvailable(), "membarrier-rseq");
        yield () -> Membarrier.fenceCpu(cpus.get(0));
      }
      case "single" -> {
        need(Membarrier.isRseqAvailable(), "membarrier-rseq");
        yield this::singleTargets;
      }
      case "adaptive" -> {
        need(Membarrier.isRseqAvailable(), "membarrier-rseq");
        yield () -> Membarrier.fenceCpus(targets());
      }
      case "global" -> {
        need(Membarrier.isAvailable(), "membarrier");
        if ((Membarrier.query() & Membarrier.GLOBAL) == 0) {
          throw new UnavailableException(
              "This kernel offers no global barrier; boot without nohz_full.");
        }
        yield Membarrier::global;
      }
      case "affinity" -> {
        if (!CpuAffinity.isAvailable()) {
          throw new UnavailableException("Affinity cannot be set: " + Platform.reason("linux"));
        }
        yield hop(CpuAffinity.get());
      }
      case "synchronize" -> Rcu.create("disturber")::synchronize;
      case "batched" -> batched(Rcu.create("disturber"));
      default -> throw new IllegalArgumentException("no strategy is called '" + name + "'");
    };
  }

  private static void need(boolean available, String facility) {
    if (!available) {
      throw new UnavailableException(Platform.reason(facility));
    }
  }

  private void singleTargets() {
    for (int i = 0; i < cpus.length(); i++) {
      Membarrier.fenceCpu(cpus.get(i));
    }
  }

  private CpuSet targets() {
    int[] list = new int[cpus.length()];
    for (int i = 0; i < list.length; i++) {
      list[i] = cpus.get(i);
    }
    return CpuSet.of(list);
  }

  private static Runnable hop(CpuSet allowed) {
    int[] list = allowed.toArray();
    return () -> {
      for (int cpu : list) {
        CpuAffinity.pinTo(cpu);
      }
      CpuAffinity.set(allowed);
    };
  }

  /** What one does instead of looping on a barrier: 1,000 updates share grace periods. */
  private static Runnable batched(Rcu rcu) {
    return () -> {
      for (int i = 0; i < 1000; i++) {
        rcu.call(() -> {});
      }
      rcu.barrier();
    };
  }

  private static int nextCpu() {
    int own = Rseq.isAvailable() ? Rseq.cpu() : 0;
    int[] online = CpuTopology.online().toArray();
    for (int cpu : online) {
      if (cpu > own) {
        return cpu;
      }
    }
    return online[0];
  }

  private void spin(int index) {
    long sum = 0;
    siblings.running();
    boolean knows = Rseq.isAvailable();
    do {
      for (int i = 0; i < Team.BATCH; i++) {
        sum += sum >>> 3 ^ i;
      }
      if (knows) {
        int cpu = Rseq.cpu();
        if (cpus.get(index) != cpu) {
          cpus.set(index, cpu);
        }
      }
    } while (!siblings.stopped());
    Sink.take(sum);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    samples.clear();
    siblings.begin();
    siblings.awaitRunning();
    long from;
    long to = System.nanoTime();
    long until = to + time.toNanos();
    do {
      from = to;
      barrier.run();
      to = System.nanoTime();
      samples.add(to - from);
    } while (to < until);
    siblings.end();
    return samples.result();
  }
}
