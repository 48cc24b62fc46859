package io.quiesce.trace.ring;

import java.lang.foreign.MemorySegment;

/**
 * How a producer reserves a record, and how a ring moves from one sub-buffer to the next: the part
 * that must be atomic against other threads of the same CPU.
 *
 * <p>Three forms give the same results: restartable sequences ({@link SequencePath}),
 * compare-and-swap ({@link CompareAndSwapPath}), and a lock ({@link LockPath}). {@code ./quiesce
 * bench trace.hotpath} compares them.
 */
abstract sealed class HotPath permits SequencePath, CompareAndSwapPath, LockPath {
  final MemorySegment memory;
  final long table;
  final RingGeometry geometry;
  final long base;

  HotPath(RingMemory ring) {
    this.memory = ring.memory();
    this.base = ring.base();
    this.table = base + RingLayout.TABLE_AT;
    this.geometry = ring.geometry();
  }

  /**
   * Reserves and stamps a record of the CPU this thread is on: its size with the state RESERVED,
   * its owner and its stamp are stored.
   *
   * @param size a multiple of 8, with the slot's 16 bytes
   * @return its place, or 0 or less if the slow path must look
   */
  abstract long tryReserve(long size, int owner);

  /**
   * Moves a row's offset, and stores one word, both or neither; nothing happens if the offset is
   * not as expected, the row is closed, or, with restartable sequences, this is another CPU.
   */
  abstract void move(int row, long expected, long offset, long place, long word);

  /** The row for this thread now; negative if there is none. */
  abstract int row();

  /** Whether a sub-buffer must be zero before records are reserved in it. */
  abstract boolean needsZeros();

  /** Whether a whole sub-buffer may hold a record that is not committed. */
  boolean maybePending(int row, long offset) {
    return true;
  }

  /** Whether a thread that will not go on holds the row: nobody waits for it any more. */
  boolean isHeldUp(int row) {
    return false;
  }

  /**
   * Ends a row's current sub-buffer from any thread; nothing happens if it holds no record, or if
   * the row is held up.
   */
  abstract void flush(int row);

  /** Ends all reserving: what is not seen in the offsets from here on was never reserved (R.10). */
  abstract void end();

  final long rowPlace(int row) {
    return base + RingLayout.rowAt(row);
  }

  /** Where an offset of a row lies. */
  final long place(int row, long offset) {
    return base + geometry.ringAt(row) + (offset & geometry.ringMask());
  }

  /** Whether the sub-buffer that an offset is in has a record, or had one. */
  final boolean isBegun(long offset) {
    return (offset & geometry.subMask()) > RingLayout.SUB_HEADER_BYTES;
  }

  /** The sub-buffer behind the one that an offset is in. */
  final long next(long offset) {
    return (offset | geometry.subMask()) + 1;
  }

  /** Sets a bit of the reasons for which a row is closed. */
  final void close(int row, int reason) {
    long at = rowPlace(row) + RingLayout.CLOSED;
    int seen = Store.getIntVolatile(memory, at);
    while (!Store.compareAndSetInt(memory, at, seen, seen | reason)) {
      seen = Store.getIntVolatile(memory, at);
    }
  }

  /** Takes it back. */
  final void open(int row, int reason) {
    long at = rowPlace(row) + RingLayout.CLOSED;
    int seen = Store.getIntVolatile(memory, at);
    while (!Store.compareAndSetInt(memory, at, seen, seen & ~reason)) {
      seen = Store.getIntVolatile(memory, at);
    }
  }
}
