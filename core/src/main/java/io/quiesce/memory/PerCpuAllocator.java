package io.quiesce.memory;

import io.quiesce.internal.Facilities;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.percpu.PerCpuOps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.List;

/**
 * An allocator of off-heap memory with a cache for each CPU instead of one for each thread: as fast
 * for a thousand virtual threads as for two platform threads, and no thread that ends, sleeps or
 * moves keeps memory.
 *
 * <pre>
 *   try (var allocator = PerCpuAllocator.builder().name("net").limit(1L &lt;&lt; 30).build()) {
 *     long p = allocator.allocateRaw(64);
 *     OffHeap.putLong(p, 42);
 *     allocator.freeRaw(p);                                   from any thread
 *     try (Arena arena = allocator.newArena()) { arena.allocate(100); }
 *   }
 * </pre>
 *
 * <h2>Algorithm</h2>
 *
 * <pre>
 *   allocateRaw, freeRaw   one restartable sequence each
 *        |
 *   RowCaches      an array of free blocks for each row (CPU) and class
 *        | batches
 *   CentralList    one for each class: transfer array, spans with free blocks
 *        | spans
 *   PageHeap       2 MiB chunks of the region; huge blocks from the kernel; what goes back
 * </pre>
 *
 * A request is rounded up to one of 72 classes ({@link SizeClasses}: what is lost is below 16 bytes
 * or at most an eighth). Allocating pops a block from the cache of the current row, freeing pushes
 * onto it; each is one call of one restartable sequence, with no atomic instruction and no lock.
 * The class of a block is found from its address, in a byte table over the pages of the region. A
 * block that is freed elsewhere goes to the freeing CPU's cache, where it is warm.
 *
 * <p>An empty cache takes a batch from the class's central list, a full one gives a batch to it.
 * The list gets blocks from spans, the fullest first. Blocks from 32 KiB to 1 MiB are spans
 * themselves, larger ones mappings of their own.
 *
 * <p>Idle memory goes back: a housekeeping thread drains the cache of a row that has not changed
 * for a second (closed-row protocol, {@code docs/ordering.md} P.3: its threads go on meanwhile,
 * with the central list), empties transfer arrays, and returns pages that were not needed.
 *
 * <p>Where there are no restartable sequences the same caches work as locked rows ({@link
 * PerCpuOps}).
 *
 * <h2>Contract</h2>
 *
 * All methods are safe from any thread, virtual ones included, and a block may be freed by another
 * thread than allocated it. What a thread wrote to a block before it freed it happens before what
 * the block's next owner does with it (M.1). Blocks are aligned to 16 bytes. Contents are undefined
 * unless a method says zeroed. An allocation some 6 ns, a free the same, a miss some hundreds.
 *
 * <p>Wrong use of raw memory is not detected in general: a block that is freed twice or written
 * after it was freed damages the data of its next owner, as in C. The {@linkplain
 * AllocatorBuilder#hardening hardening mode} finds such faults. An address that this allocator
 * never handed out is refused with {@link IllegalArgumentException}, unless it lies inside a block.
 *
 * <p>Sources: Desnoyers, restartable sequences (October 2016), with the allocator experiment of
 * that thread; Ghemawat and others, TCMalloc (per-CPU caches); Bonwick and Adams, "Magazines and
 * Vmem", 2001.
 */
public final class PerCpuAllocator implements SegmentAllocator, AutoCloseable {
  /** Alignment of every block, in bytes. */
  public static final long ALIGNMENT = 16;

  private static final Cleaner CLEANER = Cleaner.create();
  private static final long HEADER = PerCpuOps.ARRAY_HEADER_BYTES;

  private final String name;

  // What the fast paths read.
  private final long regionBase;
  private final long regionBytes; // 0 in the hardening mode: no block is in reach
  private final long table;
  private final long caches;
  private final long smallEnd; // 0 in the hardening mode: no size is small

  private final Heap heap;

  PerCpuAllocator(AllocatorBuilder builder) {
    if (!VirtualMemory.isAvailable()) {
      throw VirtualMemory.unsupported("PerCpuAllocator");
    }
    name = builder.name;
    heap = new Heap(builder);
    regionBase = heap.region.base;
    regionBytes = heap.hardening == null ? heap.region.bytes : 0;
    table = heap.region.table;
    caches = heap.caches.base;
    smallEnd = heap.hardening == null ? SizeClasses.LARGEST + 1 : 0;
    CLEANER.register(this, heap);
    Housekeeper.add(this, heap);
    if (Facilities.isJmxWanted()) {
      AllocatorBean.register(this);
    }
  }

  private static final class Shared {
    static final PerCpuAllocator INSTANCE = create("shared");
  }

  /**
   * An allocator without a limit.
   *
   * @param name appears in reports
   * @return close it when done; it is closed by itself when it becomes unreachable
   * @throws UnsupportedOperationException without native access or off Linux, naming the cure
   * @throws OutOfMemoryError if there is no address space
   */
  public static PerCpuAllocator create(String name) {
    return builder().name(name).build();
  }

  /**
   * A builder, for a limit and the other options.
   *
   * @return with the defaults
   */
  public static AllocatorBuilder builder() {
    return new AllocatorBuilder();
  }

  /**
   * The process's own allocator, made at first use, without a limit; it cannot be closed.
   *
   * @return always the same
   * @throws UnsupportedOperationException without native access or off Linux, naming the cure
   */
  public static PerCpuAllocator shared() {
    return Shared.INSTANCE;
  }

  /**
   * Its name.
   *
   * @return as given to the builder
   */
  public String name() {
    return name;
  }

  /**
   * Allocates a block; its contents are undefined.
   *
   * @param bytes how many, 0 or more
   * @return its address, aligned to {@link #ALIGNMENT}, never 0
   * @throws IllegalArgumentException for a negative size
   * @throws OutOfMemoryError at the limit, or if the kernel has no memory
   * @throws IllegalStateException if the allocator is closed
   */
  public long allocateRaw(long bytes) {
    // Unsigned: a negative size is no small one.
    if (Long.compareUnsigned(bytes, smallEnd) < 0) {
      return small(SizeClasses.of(bytes), bytes);
    }
    return large(bytes, ALIGNMENT, false);
  }

  private long small(int c, long bytes) {
    try {
      long block = PerCpuOps.arrayPop(caches + c * HEADER, RowCaches.STRIDE);
      return block > 0 ? block : heap.miss(c, bytes, block);
    } finally {
      Reference.reachabilityFence(this); // no code; the caches must not be unmapped meanwhile
    }
  }

  /**
   * Allocates a block at a multiple of an alignment; its contents are undefined.
   *
   * @param bytes how many, 0 or more
   * @param alignment a power of two
   * @return its address
   * @throws IllegalArgumentException for a negative size or an alignment that is no power of two
   * @throws OutOfMemoryError at the limit, or if the kernel has no memory
   * @throws IllegalStateException if the allocator is closed
   */
  public long allocateRaw(long bytes, long alignment) {
    checkAlignment(alignment);
    if (alignment <= ALIGNMENT) {
      return allocateRaw(bytes);
    }
    if (Long.compareUnsigned(bytes, smallEnd) < 0) {
      int c = SizeClasses.of(bytes, alignment);
      if (c != 0) {
        return small(c, bytes);
      }
    }
    return large(bytes, alignment, false);
  }

  /**
   * Allocates a block of zeros.
   *
   * @param bytes how many, 0 or more
   * @return its address, aligned to {@link #ALIGNMENT}
   * @throws IllegalArgumentException for a negative size
   * @throws OutOfMemoryError at the limit, or if the kernel has no memory
   * @throws IllegalStateException if the allocator is closed
   */
  public long allocateRawZeroed(long bytes) {
    return allocateRawZeroed(bytes, ALIGNMENT);
  }

  /**
   * Allocates a block of zeros at a multiple of an alignment.
   *
   * @param bytes how many, 0 or more
   * @param alignment a power of two
   * @return its address
   * @throws IllegalArgumentException for a negative size or an alignment that is no power of two
   * @throws OutOfMemoryError at the limit, or if the kernel has no memory
   * @throws IllegalStateException if the allocator is closed
   */
  public long allocateRawZeroed(long bytes, long alignment) {
    checkAlignment(alignment);
    if (Long.compareUnsigned(bytes, smallEnd) >= 0 || alignment > SizeClasses.PAGE) {
      return large(bytes, alignment, true);
    }
    try {
      long block = allocateRaw(bytes, alignment);
      OffHeap.fill(block, bytes, (byte) 0);
      return block;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private static void checkAlignment(long alignment) {
    if (alignment <= 0 || (alignment & (alignment - 1)) != 0) {
      throw new IllegalArgumentException("alignment " + alignment + " is no power of two");
    }
  }

  /**
   * Frees a block. Nobody may use it any more.
   *
   * @param address of the block; 0 does nothing
   * @throws IllegalArgumentException if nothing of this allocator lies there
   * @throws IllegalStateException if the allocator is closed
   */
  public void freeRaw(long address) {
    try {
      long offset = address - regionBase;
      if (Long.compareUnsigned(offset, regionBytes) < 0) {
        int c = OffHeap.getByte(table + (offset >>> SizeClasses.PAGE_SHIFT));
        if (c > 0 && c < SizeClasses.COUNT) {
          if (OffHeap.isDebug()) {
            heap.poison(c, address);
          }
          int done = PerCpuOps.arrayPush(caches + c * HEADER, RowCaches.STRIDE, address);
          if (done != PerCpuOps.DONE) {
            heap.overflow(c, address, done);
          }
          return;
        }
      }
      heap.freeLarge(address);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Changes a block's size: the same block if its class is still right, or else a new one with the
   * contents of the old one, which is freed.
   *
   * @param address of a block, or 0 for a new one
   * @param bytes the new size, 0 or more
   * @return the block's address, aligned to {@link #ALIGNMENT}; if this throws, the old block is
   *     unchanged
   * @throws IllegalArgumentException for a negative size, or if nothing of this allocator lies at
   *     the address
   * @throws OutOfMemoryError at the limit, or if the kernel has no memory
   * @throws IllegalStateException if the allocator is closed
   */
  public long reallocateRaw(long address, long bytes) {
    if (address == 0) {
      return allocateRaw(bytes);
    }
    Heap.checkSize(bytes);
    if (heap.hardening != null) {
      return reallocateHardened(heap.hardening, address, bytes);
    }
    long old = usableSize(address);
    if (bytes <= old && (bytes > old / 2 || old <= 2 * ALIGNMENT)) {
      return address;
    }
    long block = allocateRaw(bytes);
    try {
      OffHeap.copy(address, block, Math.min(old, bytes)); // beside a close: M.4
      freeRaw(address);
    } catch (IllegalArgumentException | IndexOutOfBoundsException refused) { // no block's start
      freeRaw(block);
      throw refused;
    } catch (IllegalStateException closed) {
      heap.checkOpen(); // the debug mode has other words for memory that was closed meanwhile
      throw closed;
    } finally {
      Reference.reachabilityFence(this); // the copy must not meet the unmapping
    }
    return block;
  }

  private long reallocateHardened(Hardening hardening, long address, long bytes) {
    try {
      return hardening.reallocate(address, bytes);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * How many bytes of a block may be used: at least what was asked for, and no more than that in
   * the hardening mode.
   *
   * @param address of a block
   * @return in bytes
   * @throws IllegalArgumentException if nothing of this allocator lies there
   * @throws IllegalStateException if the allocator is closed
   */
  public long usableSize(long address) {
    try {
      return heap.usableSize(address);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * How large a block for a request is, so that a container can ask for all of it. A request that
   * no memory could satisfy has the size that was asked for.
   *
   * @param bytes the request, 0 or more
   * @return in bytes, at least the request
   * @throws IllegalArgumentException for a negative size
   */
  public static long blockSize(long bytes) {
    Heap.checkSize(bytes);
    if (bytes <= SizeClasses.LARGEST) {
      return SizeClasses.bytes(SizeClasses.of(bytes));
    }
    long unit = bytes <= PageHeap.LARGEST_SPAN ? SizeClasses.PAGE : VirtualMemory.PAGE_BYTES;
    // No block is so large that rounding it up overflows.
    return bytes > Long.MAX_VALUE - unit ? bytes : (bytes + unit - 1) & -unit;
  }

  private long large(long bytes, long alignment, boolean zero) {
    try {
      return heap.large(bytes, alignment, zero);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** For the housekeeper, which holds the owner while it works, so that nothing is unmapped. */
  void tick() {
    try {
      if (!heap.closed) {
        heap.tick();
      }
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Gives back what can be: all caches are emptied, and idle pages go to the kernel. Dear (some
   * microseconds for each CPU), and the next allocations miss. The housekeeping thread does the
   * same little by little.
   *
   * @return how many bytes went to the kernel
   * @throws IllegalStateException if the allocator is closed
   */
  public long trim() {
    try {
      return heap.trim();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Figures about its memory; some microseconds. Works on a closed allocator too.
   *
   * @return a glimpse
   */
  public AllocatorStatistics statistics() {
    try {
      return heap.statistics();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * The figures as a text for people: several lines, sizes in bytes with a rounded form behind, one
   * line for each class of blocks that is used. Works on a closed allocator too.
   *
   * @return lines, each ended
   */
  public String report() {
    return AllocatorReport.of(statistics(), heap.closed).toString();
  }

  /**
   * In the hardening mode: looks at every block, live or in quarantine, for writes beyond the ends
   * and after the free. About a microsecond for each small block.
   *
   * @return how many blocks were looked at; 0 without the hardening mode
   * @throws MemoryFaultException for the first fault, with up to 20 others suppressed; those that
   *     were not reported before are logged as well
   * @throws IllegalStateException if the allocator is closed
   */
  public long check() {
    try {
      heap.checkOpen();
      return heap.hardening == null ? 0 : heap.hardening.check();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * In the hardening mode: the blocks that nobody has freed, put together by where they were
   * allocated. On a closed allocator: those that were live when it was closed.
   *
   * @return the most bytes first; empty without the hardening mode
   */
  public List<AllocatorLeak> leaks() {
    return heap.hardening == null ? List.of() : heap.hardening.leaks();
  }

  boolean isClosed() {
    return heap.closed;
  }

  /**
   * Allocates a segment of zeros whose lifetime is not checked: free it with {@link #free}, or let
   * {@link #close} do it.
   *
   * @param bytes how many, 0 or more
   * @param alignment a power of two
   * @return a segment of exactly that size that any thread may use
   * @throws IllegalArgumentException for a negative size or an alignment that is no power of two
   * @throws OutOfMemoryError at the limit, or if the kernel has no memory
   * @throws IllegalStateException if the allocator is closed
   */
  @Override
  public MemorySegment allocate(long bytes, long alignment) {
    return OffHeap.segment(allocateRawZeroed(bytes, alignment), bytes);
  }

  /**
   * As {@link #allocate(long, long)}, but its contents are undefined.
   *
   * @param bytes how many, 0 or more
   * @param alignment a power of two
   * @return a segment of exactly that size that any thread may use
   * @throws IllegalArgumentException for a negative size or an alignment that is no power of two
   * @throws OutOfMemoryError at the limit, or if the kernel has no memory
   * @throws IllegalStateException if the allocator is closed
   */
  public MemorySegment allocateUninitialized(long bytes, long alignment) {
    return OffHeap.segment(allocateRaw(bytes, alignment), bytes);
  }

  /**
   * Frees a segment that {@link #allocate(long, long)} or {@link #allocateUninitialized} returned.
   * Nobody may use it any more, nor a slice of it.
   *
   * @param segment the whole segment, not a slice
   * @throws IllegalArgumentException if it is not off-heap, or not of this allocator
   * @throws IllegalStateException if the allocator is closed
   */
  public void free(MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException("a heap segment is no block of this allocator");
    }
    freeRaw(segment.address());
  }

  /**
   * An arena whose segments are blocks of this allocator, for one thread: they are zeroed, checked
   * as those of {@link Arena#ofConfined()}, and freed when it is closed.
   *
   * @return a new arena, owned by the current thread
   * @throws IllegalStateException if the allocator is closed
   */
  public Arena newArena() {
    heap.checkOpen();
    return new AllocatorArena(this);
  }

  /**
   * Frees everything. Allocating and freeing throw from here on, also in threads that are at it
   * now; blocks and segments that are still in use dangle: what was in them is gone, and an access
   * to one may crash the JVM. The memory goes at once, the addresses when the allocator is
   * unreachable. A second call does nothing.
   *
   * @throws UnsupportedOperationException for {@link #shared()}
   */
  @Override
  public void close() {
    if (heap.closed) {
      return;
    }
    if ("shared".equals(name) && this == Shared.INSTANCE) {
      throw new UnsupportedOperationException("the shared allocator cannot be closed");
    }
    Housekeeper.remove(heap);
    heap.close();
    if (Facilities.isJmxWanted()) {
      AllocatorBean.unregister(name, this);
    }
  }

  @Override
  public String toString() {
    return "PerCpuAllocator[" + name + (heap.closed ? ", closed]" : "]");
  }
}
