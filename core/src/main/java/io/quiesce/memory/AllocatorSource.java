package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;

/** Blocks from an allocator. Holding the source keeps the allocator's memory mapped. */
final class AllocatorSource implements BlockSource {
  /**
   * The shared allocator where there can be one, else the C heap. The debug mode takes the C heap,
   * whose blocks it watches one by one. Looked up at the first block: an arena that only maps a
   * file starts no allocator.
   */
  static final BlockSource DEFAULT =
      new BlockSource() {
        @Override
        public long allocate(long bytes, long alignment) {
          return Default.SOURCE.allocate(bytes, alignment);
        }

        @Override
        public void free(long address, long bytes) {
          Default.SOURCE.free(address, bytes);
        }
      };

  private static final class Default {
    static final BlockSource SOURCE = choose();

    private static BlockSource choose() {
      if (OffHeap.isDebug() || !VirtualMemory.isAvailable()) {
        return C_HEAP;
      }
      try {
        return new AllocatorSource(PerCpuAllocator.shared());
      } catch (OutOfMemoryError
          | LinkageError noAddressSpace) { // the latter from the second try on
        return C_HEAP;
      }
    }
  }

  private final PerCpuAllocator allocator;

  AllocatorSource(PerCpuAllocator allocator) {
    this.allocator = allocator;
  }

  @Override
  public long allocate(long bytes, long alignment) {
    return allocator.allocateRawZeroed(bytes, alignment);
  }

  @Override
  public void free(long address, long bytes) {
    if (allocator.isClosed()) {
      return; // the block went with the allocator
    }
    try {
      allocator.freeRaw(address);
    } catch (RuntimeException refused) {
      if (!allocator.isClosed()) { // else it was closed meanwhile
        throw refused;
      }
    }
  }
}
