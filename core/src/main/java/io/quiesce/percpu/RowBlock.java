package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import java.lang.ref.Cleaner;

/**
 * Where the rows of one structure lie: in the shared memory if they are small, else in one of their
 * own. They are given back when their owner is unreachable, and not earlier: an operation that is
 * late, also after a close, must still find them mapped. Each operation keeps its owner reachable
 * until it has returned.
 *
 * @param memory that it comes from
 * @param address of row 0
 * @param bytes per row
 */
record RowBlock(PerCpuMemory memory, long address, long bytes) implements Runnable {
  /** What is larger would leave holes in the shared areas. */
  private static final long LARGEST_SHARED = 8 * 1024;

  /** One thread for all owners of this package; it keeps no class loader of a first user. */
  private static final class Cleaning {
    static final Cleaner CLEANER =
        Cleaner.create(
            Thread.ofPlatform()
                .daemon()
                .name("quiesce-percpu-cleaner-", 0)
                .inheritInheritableThreadLocals(false)
                .factory());
  }

  /** Allocates for a structure; the caller has {@link #ownedBy} called when it is made. */
  static RowBlock allocate(long bytes, long alignment) {
    PerCpuMemory memory =
        bytes <= LARGEST_SHARED ? PerCpuMemory.shared() : PerCpuMemory.create(bytes);
    return new RowBlock(memory, memory.allocate(bytes, alignment), bytes);
  }

  /** From here on the rows live as long as the owner. */
  void ownedBy(Object owner) {
    Cleaning.CLEANER.register(owner, this);
  }

  long stride() {
    return memory.stride();
  }

  long row(int row) {
    return address + row * memory.stride();
  }

  int rows() {
    return memory.rows();
  }

  /** By the cleaner. */
  @Override
  public void run() {
    if (memory == PerCpuMemory.shared()) {
      memory.free(address, bytes);
    } else {
      memory.close();
    }
  }

  // ---- the closed-row protocol (P.3); one thread at a time, under the owner's lock ----

  /** Operations find the row closed from here on; those that had begun have not ended yet. */
  void closeRow(int row, int flag) {
    OffHeap.setIntVolatile(row(row) + flag, 1);
  }

  /** What was stored to the row is seen by whoever finds it open. */
  void openRow(int row, int flag) {
    OffHeap.setIntRelease(row(row) + flag, 0);
  }
}
