package io.quiesce.memory;

import io.quiesce.linux.LinuxException;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Pages: spans out of chunks, huge blocks straight from the kernel, what may be taken in all, and
 * what goes back.
 *
 * <p>A span comes from the chunk whose longest free run is the shortest that suffices, at its
 * lowest place, if possible one that still has its memory: the fullest chunks fill up, and the
 * others have a chance to become empty. Pages that are freed keep their memory for a while, since
 * they are the first to be used again; those that were not needed for some seconds go back to the
 * kernel ({@link #release}).
 *
 * <p>The limit counts pages with memory behind them, whether in spans or idle, and huge blocks.
 * Lock order: a central list's lock before this one.
 */
final class PageHeap {
  /** Thrown inside, where locks are held; the allocator drains its caches and tries again. */
  static final class LimitReached extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LimitReached(String message) {
      super(message, null, false, false);
    }
  }

  /** The largest block that is a span; above, each is a mapping of its own. */
  static final long LARGEST_SPAN = Chunk.BYTES / 2;

  private static final long FEW_PAGES = 256;

  final Region region;
  private final long limit;
  private final ReentrantLock lock = new ReentrantLock();
  private final @Nullable Chunk[] byLongestRun = new Chunk[Chunk.PAGES + 1];
  private volatile @Nullable Chunk[] chunks = new Chunk[16];
  private int chunkCount;
  private final ConcurrentHashMap<Long, Long> huge = new ConcurrentHashMap<>();

  private long backedPages;
  private long usedPages;
  private long largeBlocks;
  private long largePages; // of usedPages
  private long hugeBytes;
  private long leastIdle; // since the last look of the housekeeper
  private long returnedBytes;
  private boolean closed;

  PageHeap(Region region, long limit) {
    this.region = region;
    this.limit = limit;
  }

  /** A span of so many pages, its table marked. */
  Span allocate(int pages, int alignmentPages, int sizeClass) {
    lock.lock();
    try {
      check();
      Chunk chunk = findChunk(pages + alignmentPages - 1);
      if (chunk == null) {
        chunk = newChunk();
      }
      int page = chunk.find(pages, alignmentPages);
      if (!reserve((long) chunk.unbacked(page, pages) << SizeClasses.PAGE_SHIFT)) {
        // What was given back for it may have been pages of this very run.
        reserve((long) chunk.unbacked(page, pages) << SizeClasses.PAGE_SHIFT);
      }
      int unbacked = chunk.unbacked(page, pages);
      Span span = new Span(chunk, page, pages, sizeClass); // before the changes: may lack heap
      unlink(chunk);
      chunk.take(page, pages);
      chunk.back(page, pages);
      link(chunk);
      backedPages += unbacked;
      usedPages += pages;
      leastIdle = Math.min(leastIdle, backedPages - usedPages);
      for (int p = page; p < page + pages; p++) {
        chunk.spans[p] = span;
      }
      if (sizeClass == 0) {
        region.mark(span.start, 1, Region.LARGE);
        largeBlocks++;
        largePages += pages;
      } else {
        region.mark(span.start, pages, (byte) sizeClass);
      }
      return span;
    } finally {
      lock.unlock();
    }
  }

  void free(Span span) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      Chunk chunk = span.chunk;
      if (chunk.spans[span.firstPage] != span) {
        throw notABlock(span.start);
      }
      region.mark(span.start, span.pages, (byte) 0);
      for (int p = span.firstPage; p < span.firstPage + span.pages; p++) {
        chunk.spans[p] = null;
      }
      unlink(chunk);
      chunk.give(span.firstPage, span.pages);
      link(chunk);
      usedPages -= span.pages;
      if (span.sizeClass == 0) {
        largeBlocks--;
        largePages -= span.pages;
      }
      OffHeap.poison(span.start, (long) span.pages * SizeClasses.PAGE);
    } finally {
      lock.unlock();
    }
  }

  /** The span that an address of the region is in, if any. */
  @Nullable Span spanOf(long address) {
    long offset = address - region.base;
    Chunk chunk = chunks[(int) (offset >>> Chunk.SHIFT)];
    return chunk == null
        ? null
        : chunk.spans[(int) (offset >>> SizeClasses.PAGE_SHIFT) & (Chunk.PAGES - 1)];
  }

  /** Frees the large block that begins at an address of the region. */
  void freeLarge(long address) {
    lock.lock();
    try {
      check();
      Span span = region.kind(address) == Region.LARGE ? spanOf(address) : null;
      if (span == null || span.start != address) {
        throw notABlock(address);
      }
      free(span);
    } finally {
      lock.unlock();
    }
  }

  static IllegalArgumentException notABlock(long address) {
    return new IllegalArgumentException(
        "address 0x"
            + Long.toHexString(address)
            + " is no block of this allocator; it was freed before, or allocated elsewhere");
  }

  private @Nullable Chunk findChunk(int pages) {
    for (int run = Math.min(pages, Chunk.PAGES); run <= Chunk.PAGES; run++) {
      Chunk chunk = byLongestRun[run];
      if (chunk != null) {
        return chunk;
      }
    }
    return null;
  }

  private Chunk newChunk() {
    if (chunkCount == region.chunks()) {
      throw new LimitReached(
          "the allocator's address space of "
              + region.bytes
              + " bytes is used up; it is twice the machine's memory, or twice the limit");
    }
    long address = region.base + (long) chunkCount * Chunk.BYTES;
    if (chunkCount == chunks.length) {
      chunks = java.util.Arrays.copyOf(chunks, 2 * chunkCount);
    }
    Chunk chunk = new Chunk(address);
    try {
      VirtualMemory.commit(address, Chunk.BYTES);
    } catch (LinuxException e) {
      throw new LimitReached("the kernel has no more memory (" + e.getMessage() + ")");
    }
    chunks[chunkCount++] = chunk;
    link(chunk);
    return chunk;
  }

  private void link(Chunk chunk) {
    int run = chunk.longestRun();
    Chunk head = byLongestRun[run];
    chunk.previous = null;
    chunk.next = head;
    if (head != null) {
      head.previous = chunk;
    }
    byLongestRun[run] = chunk;
  }

  private void unlink(Chunk chunk) {
    Chunk previous = chunk.previous;
    Chunk next = chunk.next;
    if (next != null) {
      next.previous = previous;
    }
    if (previous != null) {
      previous.next = next;
    } else {
      byLongestRun[chunk.longestRun()] = next;
    }
  }

  /**
   * Makes sure that the limit allows so much more, giving back idle pages for it.
   *
   * @return false if pages were given back, so that a caller who counted on some counts again
   */
  private boolean reserve(long bytes) {
    if (bytes <= limit - inUse()) {
      return true;
    }
    releasePages(Long.MAX_VALUE);
    if (bytes > limit - inUse()) {
      throw new LimitReached(
          "the limit of " + limit + " bytes is reached: " + inUse() + " are in use");
    }
    return false;
  }

  private long inUse() {
    return (backedPages << SizeClasses.PAGE_SHIFT) + hugeBytes;
  }

  /** A block with a mapping of its own; zeroed. */
  long allocateHuge(long bytes, long alignment) {
    if (bytes > Long.MAX_VALUE / 2 || bytes > limit) {
      throw new LimitReached("the limit is " + limit + " bytes");
    }
    long rounded = (bytes + VirtualMemory.PAGE_BYTES - 1) & -VirtualMemory.PAGE_BYTES;
    lock.lock();
    try {
      check();
      reserve(rounded);
      long address;
      try {
        address = VirtualMemory.allocate(rounded, Math.max(alignment, VirtualMemory.PAGE_BYTES));
      } catch (LinuxException | ArithmeticException e) {
        throw new LimitReached("the kernel has no more memory (" + e.getMessage() + ")");
      }
      keep(address, rounded);
      hugeBytes += rounded;
      return address;
    } finally {
      lock.unlock();
    }
  }

  /** Bytes of the huge block that begins there, even when closed; 0 when there is none. */
  long hugeBytes(long address) {
    Long bytes = huge.get(address);
    return bytes == null ? 0 : bytes;
  }

  /** A mapping that is not in the map would never be unmapped: an error (a full heap) undoes it. */
  private void keep(long address, long bytes) {
    boolean kept = false;
    try {
      huge.put(address, bytes);
      kept = true;
    } finally {
      if (!kept) {
        huge.remove(address);
        VirtualMemory.unmap(address, bytes);
      }
    }
  }

  void freeHuge(long address) {
    Long bytes;
    lock.lock();
    try {
      check(); // under the lock: a closed heap's mappings are only unmapped by unmapHuge
      bytes = huge.remove(address); // one of two concurrent frees loses, and throws
    } finally {
      lock.unlock();
    }
    if (bytes == null) {
      throw notABlock(address);
    }
    VirtualMemory.unmap(address, bytes);
    lock.lock();
    try {
      hugeBytes -= closed ? 0 : bytes; // then it is zero already
    } finally {
      lock.unlock();
    }
  }

  private void check() {
    if (closed) {
      throw new IllegalStateException("the allocator is closed");
    }
  }

  /**
   * Gives idle pages back to the kernel, half of those that were idle all the time since the last
   * call: a load that comes and goes with the seconds keeps some of its pages, and one that has
   * ended has given back nearly all after some calls.
   *
   * @return how many bytes went back
   */
  long releaseUnneeded() {
    lock.lock();
    try {
      long pages = Math.max(leastIdle / 2, Math.min(leastIdle, FEW_PAGES));
      long released = closed ? 0 : releasePages(pages);
      leastIdle = backedPages - usedPages;
      return released;
    } finally {
      lock.unlock();
    }
  }

  /** Gives all idle pages back. */
  long release() {
    lock.lock();
    try {
      return closed ? 0 : releasePages(Long.MAX_VALUE);
    } finally {
      lock.unlock();
    }
  }

  /** From the emptiest chunks first. */
  private long releasePages(long most) {
    long left = Math.min(most, backedPages - usedPages);
    long released = 0;
    for (int run = Chunk.PAGES; run > 0 && left > 0; run--) {
      for (Chunk chunk = byLongestRun[run]; chunk != null && left > 0; chunk = chunk.next) {
        int found = chunk.idleRun(0);
        while (found >= 0 && left > 0) {
          int page = found >> 16;
          int pages = (int) Math.min(left, found & 0xffff);
          long address = chunk.address + (long) page * SizeClasses.PAGE;
          if (!VirtualMemory.discard(address, (long) pages * SizeClasses.PAGE)) {
            return released; // locked memory: it stays, and counts
          }
          chunk.discarded(page, pages);
          backedPages -= pages;
          left -= pages;
          released += (long) pages * SizeClasses.PAGE;
          returnedBytes += (long) pages * SizeClasses.PAGE;
          found = chunk.idleRun(page + pages);
        }
      }
    }
    leastIdle = Math.min(leastIdle, backedPages - usedPages);
    return released;
  }

  /** Everything goes; addresses of the region are nobody's from here on. */
  void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      region.withdraw();
      for (int i = 0; i < chunkCount; i++) {
        OffHeap.unregister(region.base + (long) i * Chunk.BYTES);
      }
      withdrawHuge();
      backedPages = 0;
      usedPages = 0;
      largeBlocks = 0;
      largePages = 0;
      hugeBytes = 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * As {@link Region#withdraw}, and for its reason: the memory goes, the addresses stay accessible
   * until nobody can be copying from them any more. Locked memory stays until then as well.
   */
  private void withdrawHuge() {
    huge.forEach(
        (address, bytes) -> {
          OffHeap.unregister(address);
          VirtualMemory.discard(address, bytes);
        });
  }

  /** When the allocator is closed and unreachable: the addresses of huge blocks go too. */
  void unmapHuge() {
    for (Long address : huge.keySet()) {
      Long bytes = huge.remove(address);
      if (bytes != null) {
        VirtualMemory.unmap(address, bytes);
      }
    }
  }

  /** A moment's figures, in bytes but for the counts. */
  record Figures(
      long usedBytes,
      long idleBytes,
      long largeBlocks,
      long largeBytes,
      long hugeBlocks,
      long hugeBytes,
      long returnedBytes) {}

  Figures figures() {
    lock.lock();
    try {
      return new Figures(
          usedPages << SizeClasses.PAGE_SHIFT,
          (backedPages - usedPages) << SizeClasses.PAGE_SHIFT,
          largeBlocks,
          largePages << SizeClasses.PAGE_SHIFT,
          closed ? 0 : huge.size(),
          hugeBytes,
          returnedBytes);
    } finally {
      lock.unlock();
    }
  }
}
