package io.quiesce.percpu;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.Membarrier;
import io.quiesce.linux.OffHeap;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs threads that restart sequences in every way there is: fences from one thread, changes of the
 * CPU, yields and sleeps between operations.
 */
final class Chaos {
  interface Body {
    void run(int thread, SplittableRandom random) throws Exception;
  }

  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicBoolean stop = new AtomicBoolean();

  /** Runs the body in so many threads at once, with a hammer beside them, and waits. */
  static void run(int threads, Body body) throws Exception {
    Chaos chaos = new Chaos();
    Thread hammer = chaos.hammer();
    for (int t = 0; t < threads; t++) {
      int number = t;
      chaos.threads.add(
          Thread.ofPlatform()
              .daemon()
              .start(() -> chaos.guard(() -> body.run(number, new SplittableRandom(number + 7)))));
    }
    for (Thread thread : chaos.threads) {
      thread.join(60_000);
      if (thread.isAlive()) {
        throw new AssertionError("hangs: " + List.of(thread.getStackTrace()));
      }
    }
    chaos.stop.set(true);
    hammer.join();
    if (chaos.failure.get() != null) {
      throw new AssertionError(chaos.failure.get());
    }
  }

  private interface Part {
    void run() throws Exception;
  }

  private void guard(Part part) {
    try {
      part.run();
    } catch (Throwable t) {
      failure.compareAndSet(null, t);
    }
  }

  private Thread hammer() {
    return Thread.ofPlatform()
        .daemon()
        .start(
            () ->
                guard(
                    () -> {
                      while (!stop.get()) {
                        if (Membarrier.isRseqAvailable()) {
                          Membarrier.fenceRseq();
                        }
                        Thread.yield();
                      }
                    }));
  }

  /** Now and then something that takes time, or the thread to another CPU. */
  static void delay(SplittableRandom random) throws InterruptedException {
    int dice = random.nextInt(2_000);
    if (dice == 0) {
      Thread.sleep(0, 50_000);
    } else if (dice < 20) {
      Thread.yield();
    } else if (dice < 200) {
      Thread.onSpinWait();
    } else if (dice < 205 && OffHeap.isAvailable() && !Thread.currentThread().isVirtual()) {
      int[] cpus = Allowed.CPUS;
      CpuAffinity.pinTo(cpus[random.nextInt(cpus.length)]);
    }
  }

  private static final class Allowed {
    static final int[] CPUS = CpuAffinity.get().toArray();
  }
}
