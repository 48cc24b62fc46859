package io.quiesce.memory;

import java.util.List;

/**
 * A glimpse of an allocator. The figures are read one after another while others change them, and
 * the fast paths count nothing: what users hold is what lies in no cache, list or span, so it is
 * exact when nobody allocates or frees meanwhile. After {@link PerCpuAllocator#close} every amount
 * of memory that is held is 0; what was counted since the beginning stays.
 *
 * @param name of the allocator
 * @param limit in bytes; {@link Long#MAX_VALUE} for none
 * @param inUseBytes of blocks that users hold, small ones counted with the size of their class; in
 *     the hardening mode that includes red zones and the quarantine
 * @param backedBytes what counts against the limit: pages that may have memory behind them, and
 *     huge blocks
 * @param cachedBytes of free blocks in the caches of the CPUs
 * @param transferBytes of free blocks in the transfer arrays of the central lists
 * @param freeInSpansBytes of free blocks in spans
 * @param idleBytes of pages in no span that may still have memory behind them
 * @param returnedBytes given back to the kernel in all, huge blocks left out
 * @param largeBlocks blocks of whole pages, above 32 KiB, that users hold
 * @param largeBytes of those
 * @param hugeBlocks blocks with a mapping of their own, above 1 MiB, that users hold
 * @param hugeBytes of those
 * @param refills times a cache was empty and got a batch
 * @param overflows times a cache was full and gave a batch
 * @param drains times the cache of a CPU was emptied from elsewhere
 * @param trims times everything was given back, by {@link PerCpuAllocator#trim} or at the limit
 * @param outOfMemory allocations that failed
 * @param corruptFrees blocks that came back and were free already, or the middle of a block; found
 *     late, and not all of them: see the hardening mode
 * @param faults that the hardening mode found
 * @param quarantinedBytes of freed blocks that the hardening mode holds back, red zones included
 * @param classes of small blocks, those that have spans, in the order of their size
 */
public record AllocatorStatistics(
    String name,
    long limit,
    long inUseBytes,
    long backedBytes,
    long cachedBytes,
    long transferBytes,
    long freeInSpansBytes,
    long idleBytes,
    long returnedBytes,
    long largeBlocks,
    long largeBytes,
    long hugeBlocks,
    long hugeBytes,
    long refills,
    long overflows,
    long drains,
    long trims,
    long outOfMemory,
    long corruptFrees,
    long faults,
    long quarantinedBytes,
    List<SizeClass> classes) {

  /**
   * The small blocks of one size.
   *
   * @param blockBytes the size
   * @param live blocks that users hold
   * @param cached free blocks in the caches of the CPUs
   * @param inTransfer free blocks in the transfer array
   * @param freeInSpans free blocks in spans
   * @param spans runs of pages that hold them
   */
  public record SizeClass(
      int blockBytes, long live, long cached, long inTransfer, long freeInSpans, long spans) {}

  static AllocatorStatistics none(String name) {
    return new AllocatorStatistics(
        name, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of());
  }

  /** Over all classes; blocks in bytes. */
  static final class Sums {
    long live;
    long cached;
    long inTransfer;
    long freeInSpans;
    long corrupt;
    long refills;
    long overflows;

    void add(SizeClass row, CentralList.Figures figures) {
      live += row.live * row.blockBytes;
      cached += row.cached * row.blockBytes;
      inTransfer += row.inTransfer * row.blockBytes;
      freeInSpans += row.freeInSpans * row.blockBytes;
      corrupt += figures.corrupt();
      refills += figures.refills();
      overflows += figures.overflows();
    }
  }
}
