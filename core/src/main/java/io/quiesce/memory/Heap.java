package io.quiesce.memory;

import io.quiesce.internal.Facilities;
import io.quiesce.linux.LinuxException;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.percpu.PerCpuOps;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * All of an allocator but the handle that its users hold, so that it can go when they have let go
 * of it: the caches, lists and pages, and the slow paths through them.
 *
 * <p>Nothing here refers to the {@link PerCpuAllocator}. It keeps itself reachable while it is in
 * here ({@code reachabilityFence}): the memory is unmapped when it is not.
 */
final class Heap implements Runnable {
  private static final long HEADER = PerCpuOps.ARRAY_HEADER_BYTES;

  final String name;
  final long limit;
  final Region region;
  final PageHeap pages;
  final RowCaches caches;
  final CentralList[] central = new CentralList[SizeClasses.COUNT];
  private final long control;
  private final long controlBytes;
  private final AtomicLong trims = new AtomicLong();
  private final AtomicLong outOfMemory = new AtomicLong();
  final @Nullable Hardening hardening;
  volatile boolean closed;

  Heap(AllocatorBuilder builder) {
    name = builder.name;
    limit = builder.limit;
    region = Region.reserve(limit);
    long transferBytes = CentralList.transferBytes();
    controlBytes = transferBytes + RowCaches.bytes();
    try {
      control = VirtualMemory.allocate(controlBytes, VirtualMemory.PAGE_BYTES);
    } catch (LinuxException e) {
      region.unmap();
      throw Region.outOfMemory(e, controlBytes);
    }
    pages = new PageHeap(region, limit);
    caches = new RowCaches(control + transferBytes, builder.cacheBytes);
    hardening = builder.hardening ? new Hardening(this, builder.quarantineBytes) : null;
    long transfer = control;
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      central[c] = new CentralList(name, c, transfer, pages, caches);
      transfer += (long) CentralList.capacity(c) * Long.BYTES;
    }
  }

  static void checkSize(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException(
          "cannot allocate " + bytes + " bytes; pass a size of 0 or more");
    }
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the allocator '" + name + "' is closed");
    }
  }

  /** The row's cache was empty, or there is no row. */
  long miss(int c, long bytes, long why) {
    checkOpen();
    if (why == 0) {
      caches.miss(c, false, central);
    }
    try {
      return central[c].refill();
    } catch (PageHeap.LimitReached first) {
      reclaim("limit");
      try {
        return central[c].refill();
      } catch (PageHeap.LimitReached second) {
        throw outOfMemory(bytes, second);
      }
    }
  }

  void overflow(int c, long block, int why) {
    checkOpen();
    if (why == PerCpuOps.FULL
        && caches.miss(c, true, central)
        && PerCpuOps.arrayPush(caches.base + c * HEADER, RowCaches.STRIDE, block)
            == PerCpuOps.DONE) {
      return;
    }
    central[c].overflow(block);
  }

  /** In the debug mode a late access shows, and so does the middle of a block. */
  void poison(int c, long address) {
    Span span = pages.spanOf(address);
    if (span != null && span.blockStart(address) != address) {
      throw PageHeap.notABlock(address);
    }
    OffHeap.poison(address, SizeClasses.bytes(c));
  }

  /** All that the owner's fast path does not do; everything in the hardening mode. */
  long large(long bytes, long alignment, boolean zero) {
    checkSize(bytes);
    if (hardening != null) {
      return hardening.allocate(bytes, alignment, zero);
    }
    return largeBlock(bytes, alignment, zero);
  }

  /** For the hardening mode: memory for a block and what is around it. */
  long allocateBlock(long bytes) {
    if (bytes > SizeClasses.LARGEST) {
      return largeBlock(bytes, SizeClasses.MINIMUM, false);
    }
    int c = SizeClasses.of(bytes);
    long block = PerCpuOps.arrayPop(caches.base + c * HEADER, RowCaches.STRIDE);
    return block > 0 ? block : miss(c, bytes, block);
  }

  /** Takes that memory back. */
  void freeBlock(long block) {
    int c = region.contains(block) ? region.kind(block) : 0;
    if (c <= 0 || c >= SizeClasses.COUNT) {
      freeLargeBlock(block);
      return;
    }
    int done = PerCpuOps.arrayPush(caches.base + c * HEADER, RowCaches.STRIDE, block);
    if (done != PerCpuOps.DONE) {
      overflow(c, block, done);
    }
  }

  private long largeBlock(long bytes, long alignment, boolean zero) {
    checkOpen();
    try {
      return largeOrThrow(bytes, alignment, zero);
    } catch (PageHeap.LimitReached first) {
      reclaim("limit");
      try {
        return largeOrThrow(bytes, alignment, zero);
      } catch (PageHeap.LimitReached second) {
        throw outOfMemory(bytes, second);
      }
    }
  }

  private long largeOrThrow(long bytes, long alignment, boolean zero) {
    if (bytes > PageHeap.LARGEST_SPAN || alignment > PageHeap.LARGEST_SPAN) {
      return pages.allocateHuge(Math.max(1, bytes), alignment);
    }
    int count = (int) Math.max(1, (bytes + SizeClasses.PAGE - 1) >> SizeClasses.PAGE_SHIFT);
    int alignmentPages = (int) Math.max(1, alignment >> SizeClasses.PAGE_SHIFT);
    if (count + alignmentPages - 1 > Chunk.PAGES) {
      return pages.allocateHuge(bytes, alignment);
    }
    long address = pages.allocate(count, alignmentPages, 0).start;
    if (zero) {
      OffHeap.fill(address, bytes, (byte) 0);
    }
    return address;
  }

  void freeLarge(long address) {
    if (address == 0) {
      return;
    }
    if (hardening != null) {
      hardening.free(address);
    } else {
      freeLargeBlock(address);
    }
  }

  private void freeLargeBlock(long address) {
    checkOpen();
    if (region.contains(address)) {
      pages.freeLarge(address);
    } else {
      pages.freeHuge(address);
    }
  }

  long usableSize(long address) {
    if (hardening != null) {
      return hardening.usableSize(address);
    }
    if (region.contains(address)) {
      int c = region.kind(address);
      if (c == Region.LARGE) {
        Span span = pages.spanOf(address);
        if (span != null && span.start == address) {
          return (long) span.pages * SizeClasses.PAGE;
        }
      } else if (c > 0) {
        return SizeClasses.bytes(c);
      }
    }
    long huge = pages.hugeBytes(address);
    checkOpen();
    if (huge == 0) {
      throw PageHeap.notABlock(address);
    }
    return huge;
  }

  private OutOfMemoryError outOfMemory(long bytes, PageHeap.LimitReached why) {
    outOfMemory.getAndIncrement();
    String reason = Objects.requireNonNull(why.getMessage());
    AllocatorEvents.outOfMemory(name, bytes, limit, reason);
    return new OutOfMemoryError(
        "the allocator '"
            + name
            + "' has no "
            + bytes
            + " bytes: "
            + reason
            + "; free blocks, or build it with a higher limit");
  }

  long trim() {
    checkOpen();
    return reclaim("trim");
  }

  /** Everything that is cached goes to its span, and idle pages to the kernel. */
  private long reclaim(String cause) {
    long begun = System.nanoTime();
    trims.getAndIncrement();
    if (hardening != null) {
      hardening.flush();
    }
    int drained = caches.drainAll(central);
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      central[c].flush();
    }
    long returned = pages.release();
    AllocatorEvents.trim(name, cause, drained, returned, begun);
    return returned;
  }

  /** What the housekeeper does every second. */
  void tick() {
    long begun = System.nanoTime();
    int drained = caches.drainIdle(central);
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      central[c].trim();
    }
    long returned = pages.releaseUnneeded();
    if (drained > 0 || returned > 0) {
      AllocatorEvents.trim(name, "idle", drained, returned, begun);
    }
  }

  /** Read one after another, and no operation waits: a glimpse. */
  AllocatorStatistics statistics() {
    PageHeap.Figures p = pages.figures();
    List<AllocatorStatistics.SizeClass> classes = new ArrayList<>();
    AllocatorStatistics.Sums sums = new AllocatorStatistics.Sums();
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      CentralList.Figures f = central[c].figures();
      long cached = closed ? 0 : caches.cached(c);
      // Blocks that move while we look may be in none of these places, or in two.
      long live =
          Math.max(
              0,
              f.spans() * SizeClasses.blocksPerSpan(c) - f.freeInSpans() - f.inTransfer() - cached);
      AllocatorStatistics.SizeClass row =
          new AllocatorStatistics.SizeClass(
              SizeClasses.bytes(c), live, cached, f.inTransfer(), f.freeInSpans(), f.spans());
      sums.add(row, f);
      if (row.spans() > 0) {
        classes.add(row);
      }
    }
    return new AllocatorStatistics(
        name,
        limit,
        sums.live + p.largeBytes() + p.hugeBytes(),
        p.usedBytes() + p.idleBytes() + p.hugeBytes(),
        sums.cached,
        sums.inTransfer,
        sums.freeInSpans,
        p.idleBytes(),
        p.returnedBytes(),
        p.largeBlocks(),
        p.largeBytes(),
        p.hugeBlocks(),
        p.hugeBytes(),
        sums.refills,
        sums.overflows,
        caches.drains(),
        trims.get(),
        outOfMemory.get(),
        sums.corrupt,
        hardening == null ? 0 : hardening.faults(),
        hardening == null ? 0 : hardening.quarantined(),
        List.copyOf(classes));
  }

  void close() {
    closed = true;
    if (hardening != null) {
      hardening.close();
    }
    // In this order: nothing gets out of the lists any more, then not out of the caches either.
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      central[c].close();
    }
    caches.close();
    pages.close();
  }

  /** When the allocator is unreachable: the addresses go too. */
  @Override
  public void run() {
    close();
    if (Facilities.isJmxWanted()) {
      AllocatorBean.unregister(name, null);
    }
    pages.unmapHuge();
    region.unmap();
    VirtualMemory.unmap(control, controlBytes);
  }
}
