package io.quiesce.examples;

import io.quiesce.linux.OffHeap;
import io.quiesce.memory.PerCpuAllocator;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Messages in off-heap blocks that one thread allocates and another frees, under a limit. The block
 * goes to the cache of the CPU that frees it, and batches of blocks find their way back.
 *
 * <pre>
 * 100000 messages, 0 damaged, 0 bytes in use at the end
 * </pre>
 */
public final class MessageBlocks {
  private static final int MESSAGES = 100_000;
  private static final long LIMIT = 64L << 20;

  private MessageBlocks() {}

  /** A message: its number, and as many copies of it as the number says. */
  private static long write(PerCpuAllocator allocator, int number) {
    long words = 1L + number % 100;
    long block = allocator.allocateRaw((1 + words) * Long.BYTES);
    OffHeap.putLong(block, words);
    for (long i = 1; i <= words; i++) {
      OffHeap.putLong(block + i * Long.BYTES, number);
    }
    return block;
  }

  private static boolean isWhole(long block, int number) {
    long words = OffHeap.getLong(block);
    boolean whole = words == 1L + number % 100;
    for (long i = 1; whole && i <= words; i++) {
      whole = OffHeap.getLong(block + i * Long.BYTES) == number;
    }
    return whole;
  }

  /**
   * Runs it.
   *
   * @param args none
   * @throws Exception if interrupted
   */
  public static void main(String[] args) throws Exception {
    try (PerCpuAllocator allocator =
        PerCpuAllocator.builder().name("messages").limit(LIMIT).build()) {
      BlockingQueue<Long> queue = new ArrayBlockingQueue<>(256);
      int[] damaged = new int[1];
      Thread consumer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < MESSAGES; i++) {
                        long block = queue.take();
                        if (!isWhole(block, i)) {
                          damaged[0]++;
                        }
                        allocator.freeRaw(block); // allocated by another thread
                      }
                    } catch (InterruptedException stop) {
                      Thread.currentThread().interrupt();
                    }
                  });
      for (int i = 0; i < MESSAGES; i++) {
        queue.put(write(allocator, i));
      }
      consumer.join();
      long inUse = allocator.statistics().inUseBytes();
      System.out.printf(
          "%d messages, %d damaged, %d bytes in use at the end%n", MESSAGES, damaged[0], inUse);
      if (damaged[0] != 0 || inUse != 0) {
        throw new IllegalStateException("a message was damaged or not freed");
      }
    }
  }
}
