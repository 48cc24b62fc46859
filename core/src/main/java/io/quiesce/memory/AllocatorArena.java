package io.quiesce.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
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

  // Restricted: the library's own native access. The fence: here it is for what the action holds.
  @SuppressWarnings({"restricted", "ReachabilityFenceUsage"})
  AllocatorArena(PerCpuAllocator allocator) {
    this.allocator = allocator;
    // A segment holds the scope, the scope this action, and that the allocator: as long as somebody
    // has a segment that he may access, the memory is not unmapped.
    MemorySegment.NULL.reinterpret(scope, end -> Reference.reachabilityFence(allocator));
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
    RuntimeException failure = null;
    while (count > 0) {
      try {
        allocator.freeRaw(blocks[--count]);
      } catch (RuntimeException e) { // the others are to be freed all the same
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
