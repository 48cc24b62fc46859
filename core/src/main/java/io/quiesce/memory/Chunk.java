package io.quiesce.memory;

import org.jspecify.annotations.Nullable;

/**
 * Two MiB of the region, the unit in which address space is taken into use: which of its 256 pages
 * are in spans, and which may have memory behind them. Guarded by the page heap's lock.
 */
final class Chunk {
  static final int SHIFT = 21;
  static final long BYTES = 1L << SHIFT;
  static final int PAGES = (int) (BYTES >> SizeClasses.PAGE_SHIFT);
  private static final int WORDS = PAGES / 64;

  final long address;
  private final long[] used = new long[WORDS];
  private final long[] backed = new long[WORDS];
  private final long[] notIdle = new long[WORDS]; // of find

  /** The span that each page is in; read under a central list's lock as well. */
  final @Nullable Span[] spans = new Span[PAGES];

  private int longestRun = PAGES;

  // The list of chunks with the same longest run.
  @Nullable Chunk previous;
  @Nullable Chunk next;

  Chunk(long address) {
    this.address = address;
  }

  /** The longest run of pages that are in no span. */
  int longestRun() {
    return longestRun;
  }

  /**
   * The first free run of so many pages at a multiple of {@code alignment}, one with memory behind
   * all of it if there is such a one; -1 for none.
   */
  int find(int pages, int alignment) {
    for (int i = 0; i < WORDS; i++) {
      notIdle[i] = used[i] | ~backed[i];
    }
    int page = find(notIdle, pages, alignment);
    return page >= 0 ? page : find(used, pages, alignment);
  }

  private static int find(long[] taken, int pages, int alignment) {
    int page = next(taken, 0, false);
    while (page < PAGES) {
      int end = next(taken, page, true);
      int start = (page + alignment - 1) & -alignment;
      if (end - start >= pages) {
        return start;
      }
      page = next(taken, end, false);
    }
    return -1;
  }

  void take(int page, int pages) {
    set(used, page, pages, true);
    measure();
  }

  void give(int page, int pages) {
    set(used, page, pages, false);
    measure();
  }

  private void measure() {
    int longest = 0;
    int page = next(used, 0, false);
    while (page < PAGES) {
      int end = next(used, page, true);
      longest = Math.max(longest, end - page);
      page = next(used, end, false);
    }
    longestRun = longest;
  }

  /** How many of these pages have no memory behind them yet. */
  int unbacked(int page, int pages) {
    int count = 0;
    for (int p = page; p < page + pages; p++) {
      count += get(backed, p) ? 0 : 1;
    }
    return count;
  }

  void back(int page, int pages) {
    set(backed, page, pages, true);
  }

  /** Pages that are in no span and yet may have memory behind them. */
  int idlePages() {
    int count = 0;
    for (int i = 0; i < WORDS; i++) {
      count += Long.bitCount(backed[i] & ~used[i]);
    }
    return count;
  }

  /** The first run of idle pages from a page on, as {@code page << 16 | pages}; -1 for none. */
  int idleRun(int from) {
    for (int page = from; page < PAGES; page++) {
      if (get(backed, page) && !get(used, page)) {
        int end = page + 1;
        while (end < PAGES && get(backed, end) && !get(used, end)) {
          end++;
        }
        return page << 16 | (end - page);
      }
    }
    return -1;
  }

  void discarded(int page, int pages) {
    set(backed, page, pages, false);
  }

  private static boolean get(long[] bits, int page) {
    return (bits[page >> 6] >>> page & 1) != 0;
  }

  private static void set(long[] bits, int page, int pages, boolean value) {
    for (int p = page; p < page + pages; p++) {
      if (value) {
        bits[p >> 6] |= 1L << p;
      } else {
        bits[p >> 6] &= ~(1L << p);
      }
    }
  }

  /** The first page from a place on whose bit has the value; {@link #PAGES} for none. */
  private static int next(long[] bits, int from, boolean value) {
    for (int page = from; page < PAGES; page = (page | 63) + 1) {
      long word = (value ? bits[page >> 6] : ~bits[page >> 6]) >>> page;
      if (word != 0) {
        return page + Long.numberOfTrailingZeros(word);
      }
    }
    return PAGES;
  }
}
