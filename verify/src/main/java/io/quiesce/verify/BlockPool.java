package io.quiesce.verify;

import io.quiesce.linux.OffHeap;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that show when they are used after they were freed: a live block holds a pattern made from
 * a stamp that is never used twice, a free one 0x5b everywhere, and free blocks are used again at
 * once, last in first out. Memory is never given back, so that a fault shows as a wrong value and
 * not as a crash. Off-heap where there is native access, else in one array.
 */
final class BlockPool {
  static final int BLOCK_BYTES = 64;
  private static final int WORDS = BLOCK_BYTES / Long.BYTES;
  private static final long POISON = 0x5b5b5b5b5b5b5b5bL;
  private static final long STEP = 0x9e3779b97f4a7c15L;
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

  /** One life of one block: what is published. */
  record Block(long address, long stamp) {}

  private final int blocks;
  private final long base;
  private final long @Nullable [] heap;
  private final AtomicIntegerArray live;
  private final int[] free;
  private int freeCount;
  private final AtomicLong stamps = new AtomicLong();
  private final AtomicLong freed = new AtomicLong();

  BlockPool(int blocks) {
    this.blocks = blocks;
    if (OffHeap.isAvailable()) {
      base = OffHeap.allocate((long) blocks * BLOCK_BYTES, BLOCK_BYTES);
      heap = null;
    } else {
      base = BLOCK_BYTES; // so that no address is 0
      heap = new long[blocks * WORDS];
    }
    live = new AtomicIntegerArray(blocks);
    free = new int[blocks];
    for (int i = 0; i < blocks; i++) {
      fill(address(i), 0, true);
      free[freeCount++] = i;
    }
  }

  boolean isOffHeap() {
    return heap == null;
  }

  private long address(int index) {
    return base + (long) index * BLOCK_BYTES;
  }

  private long get(long address) {
    long[] words = heap;
    return words == null
        ? OffHeap.getLongOpaque(address)
        : (long) ELEMENT.getOpaque(words, (int) ((address - base) >> 3));
  }

  private void set(long address, long value) {
    long[] words = heap;
    if (words == null) {
      OffHeap.setLongOpaque(address, value);
    } else {
      ELEMENT.setOpaque(words, (int) ((address - base) >> 3), value);
    }
  }

  private void fill(long address, long stamp, boolean poison) {
    for (int i = 0; i < WORDS; i++) {
      set(address + i * 8L, poison ? POISON : stamp + i * STEP);
    }
  }

  /** A live block, or null if all are in use or waiting for their grace period. */
  @Nullable Block allocate() {
    int index;
    synchronized (free) {
      if (freeCount == 0) {
        return null;
      }
      index = free[--freeCount];
    }
    long stamp = stamps.incrementAndGet();
    live.set(index, 1);
    fill(address(index), stamp, false);
    return new Block(address(index), stamp);
  }

  /** Poisons a block and makes it free; throws if it was free. */
  void free(long address) {
    int index = (int) ((address - base) / BLOCK_BYTES);
    if (!live.compareAndSet(index, 1, 0)) {
      throw new TortureFailure("block " + index + " was reclaimed twice");
    }
    fill(address, 0, true);
    freed.incrementAndGet();
    synchronized (free) {
      free[freeCount++] = index;
    }
  }

  /** Throws unless every word of the block is what its stamp says. */
  void check(Block block) {
    for (int i = 0; i < WORDS; i++) {
      long seen = get(block.address() + i * 8L);
      if (seen != block.stamp() + i * STEP) {
        throw new TortureFailure(
            "use of freed memory: word "
                + i
                + " of block "
                + (block.address() - base) / BLOCK_BYTES
                + " is "
                + (seen == POISON ? "poison" : "of another life, 0x" + Long.toHexString(seen))
                + " inside a read section");
      }
    }
  }

  long allocated() {
    return stamps.get();
  }

  long freed() {
    return freed.get();
  }

  /** Gives the memory back; throws if a block is still live. */
  void close() {
    int left = 0;
    for (int i = 0; i < blocks; i++) {
      left += live.get(i);
    }
    if (left != 0 || allocated() != freed()) {
      throw new TortureFailure(
          left + " blocks were never reclaimed: " + allocated() + " made, " + freed() + " freed");
    }
    if (heap == null) {
      OffHeap.free(base);
    }
  }
}
