package io.quiesce.bench.subjects;

import io.quiesce.memory.PerCpuAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The allocators by name. */
final class Heaps {
  private Heaps() {}

  /** Loads nothing of the allocators that are not asked for. */
  static Bins.Heap of(String name) {
    return switch (name) {
      case "quiesce" -> new Ours(PerCpuAllocator.create("bench"));
      case "glibc", "jemalloc", "mimalloc", "tcmalloc" -> NativeHeap.of(name);
      case "netty-pooled", "netty-pooled-cached", "netty-adaptive", "netty-unpooled" ->
          NettyHeap.of(name);
      case "arena" -> ArenaBins::new;
      case "none" -> NoBins::new;
      default -> throw new IllegalArgumentException("no allocator is called '" + name + "'");
    };
  }

  /** The library's. */
  private record Ours(PerCpuAllocator allocator) implements Bins.Heap {
    @Override
    public Bins newBins(int slots) {
      return new OurBins(allocator, slots);
    }
  }

  private static final class OurBins extends Bins.OfAddresses {
    private final PerCpuAllocator allocator;

    OurBins(PerCpuAllocator allocator, int slots) {
      super(slots);
      this.allocator = allocator;
    }

    @Override
    void allocate(int slot, int bytes) {
      blocks[slot] = allocator.allocateRaw(bytes);
    }

    @Override
    void allocateAligned(int slot, int bytes, int alignment) {
      blocks[slot] = allocator.allocateRaw(bytes, alignment);
    }

    @Override
    void allocateZeroed(int slot, int bytes) {
      blocks[slot] = allocator.allocateRawZeroed(bytes);
    }

    @Override
    void reallocate(int slot, int bytes) {
      blocks[slot] = allocator.reallocateRaw(blocks[slot], bytes);
    }

    @Override
    void free(int slot) {
      allocator.freeRaw(blocks[slot]);
    }
  }

  /** An arena for each block: what Java offers for memory that is freed by hand. It zeroes. */
  private static final class ArenaBins extends Bins {
    private static final long ALIGNMENT = 16; // as malloc gives it
    private final Arena[] arenas;
    private final MemorySegment[] blocks;

    ArenaBins(int slots) {
      arenas = new Arena[slots];
      blocks = new MemorySegment[slots];
    }

    @Override
    void allocate(int slot, int bytes) {
      allocateAligned(slot, bytes, (int) ALIGNMENT);
    }

    @Override
    @SuppressWarnings("MustBeClosedChecker") // Closed by free.
    void allocateAligned(int slot, int bytes, int alignment) {
      Arena arena = Arena.ofConfined();
      arenas[slot] = arena;
      blocks[slot] = arena.allocate(bytes, alignment);
    }

    @Override
    void allocateZeroed(int slot, int bytes) {
      allocate(slot, bytes);
    }

    @Override
    void reallocate(int slot, int bytes) {
      Arena old = arenas[slot];
      MemorySegment from = blocks[slot];
      allocate(slot, bytes);
      MemorySegment.copy(from, 0, blocks[slot], 0, Math.min(from.byteSize(), bytes));
      old.close();
    }

    @Override
    void free(int slot) {
      arenas[slot].close();
    }

    @Override
    void put(int slot, int index, byte value) {
      blocks[slot].set(ValueLayout.JAVA_BYTE, index, value);
    }

    @Override
    byte get(int slot, int index) {
      return blocks[slot].get(ValueLayout.JAVA_BYTE, index);
    }
  }

  /** No allocator: what the driver costs. */
  private static final class NoBins extends Bins {
    private final long[] blocks;
    private final byte[] contents;

    NoBins(int slots) {
      blocks = new long[slots];
      contents = new byte[slots];
    }

    @Override
    void allocate(int slot, int bytes) {
      blocks[slot] = bytes;
    }

    @Override
    void allocateAligned(int slot, int bytes, int alignment) {
      blocks[slot] = alignment;
    }

    @Override
    void allocateZeroed(int slot, int bytes) {
      blocks[slot] = bytes;
    }

    @Override
    void reallocate(int slot, int bytes) {
      blocks[slot] += bytes;
    }

    @Override
    void free(int slot) {
      blocks[slot] = 0;
    }

    @Override
    void put(int slot, int index, byte value) {
      contents[slot] = value;
    }

    @Override
    byte get(int slot, int index) {
      return contents[slot];
    }
  }
}
