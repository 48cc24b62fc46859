package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import io.quiesce.memory.RcuArena;
import io.quiesce.rcu.Rcu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * {@code rcu.arena}: {@code pair} and {@code pair-rate} make an arena, allocate 64 bytes and close
 * it; {@code scan} walks over an open arena while another thread closes unrelated ones.
 */
public final class ArenaSubject implements Subject {
  /** Pairs between two waits for the freeing, so that memory is bounded. */
  private static final int SETTLE = 1_000;

  private final Rcu rcu = Rcu.create("arena");
  private boolean quiesce;
  private String measure = "pair";
  private int closesPerSecond;
  private long bytes;
  private Samples[] samples = {};
  private long[] done = {};
  private Team team = Team.ofPlatformThreads(0, index -> {});
  private MemorySegment scanned = MemorySegment.NULL;
  private @Nullable RcuArena open;

  /** For the host. */
  public ArenaSubject() {}

  @Override
  public void setUp(Params params) {
    if (!OffHeap.isAvailable()) {
      throw new UnavailableException(Platform.reason("native"));
    }
    quiesce = params.get("way", "").equals("quiesce");
    measure = params.get("measure", measure);
    closesPerSecond = params.get("closes", 0);
    bytes = params.get("bytes", 10_240);
    int threads = params.get("threads", 1);
    done = new long[threads * 16];
    samples = new Samples[threads];
    for (int i = 0; i < threads; i++) {
      samples[i] = new Samples(measure.equals("scan") ? 1 << 18 : 1 << 14);
    }
    switch (measure) {
      case "pair" -> team = Team.ofPlatformThreads(threads, this::timePairs);
      case "pair-rate" -> team = Team.ofPlatformThreads(threads, this::countPairs);
      case "scan" -> {
        scanned = scannedMemory();
        team = Team.ofPlatformThreads(1, index -> disturb());
      }
      default -> throw new IllegalArgumentException("no measure is called '" + measure + "'");
    }
  }

  /** Never closed: it is read by a thread that has nothing to do with what is closed. */
  @SuppressWarnings("MustBeClosed") // see above; the process ends with the experiment
  private MemorySegment scannedMemory() {
    Arena arena = quiesce ? RcuArena.create(rcu) : Arena.ofShared();
    open = arena instanceof RcuArena ours ? ours : null;
    return arena.allocate(bytes, 64).fill((byte) 1);
  }

  private void pair() {
    try (Arena arena = quiesce ? RcuArena.create(rcu) : Arena.ofShared()) {
      arena.allocate(64, 8).set(ValueLayout.JAVA_LONG, 0, 1);
    }
  }

  private void timePairs(int index) {
    Samples mine = samples[index];
    mine.clear();
    team.running();
    do {
      for (int i = 0; i < 64; i++) {
        long from = System.nanoTime();
        pair();
        mine.add(System.nanoTime() - from);
      }
      LockSupport.parkNanos(1_000_000);
    } while (!team.stopped());
  }

  private void countPairs(int index) {
    long pairs = 0;
    team.running();
    do {
      for (int i = 0; i < SETTLE && (i % 16 != 0 || !team.stopped()); i++) {
        pair();
        pairs++;
      }
      rcu.barrier();
    } while (!team.stopped());
    done[index * 16] = pairs;
  }

  private void disturb() {
    team.running();
    do {
      if (closesPerSecond > 0) {
        pair();
        LockSupport.parkNanos(1_000_000_000L / closesPerSecond);
      } else {
        LockSupport.parkNanos(1_000_000);
      }
    } while (!team.stopped());
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    team.begin();
    team.awaitRunning();
    long from = System.nanoTime();
    Map<String, Double> result = new LinkedHashMap<>();
    if (measure.equals("scan")) {
      scan(samples[0], from + time.toNanos());
      team.end();
      Map<String, Double> scans = samples[0].result();
      result.put("ns", scans.getOrDefault("mean", 0.0));
      result.put("p99", scans.getOrDefault("p99", 0.0));
      return result;
    }
    LockSupport.parkNanos(time.toNanos());
    team.end();
    long to = System.nanoTime();
    rcu.barrier();
    if (measure.equals("pair")) {
      return merged();
    }
    long pairs = 0;
    for (int i = 0; i < done.length; i += 16) {
      pairs += done[i];
    }
    result.put("rate", pairs * 1e9 / (to - from));
    return result;
  }

  private Map<String, Double> merged() {
    Samples all = samples[0];
    if (samples.length > 1) {
      all = new Samples(1 << 17);
      all.clear();
      for (Samples each : samples) {
        each.forEach(all::add);
      }
    }
    return all.result();
  }

  /** Scan after scan: a stall between two of them is in the second one's time. */
  private void scan(Samples times, long until) {
    times.clear();
    long from = System.nanoTime();
    do {
      long sum = quiesce ? guardedSum() : sum(scanned);
      if (sum != bytes) {
        throw new IllegalStateException("a scan added up to " + sum);
      }
      long now = System.nanoTime();
      times.add(now - from);
      from = now;
    } while (from - until < 0);
  }

  private long guardedSum() {
    try (RcuArena.Access _ = Objects.requireNonNull(open).read()) {
      return sum(scanned);
    }
  }

  private static long sum(MemorySegment segment) {
    long sum = 0;
    for (long i = 0; i < segment.byteSize(); i++) {
      sum += segment.get(ValueLayout.JAVA_BYTE, i);
    }
    return sum;
  }
}
