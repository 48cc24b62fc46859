package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * {@code alloc.pair}: threads that allocate and free 64 bytes, one block at a time or 32 blocks and
 * then their frees; an operation is one block's allocation and free. {@code ns} as {@link Marks}
 * says.
 */
public final class PairSubject implements Subject {
  private static final int BYTES = 64;

  private int atOnce = 1;
  private Bins.@Nullable Heap heap;
  private Marks marks = new Marks(0);
  private Team team = Team.ofPlatformThreads(0, index -> {});

  /** For the host. */
  public PairSubject() {}

  @Override
  public void setUp(Params params) {
    int threads = params.get("threads", 1);
    heap = Heaps.of(params.get("allocator", ""));
    atOnce = params.get("measure", "pair").equals("batch") ? 32 : 1;
    marks = new Marks(threads);
    team = Team.ofPlatformThreads(threads, this::pairs);
  }

  private void pairs(int index) {
    Bins.Heap shared = heap;
    if (shared == null) {
      throw new IllegalStateException("not set up");
    }
    Bins bins = shared.newBins(atOnce);
    long batches = 0;
    long start = System.nanoTime();
    do {
      if (atOnce == 1) {
        single(bins);
      } else {
        groups(bins);
      }
      batches++;
    } while (!team.stopped());
    marks.set(index, start, System.nanoTime(), batches * Team.BATCH);
  }

  private static void single(Bins bins) {
    for (int i = 0; i < Team.BATCH; i++) {
      bins.allocate(0, BYTES);
      bins.free(0);
    }
  }

  private void groups(Bins bins) {
    for (int i = 0; i < Team.BATCH; i += atOnce) {
      for (int slot = 0; slot < atOnce; slot++) {
        bins.allocate(slot, BYTES);
      }
      for (int slot = 0; slot < atOnce; slot++) {
        bins.free(slot);
      }
    }
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    long until = System.nanoTime() + time.toNanos();
    team.begin();
    for (long left = time.toNanos(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    team.end();
    return Map.of("ns", marks.ns());
  }
}
