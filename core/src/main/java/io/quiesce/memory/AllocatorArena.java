package io.quiesce.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A confined arena whose segments are blocks of an allocator. The JDK's own confined arena gives
 * the scope and its checks; the blocks are freed after it is closed.
 */
final class AllocatorArena implements Arena {
  private final PerCpuAllocator allocator;
  private final Arena scope = Arena.ofConfined();
  private final Thread owner = Thread.currentThread();
  private long[] blocks = new long[8];
  private int count;

  AllocatorArena(PerCpuAllocator allocator) {
    this.allocator = allocator;
  }

  @Override
  @SuppressWarnings("restricted") // The library's own native access.
  public MemorySegment allocate(long bytes, long alignment) {
    if (Thread.currentThread() != owner) {
      throw new WrongThreadException("the arena belongs to " + owner);
    }
    if (!scope.scope().isAlive()) {
      throw new IllegalStateException("Already closed");
    }
    if (count == blocks.length) {
      blocks = Arrays.copyOf(blocks, 2 * count); // before the block: it must not be lost
    }
    long block = allocator.allocateRawZeroed(bytes, alignment);
    blocks[count++] = block;
    return MemorySegment.ofAddress(block).reinterpret(bytes, scope, null);
  }

  @Override
  public MemorySegment.Scope scope() {
    return scope.scope();
  }

  @Override
  public void close() {
    scope.close(); // throws in a wrong thread, and if closed
    for (int i = 0; i < count; i++) {
      allocator.freeRaw(blocks[i]);
    }
    count = 0;
  }
}
