package io.quiesce.memory;

/**
 * Which blocks there are: 16 to 128 bytes in steps of 16, then eight sizes to each doubling, up to
 * 32 KiB. What a block wastes is therefore below 16 bytes or at most an eighth of it.
 *
 * <p>Class 0 means "not a small block". Blocks of one class lie in spans of whole pages, whose
 * length is such that what is left at the end is at most an eighth as well.
 */
final class SizeClasses {
  static final int PAGE_SHIFT = 13;
  static final int PAGE = 1 << PAGE_SHIFT;
  static final int MINIMUM = 16;
  static final int LARGEST = 32 * 1024;

  private static final int LINEAR = 8; // classes up to 128
  private static final int LINEAR_END = LINEAR * MINIMUM;
  private static final int STEPS_SHIFT = 3; // eight to a doubling
  private static final int DOUBLINGS = 8; // 128 to 32,768

  /** One more than the highest class. */
  static final int COUNT = 1 + LINEAR + (DOUBLINGS << STEPS_SHIFT);

  private static final int MOST_PAGES = 32;
  private static final int BATCH_BYTES = 16 * 1024;
  private static final int MOST_BATCH = 32;
  private static final int MOST_CACHED_BYTES = 256 * 1024;
  private static final int MOST_CACHED = 1024;

  private static final int[] BYTES = new int[COUNT];
  private static final int[] PAGES = new int[COUNT];

  static {
    for (int c = 1; c < COUNT; c++) {
      BYTES[c] = bytesOf(c);
      PAGES[c] = pagesOf(BYTES[c]);
    }
  }

  private SizeClasses() {}

  /** The class for a request, which must be from 0 to {@link #LARGEST}. */
  static int of(long bytes) {
    int last = Math.max(0, (int) bytes - 1);
    if (last < LINEAR_END) {
      return 1 + (last >> 4);
    }
    int exponent = 31 - Integer.numberOfLeadingZeros(last);
    // 128 to 255 is the first doubling: exponent 7.
    return 1 + LINEAR + ((exponent - 7) << STEPS_SHIFT) + ((last >> (exponent - 3)) & 7);
  }

  /** The smallest class whose blocks are all aligned; 0 when there is none. */
  static int of(long bytes, long alignment) {
    if (alignment > PAGE) {
      return 0;
    }
    // Spans start at pages, so a block is aligned as its size is. A power of two always fits.
    int c = of(Math.max(bytes, alignment));
    while (c < COUNT && (BYTES[c] & (alignment - 1)) != 0) {
      c++;
    }
    return c < COUNT ? c : 0;
  }

  private static int bytesOf(int c) {
    if (c <= LINEAR) {
      return c * MINIMUM;
    }
    int index = c - 1 - LINEAR;
    int step = 1 << (7 + (index >> STEPS_SHIFT) - STEPS_SHIFT);
    return (8 + (index & 7) + 1) * step;
  }

  private static int pagesOf(int bytes) {
    int pages = Math.max(1, Math.ceilDiv(bytes * 4, PAGE)); // at least four blocks
    while (pages < MOST_PAGES && (pages * PAGE) % bytes * 8 > pages * PAGE) {
      pages++;
    }
    return pages;
  }

  static int bytes(int c) {
    return BYTES[c];
  }

  /** Pages of a span. */
  static int pages(int c) {
    return PAGES[c];
  }

  static int blocksPerSpan(int c) {
    return PAGES[c] * PAGE / BYTES[c];
  }

  /** How many blocks move at once between a CPU's cache and the central list. */
  static int batch(int c) {
    return Math.clamp(BATCH_BYTES / BYTES[c], 2, MOST_BATCH);
  }

  /** Up to how many blocks a CPU's cache can ever be allowed to hold. */
  static int mostCached(int c) {
    return Math.clamp(MOST_CACHED_BYTES / BYTES[c], 8, MOST_CACHED);
  }
}
