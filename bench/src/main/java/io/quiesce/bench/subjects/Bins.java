package io.quiesce.bench.subjects;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The blocks that one thread holds, by slot. Allocators whose blocks are addresses keep a {@code
 * long} in the slot, others an object: the same array store for everyone. One class of bins is
 * loaded in a subject's process, so that calls of these methods are direct.
 */
abstract class Bins {
  /** Puts a block into an empty slot. */
  abstract void allocate(int slot, int bytes);

  /** The same, aligned to a power of two. */
  abstract void allocateAligned(int slot, int bytes, int alignment);

  /** The same, zeroed. */
  abstract void allocateZeroed(int slot, int bytes);

  /** Gives the block of a slot another size; it keeps what it holds. */
  abstract void reallocate(int slot, int bytes);

  /** Frees the block of a slot. */
  abstract void free(int slot);

  abstract void put(int slot, int index, byte value);

  abstract byte get(int slot, int index);

  /** An allocator. */
  interface Heap {
    Bins newBins(int slots);
  }

  /** Bins of addresses. */
  abstract static class OfAddresses extends Bins {
    /** All memory: the debug mode of this library does not know what its peers allocate. */
    @SuppressWarnings("restricted") // Subjects run with native access.
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    final long[] blocks;

    OfAddresses(int slots) {
      blocks = new long[slots];
    }

    @Override
    final void put(int slot, int index, byte value) {
      ALL.set(ValueLayout.JAVA_BYTE, blocks[slot] + index, value);
    }

    @Override
    final byte get(int slot, int index) {
      return ALL.get(ValueLayout.JAVA_BYTE, blocks[slot] + index);
    }
  }
}
