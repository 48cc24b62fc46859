package io.quiesce.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;

/** Allocators that are closed while threads use them; every one must stop with its exception. */
final class CloseRaceMain {
  private static final int ROUNDS = 60;
  private static final int THREADS = 4;

  private CloseRaceMain() {}

  public static void main(String[] args) throws InterruptedException {
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      PerCpuAllocator allocator = PerCpuAllocator.create("round");
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        SplittableRandom random = new SplittableRandom(round * 10L + t);
        threads.add(
            (t % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual())
                .start(
                    () -> {
                      try {
                        use(allocator, random);
                      } catch (IllegalStateException expected) {
                        if (!String.valueOf(expected.getMessage()).contains("closed")) {
                          wrong.set(expected);
                        }
                      } catch (Throwable thrown) {
                        wrong.set(thrown);
                      }
                    }));
      }
      Thread.sleep(1 + round % 4);
      allocator.close();
      for (Thread thread : threads) {
        thread.join();
      }
      refused += THREADS;
    }
    Throwable found = wrong.get();
    if (found != null) {
      found.printStackTrace();
    }
    System.out.println(found == null ? "refused " + refused : "wrong " + found);
  }

  /** Until it throws. No block is touched but by the allocator itself. */
  private static void use(PerCpuAllocator allocator, SplittableRandom random) {
    List<Long> blocks = new ArrayList<>();
    while (true) {
      if (blocks.size() > 50) {
        allocator.freeRaw(blocks.remove(random.nextInt(blocks.size())));
      }
      switch (random.nextInt(10)) {
        case 0, 1 -> blocks.add(allocator.allocateRawZeroed(random.nextInt(30_000)));
        case 2 -> blocks.add(allocator.allocateRawZeroed(random.nextInt(900_000)));
        case 3 -> blocks.add(allocator.allocateRaw(2_000_000));
        case 4 -> blocks.add(allocator.allocateRaw(random.nextInt(30_000), 256));
        case 5 -> {
          if (random.nextInt(20) == 0) {
            allocator.trim();
          }
        }
        case 6 -> {
          if (!blocks.isEmpty()) {
            allocator.usableSize(blocks.getLast());
          }
        }
        case 7 -> {
          long block = allocator.allocateRaw(random.nextInt(30_000));
          blocks.add(allocator.reallocateRaw(block, random.nextInt(30_000)));
        }
        case 8 -> {
          long block = allocator.allocateRaw(1_100_000 + random.nextInt(2_000_000));
          blocks.add(allocator.reallocateRaw(block, 4_000_000 + random.nextInt(1_000_000)));
        }
        default -> allocator.statistics();
      }
    }
  }
}
