package io.quiesce.memory;

import org.jspecify.annotations.Nullable;

/**
 * A run of pages that holds blocks of one class, or one large block. Guarded by the lock of its
 * central list (blocks) or of the page heap (place).
 *
 * <p>Which blocks are here, and not handed out or in a cache, is a bit each: nothing is written
 * into a free block, so that its pages can go back to the kernel and a late writer damages nothing
 * of ours.
 */
final class Span {
  /** A block index by multiplication instead of division, see {@link #indexOf}. */
  private static final int RECIPROCAL_SHIFT = 32;

  final Chunk chunk;
  final int firstPage;
  final int pages;
  final long start;
  final int sizeClass; // 0: one large block

  private final int blockBytes;
  private final long reciprocal;
  private final int blocks;
  private final long[] here;
  private int free;

  // The list of its central list that it is in.
  @Nullable Span previous;
  @Nullable Span next;
  int bucket = -1;

  Span(Chunk chunk, int firstPage, int pages, int sizeClass) {
    this.chunk = chunk;
    this.firstPage = firstPage;
    this.pages = pages;
    this.start = chunk.address + (long) firstPage * SizeClasses.PAGE;
    this.sizeClass = sizeClass;
    this.blockBytes = sizeClass == 0 ? pages * SizeClasses.PAGE : SizeClasses.bytes(sizeClass);
    this.blocks = sizeClass == 0 ? 1 : SizeClasses.blocksPerSpan(sizeClass);
    this.reciprocal = ((1L << RECIPROCAL_SHIFT) + blockBytes - 1) / blockBytes;
    this.here = sizeClass == 0 ? new long[0] : new long[(blocks + 63) >> 6];
    for (int i = 0; i < here.length; i++) {
      here[i] = i == here.length - 1 && (blocks & 63) != 0 ? (1L << (blocks & 63)) - 1 : -1L;
    }
    this.free = sizeClass == 0 ? 0 : blocks;
  }

  int blocks() {
    return blocks;
  }

  int free() {
    return free;
  }

  boolean isWhole() {
    return free == blocks;
  }

  /** Takes the lowest block that is here; there must be one. */
  long take() {
    for (int i = 0; ; i++) {
      long word = here[i];
      if (word != 0) {
        here[i] = word & (word - 1);
        free--;
        return start + ((long) (i << 6) + Long.numberOfTrailingZeros(word)) * blockBytes;
      }
    }
  }

  /** Puts a block back; false if no block begins there, or it is here already. */
  boolean put(long address) {
    long offset = address - start;
    int index = indexOf(offset);
    if (index >= blocks || (long) index * blockBytes != offset) {
      return false;
    }
    long bit = 1L << (index & 63);
    if ((here[index >> 6] & bit) != 0) {
      return false;
    }
    here[index >> 6] |= bit;
    free++;
    return true;
  }

  /**
   * Which block an offset is in. For the start of block k the product is k * (2^32 + e) with e
   * below the block's size, so what e adds is below 2^32 and the shift gives k.
   */
  private int indexOf(long offset) {
    return (int) ((offset * reciprocal) >>> RECIPROCAL_SHIFT);
  }

  /** The start of the block that an address is in; for reports. */
  long blockStart(long address) {
    long offset = address - start;
    return start + offset / blockBytes * blockBytes;
  }
}
