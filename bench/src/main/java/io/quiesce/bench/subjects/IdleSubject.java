package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * {@code alloc.idle}: many threads that do nothing most of the time. One in sixteen works at a
 * time: it allocates 64 blocks of 16 to 4,096 bytes, touches them and frees them, a few times; then
 * the next sixteenth has its turn. {@code rate} is such bursts in a second of CPU time, {@code rss}
 * the peak of {@link Resident} memory.
 */
public final class IdleSubject implements Subject {
  private static final int GROUPS = 16;
  private static final int BLOCKS = 64;
  private static final int BURSTS = 8;
  private static final int PAGE = 4096;

  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private @Nullable Resident resident;
  private volatile Bins.@Nullable Heap heap;
  private Semaphore[] gates = new Semaphore[0];
  private volatile CountDownLatch working = new CountDownLatch(0);
  private int turn;

  /** For the host. */
  public IdleSubject() {}

  @Override
  public void setUp(Params params) throws Exception {
    gates = new Semaphore[params.get("threads", 500)];
    CountDownLatch born = new CountDownLatch(gates.length);
    for (int i = 0; i < gates.length; i++) {
      Semaphore gate = new Semaphore(0);
      gates[i] = gate;
      int seed = i;
      Thread.ofPlatform()
          .daemon()
          .name("idle-" + i)
          .stackSize(256 << 10)
          .start(
              () -> {
                born.countDown();
                gate.acquireUninterruptibly();
                live(gate, new SplittableRandom(seed));
              });
    }
    born.await();
    Thread.sleep(100); // until they sleep
    resident = new Resident(); // stacks are there, nothing is allocated
    heap = Heaps.of(params.get("allocator", ""));
  }

  private void live(Semaphore gate, SplittableRandom random) {
    Bins.Heap shared = heap;
    if (shared == null) {
      throw new IllegalStateException("not set up");
    }
    Bins bins = shared.newBins(BLOCKS);
    while (true) {
      try {
        for (int i = 0; i < BURSTS; i++) {
          burst(bins, random);
        }
      } catch (Throwable t) { // an Error too: somebody waits
        failure.compareAndSet(null, t);
      }
      working.countDown();
      gate.acquireUninterruptibly();
    }
  }

  /** At least one byte in each page of a block is written: it is resident. */
  private static void burst(Bins bins, SplittableRandom random) {
    for (int slot = 0; slot < BLOCKS; slot++) {
      int bytes = 16 << random.nextInt(8);
      bytes += random.nextInt(bytes);
      bytes = Math.min(bytes, PAGE);
      bins.allocate(slot, bytes);
      bins.put(slot, 0, (byte) slot);
      bins.put(slot, bytes - 1, (byte) slot);
    }
    for (int slot = 0; slot < BLOCKS; slot++) {
      if (bins.get(slot, 0) != slot) {
        throw new IllegalStateException("a block was overwritten");
      }
      bins.free(slot);
    }
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    Resident memory = resident;
    if (memory == null) {
      throw new IllegalStateException("not set up");
    }
    memory.resetPeak();
    long cpu = CpuTime.nanos();
    long until = System.nanoTime() + time.toNanos();
    long bursts = 0;
    do {
      int group = turn++ % GROUPS;
      int members = (gates.length - group + GROUPS - 1) / GROUPS;
      CountDownLatch latch = new CountDownLatch(members);
      working = latch;
      for (int i = group; i < gates.length; i += GROUPS) {
        gates[i].release();
      }
      latch.await();
      bursts += (long) members * BURSTS;
    } while (System.nanoTime() < until || turn % GROUPS != 0); // everybody had a turn
    Throwable thrown = failure.getAndSet(null);
    if (thrown != null) {
      throw new IllegalStateException("a thread failed: " + thrown, thrown);
    }
    Map<String, Double> result = new LinkedHashMap<>();
    result.put("rate", bursts * 1e9 / Math.max(1, CpuTime.nanos() - cpu));
    result.put("rss", memory.peak());
    result.put("rest", memory.now());
    return result;
  }
}
