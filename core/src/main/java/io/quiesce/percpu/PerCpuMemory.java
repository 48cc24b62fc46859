package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Memory that every row has a copy of.
 *
 * <pre>
 *   area:   [ row 0: a . b b . . ][ row 1: a . b b . . ][ row 2: ...       one calloc
 *            ^ allocate() says a    ^ a + stride()         ^ a + 2 * stride()
 * </pre>
 *
 * <h2>Algorithm</h2>
 *
 * An area holds one block of {@link #stride()} bytes per row, and what is free is kept for row 0
 * only: two sorted sets of extents, by address (to join neighbours) and by size (to find the
 * smallest that fits). When nothing fits, one more area is allocated. All areas have the same
 * stride, so that it is a constant for whoever uses the memory; a word costs 8 bytes per row and
 * nothing else.
 *
 * <p>An area comes zeroed from the C library, which does not touch the pages of a large block, and
 * nothing here does on first use. {@link #free} looks at every row's words and clears those that
 * are not zero, so that rows which never ran stay untouched there as well. It is the one place that
 * stores to rows from outside, and is right only because nobody may use them any more.
 *
 * <p>Safe from any thread; allocating and freeing take a lock and some hundred nanoseconds. Needs
 * native access: without it {@link #allocate} throws {@link UnsupportedOperationException}, naming
 * the flag.
 */
public final class PerCpuMemory implements AutoCloseable {
  /** The largest alignment, that of an area. */
  private static final int PAGE = 4096;

  /** Two cache lines: what the adjacent-line prefetcher fetches together. */
  private static final int LINES = 128;

  private static final int WORD = 8;

  /** Large enough for thousands of counters, small enough for machines with many rows. */
  private static final long SHARED_BLOCK = 64 * 1024;

  /** Made at first use; its areas as well. */
  private static final class Shared {
    static final PerCpuMemory MEMORY = new PerCpuMemory(SHARED_BLOCK, PerCpuOps.rows());
  }

  private record Extent(long bytes, long address) implements Comparable<Extent> {
    @Override
    public int compareTo(Extent other) {
      int bySize = Long.compare(bytes, other.bytes);
      return bySize != 0 ? bySize : Long.compare(address, other.address);
    }
  }

  private final int rows;
  private final long stride;
  private final ReentrantLock lock = new ReentrantLock();

  // Under the lock.
  private final TreeMap<Long, Long> freeByAddress = new TreeMap<>();
  private final TreeSet<Extent> freeBySize = new TreeSet<>();
  private final TreeSet<Long> areas = new TreeSet<>();
  private long used;
  private boolean closed;

  /** For tests: with a number of rows that this machine need not have. */
  PerCpuMemory(long blockBytes, int rows) {
    if (blockBytes < 1 || blockBytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a block of " + blockBytes + " bytes cannot be; pass 1 to " + Integer.MAX_VALUE);
    }
    int unit = blockBytes < PAGE ? LINES : PAGE;
    this.rows = rows;
    this.stride = (blockBytes + unit - 1) & -unit;
  }

  /**
   * The memory of counters and other small things, one for the process; it cannot be closed.
   *
   * @return always the same
   */
  public static PerCpuMemory shared() {
    return Shared.MEMORY;
  }

  /**
   * A memory of its own. Nothing is allocated yet.
   *
   * @param blockBytes bytes that an area has per row, and thereby the largest allocation; rounded
   *     up to 128, or to 4,096 from there on
   * @return the memory, to be closed; one that is dropped unclosed keeps its areas
   * @throws IllegalArgumentException for less than 1 byte or more than 2 GiB
   */
  public static PerCpuMemory create(long blockBytes) {
    return new PerCpuMemory(blockBytes, PerCpuOps.rows());
  }

  /**
   * The distance between the copies of neighbouring rows.
   *
   * @return bytes; the same for everything allocated here, for ever
   */
  public long stride() {
    return stride;
  }

  /**
   * How many copies there are.
   *
   * @return {@link PerCpuOps#rows()}
   */
  public int rows() {
    return rows;
  }

  /**
   * Allocates, zeroed in all rows.
   *
   * @param bytes per row, 1 to {@link #stride()}; rounded up to 8
   * @param alignment a power of two, at most 4,096, and at most 128 where the stride is less than
   *     4,096; 8 is the least
   * @return the address of row 0's copy; that of row r is {@code r * stride()} higher
   * @throws IllegalArgumentException for another size or alignment
   * @throws IllegalStateException after {@link #close()}
   * @throws OutOfMemoryError if there is none
   * @throws UnsupportedOperationException without native access
   */
  public long allocate(long bytes, long alignment) {
    long most = stride < PAGE ? LINES : PAGE;
    if (bytes < 1 || bytes > stride) {
      throw new IllegalArgumentException(
          bytes + " bytes do not fit in a block; pass 1 to " + stride + ", or create larger ones");
    }
    if (alignment < 1 || alignment > most || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException(
          "cannot align to " + alignment + "; pass a power of two up to " + most);
    }
    long size = roundUp(bytes);
    long align = Math.max(WORD, alignment);
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the per-CPU memory is closed");
      }
      Extent extent = find(size, align);
      if (extent == null) {
        extent = addArea();
      }
      long address = (extent.address + align - 1) & -align;
      removeFree(extent);
      addFree(extent.address, address - extent.address);
      addFree(address + size, extent.address + extent.bytes - address - size);
      used += size * rows;
      return address;
    } finally {
      lock.unlock();
    }
  }

  private static long roundUp(long bytes) {
    return (bytes + WORD - 1) & -WORD;
  }

  private @Nullable Extent find(long size, long align) {
    for (Extent extent : freeBySize.tailSet(new Extent(size, 0))) {
      long address = (extent.address + align - 1) & -align;
      if (address + size <= extent.address + extent.bytes) {
        return extent;
      }
    }
    return null;
  }

  private Extent addArea() {
    long area = OffHeap.allocate(Math.multiplyExact(stride, rows), PAGE);
    areas.add(area);
    addFree(area, stride);
    return new Extent(stride, area);
  }

  private void addFree(long address, long bytes) {
    if (bytes > 0) {
      freeByAddress.put(address, bytes);
      freeBySize.add(new Extent(bytes, address));
    }
  }

  private void removeFree(Extent extent) {
    freeByAddress.remove(extent.address);
    freeBySize.remove(extent);
  }

  /**
   * Takes memory back, and clears it in all rows for the next user. Nobody may use it any more: a
   * use lasts until its call has returned, so that a sequence which was interrupted, and will start
   * over, still is one. Once all calls have returned, by all threads and in a way that this call
   * happens after (a join, a grace period, the collector's finding that the owner is unreachable),
   * no sequence can store there any more, and no fence is needed.
   *
   * @param address what {@link #allocate} returned
   * @param bytes what was asked of it
   * @throws IllegalArgumentException if that is not allocated here, as after a first free
   * @throws IllegalStateException after {@link #close()}
   */
  public void free(long address, long bytes) {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the per-CPU memory is closed");
      }
      long size = roundUp(bytes);
      requireAllocated(address, bytes, size);
      clear(address, size);
      used -= size * rows;
      long start = address;
      long end = address + size;
      Map.Entry<Long, Long> below = freeByAddress.lowerEntry(address);
      if (below != null && below.getKey() + below.getValue() == start) {
        start = below.getKey();
        removeFree(new Extent(below.getValue(), start));
      }
      Long above = freeByAddress.get(end);
      if (above != null) {
        removeFree(new Extent(above, end));
        end += above;
      }
      addFree(start, end - start);
    } finally {
      lock.unlock();
    }
  }

  private void requireAllocated(long address, long bytes, long size) {
    Long area = areas.floor(address);
    boolean inside =
        area != null
            && bytes > 0
            && bytes <= stride // before the sum, which could overflow
            && (address & (WORD - 1)) == 0
            && address + size <= area + stride;
    Map.Entry<Long, Long> below = freeByAddress.lowerEntry(address + Math.max(1, size));
    if (!inside || (below != null && below.getKey() + below.getValue() > address)) {
      throw new IllegalArgumentException(
          bytes
              + " bytes at 0x"
              + Long.toHexString(address)
              + " are not allocated here; they were freed before, or come from elsewhere");
    }
  }

  /** Stores only where it must, which leaves pages that no row has used as they are. */
  private void clear(long address, long bytes) {
    for (int row = 0; row < rows; row++) {
      long copy = address + row * stride;
      for (long i = 0; i < bytes; i += WORD) {
        if (OffHeap.getLong(copy + i) != 0) {
          OffHeap.putLong(copy + i, 0);
        }
      }
    }
  }

  /**
   * How much is allocated and not freed, in all rows together.
   *
   * @return bytes, a snapshot
   */
  public long usedBytes() {
    lock.lock();
    try {
      return used;
    } finally {
      lock.unlock();
    }
  }

  /**
   * How much address space the areas take; the kernel backs the pages that have been used.
   *
   * @return bytes, a snapshot
   */
  public long reservedBytes() {
    lock.lock();
    try {
      return areas.size() * stride * rows;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives all areas back, with everything allocated in them, at once: as for {@link #free}, nobody
   * may use them any more. Does nothing the second time.
   *
   * @throws UnsupportedOperationException for {@link #shared()}
   */
  @Override
  public void close() {
    if (this == Shared.MEMORY) {
      throw new UnsupportedOperationException(
          "the shared per-CPU memory cannot be closed; create one of your own");
    }
    lock.lock();
    try {
      closed = true;
      used = 0;
      freeByAddress.clear();
      freeBySize.clear();
      areas.forEach(OffHeap::free);
      areas.clear();
    } finally {
      lock.unlock();
    }
  }
}
