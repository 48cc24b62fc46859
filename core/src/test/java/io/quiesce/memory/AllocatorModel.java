package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import io.quiesce.percpu.PerCpuOps;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * An allocator against a map of what is live: blocks must be disjoint, large enough, aligned, keep
 * what was written to them, and be zero where zeros were asked for. Also a main class, for JVMs
 * whose flags choose the fallbacks.
 */
final class AllocatorModel {
  private record Block(long address, long size, long reserved, byte fill) {}

  private static final int MOST_LIVE = 600;

  private final PerCpuAllocator allocator;
  private final SplittableRandom random;
  private final TreeMap<Long, Block> live = new TreeMap<>();
  private final List<Long> addresses = new ArrayList<>();
  private byte next;

  AllocatorModel(PerCpuAllocator allocator, long seed) {
    this.allocator = allocator;
    this.random = new SplittableRandom(seed);
  }

  static void main(String[] args) throws InterruptedException {
    try (PerCpuAllocator allocator = PerCpuAllocator.create("model")) {
      AllocatorModel model = new AllocatorModel(allocator, 42);
      model.run(4_000);
      allocator.trim();
      AllocatorStatistics s = allocator.statistics();
      System.out.println(
          "rows "
              + PerCpuOps.rows()
              + " sequences "
              + PerCpuOps.isAvailable()
              + " in use "
              + s.inUseBytes()
              + " cached "
              + (PerCpuOps.canFence() ? s.cachedBytes() : 0)
              + " corrupt "
              + s.corruptFrees());
    }
  }

  /** So many steps, and everything freed at the end. */
  void run(int steps) throws InterruptedException {
    for (int i = 0; i < steps; i++) {
      step();
    }
    while (!addresses.isEmpty()) {
      free(false);
    }
  }

  private void step() throws InterruptedException {
    int dice = random.nextInt(1_000);
    if (addresses.size() > MOST_LIVE || dice < 380) {
      if (!addresses.isEmpty()) {
        free(false);
      }
    } else if (dice < 400) {
      free(true);
    } else if (dice < 480 && !addresses.isEmpty()) {
      reallocate();
    } else if (dice < 484) {
      allocator.trim();
    } else {
      allocate(size());
    }
  }

  private long size() {
    int dice = random.nextInt(400);
    if (dice == 0) {
      return (1 << 20) + random.nextLong(1 << 20);
    }
    if (dice < 8) {
      return random.nextLong(1 << 20);
    }
    return random.nextLong((2L << random.nextInt(15)) + 1);
  }

  private void allocate(long size) {
    long alignment = random.nextInt(4) == 0 ? 1L << random.nextInt(21) : 1;
    boolean zeroed = random.nextInt(3) == 0;
    long address =
        zeroed
            ? allocator.allocateRawZeroed(size, alignment)
            : allocator.allocateRaw(size, alignment);
    check(address != 0 && address % Math.max(16, alignment) == 0, "aligned", address, size);
    if (zeroed) {
      all(address, size, (byte) 0, "zero");
    }
    add(address, size);
  }

  private void add(long address, long size) {
    long usable = allocator.usableSize(address);
    check(usable >= size, "large enough", address, size);
    long reserved = Math.max(1, usable);
    Map.Entry<Long, Block> below = live.floorEntry(address + reserved - 1);
    check(
        below == null || below.getKey() + below.getValue().reserved <= address,
        "disjoint from " + below,
        address,
        size);
    OffHeap.fill(address, usable, ++next); // all of it, so that the next owner finds no zeros
    live.put(address, new Block(address, size, reserved, next));
    addresses.add(address);
  }

  private Block remove() {
    int index = random.nextInt(addresses.size());
    long address = addresses.get(index);
    addresses.set(index, addresses.getLast());
    addresses.removeLast();
    Block block = Objects.requireNonNull(live.remove(address));
    all(block.address, block.reserved, block.fill, "unchanged");
    return block;
  }

  private void free(boolean elsewhere) throws InterruptedException {
    if (!elsewhere) {
      allocator.freeRaw(remove().address);
      return;
    }
    List<Block> blocks = new ArrayList<>();
    for (int i = random.nextInt(40); i > 0 && !addresses.isEmpty(); i--) {
      blocks.add(remove());
    }
    Runnable freeing = () -> blocks.forEach(block -> allocator.freeRaw(block.address));
    Thread thread = random.nextBoolean() ? Thread.startVirtualThread(freeing) : new Thread(freeing);
    if (!thread.isVirtual()) {
      thread.start();
    }
    thread.join();
  }

  private void reallocate() {
    Block old = remove();
    long size = size();
    long address = allocator.reallocateRaw(old.address, size);
    all(address, Math.min(old.size, size), old.fill, "kept by reallocation");
    add(address, size);
  }

  private static void all(long address, long bytes, byte value, String what) {
    long word = (value & 0xffL) * 0x0101_0101_0101_0101L;
    for (long i = 0; i + 8 <= bytes; i += bytes > 100_000 ? 1_024 : 8) {
      check(OffHeap.getLong(address + i) == word, what, address, bytes);
    }
    for (long i = bytes & -8; i < bytes; i++) {
      check(OffHeap.getByte(address + i) == value, what, address, bytes);
    }
  }

  private static void check(boolean good, String what, long address, long size) {
    if (!good) {
      throw new AssertionError(
          "not " + what + ": " + size + " bytes at 0x" + Long.toHexString(address));
    }
  }
}
