package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Opens the package-private central list of an allocator to jcstress: one list of blocks of 32 KiB,
 * four to a span, above caches without room. States come and go by the million, so pages and caches
 * are shared, and the transfer arrays lie in a ring.
 */
public final class CentralLists {
  /** Blocks that are in the transfer array at the beginning, or in the caller's hands. */
  public static final int BLOCKS = 4;

  private static final int CLASS = SizeClasses.COUNT - 1;
  private static final int SLOTS = 1 << 18;
  private static final long SLOT = CentralList.capacity(CLASS) * 8L;
  private static final long RING = OffHeap.allocate(SLOTS * SLOT, 64);
  private static final AtomicInteger NEXT = new AtomicInteger();
  private static final PageHeap PAGES =
      new PageHeap(Region.reserve(Long.MAX_VALUE), Long.MAX_VALUE);
  private static final RowCaches CACHES =
      new RowCaches(OffHeap.allocate(RowCaches.bytes(), 4_096), 0);

  private final CentralList list;
  private final long[] blocks = new long[BLOCKS];

  /** The broken twin's lock. */
  private static final class NoLock extends ReentrantLock {
    private static final long serialVersionUID = 1L;

    @Override
    public void lock() {
      // That is what is left out.
    }

    @Override
    public void unlock() {
      // That is what is left out.
    }
  }

  /**
   * A list, and its blocks in the caller's hands.
   *
   * @param locked false for the broken twin
   */
  public CentralLists(boolean locked) {
    long transfer = RING + (NEXT.getAndIncrement() & (SLOTS - 1)) * SLOT;
    list =
        new CentralList(
            "stress", CLASS, transfer, PAGES, CACHES, locked ? new ReentrantLock() : new NoLock());
    for (int i = 0; i < BLOCKS; i++) {
      blocks[i] = list.refill();
    }
  }

  /** Puts all into the transfer array. */
  public void putAll() {
    for (int i = 0; i < BLOCKS; i++) {
      overflow(i);
    }
  }

  /**
   * Gives a block to the list.
   *
   * @param number below {@link #BLOCKS}
   */
  public void overflow(int number) {
    list.overflow(blocks[number]);
  }

  /**
   * Takes a block from the list.
   *
   * @return its number; -1 for one that is none of the first {@link #BLOCKS}
   */
  public int refill() {
    long block = list.refill();
    for (int i = 0; i < BLOCKS; i++) {
      if (blocks[i] == block) {
        return i;
      }
    }
    return -1;
  }

  /**
   * The end: gives the pages back, whatever the list says.
   *
   * @return how many blocks are in the transfer array and in spans
   */
  public int end() {
    CentralList.Figures figures = list.figures();
    list.close();
    Span span = PAGES.spanOf(blocks[0]);
    if (span != null) {
      PAGES.free(span);
    }
    return (int) (figures.inTransfer() + figures.freeInSpans());
  }
}
