package io.quiesce.trace.ring;

/**
 * The offset is read, then the clock, then the offset is swapped for the one behind the record; if
 * another thread was faster, all over again. So stamps are in the order of the records. Works on
 * every machine.
 *
 * <p>The slot's size is stored after the swap. A reader that comes in between finds zero there,
 * since sub-buffers are zeroed before they are used, and knows that the rest is not written yet.
 */
final class CompareAndSwapPath extends HotPath {
  private final Stamps stamps;

  CompareAndSwapPath(RingMemory ring, Stamps stamps) {
    super(ring);
    this.stamps = stamps;
  }

  @Override
  long tryReserve(long size, int owner) {
    int row = Rows.row();
    if (row < 0 || row >= geometry.rows()) {
      return -1;
    }
    long at = rowPlace(row);
    while (true) {
      if (Store.getIntVolatile(memory, at + RingLayout.CLOSED) != 0) {
        return 0;
      }
      long offset = Store.getLongVolatile(memory, at);
      long position = offset & geometry.subMask();
      if (position == 0 || position + size > geometry.subBytes()) {
        return 0;
      }
      long slot = take(row, offset, size, owner, stamps.now());
      if (slot >= 0) {
        return slot;
      }
    }
  }

  /** The record's place; 0 if the session has ended, -1 if another thread was faster. */
  long take(int row, long offset, long size, int owner, long stamp) {
    long at = rowPlace(row);
    if (!Store.compareAndSetLong(memory, at, offset, offset + size)) {
      return -1;
    }
    long slot = place(row, offset);
    Store.putInt(memory, slot + RingLayout.SLOT_ID, owner);
    Store.setLongRelease(memory, slot + RingLayout.SLOT_STAMP, stamp); // behind the owner: R.2
    // R.10: the last look at the offsets may have been before the swap.
    boolean late = (Store.getIntVolatile(memory, at + RingLayout.CLOSED) & RingLayout.ENDED) != 0;
    int state = late ? RingLayout.ABANDONED : RingLayout.RESERVED;
    Store.setIntRelease(memory, slot, (int) size | state); // R.2: zero until here.
    return late ? 0 : slot;
  }

  @Override
  void move(int row, long expected, long offset, long place, long word) {
    if (Store.getIntVolatile(memory, rowPlace(row) + RingLayout.CLOSED) != 0) {
      return;
    }
    if ((expected & geometry.subMask()) == 0) {
      // Whoever begins a sub-buffer has claimed it (R.5); the swap publishes its zeros.
      Store.putLong(memory, place, word);
      Store.compareAndSetLong(memory, rowPlace(row), expected, offset);
    } else if (Store.compareAndSetLong(memory, rowPlace(row), expected, offset)) {
      Store.setLongRelease(memory, place, word); // R.3
    }
  }

  @Override
  int row() {
    return Rows.row();
  }

  @Override
  boolean needsZeros() {
    return true;
  }

  @Override
  void flush(int row) {
    long offset = Store.getLongVolatile(memory, rowPlace(row));
    while (isBegun(offset)) {
      if (Store.compareAndSetLong(memory, rowPlace(row), offset, next(offset))) {
        Store.setLongRelease(memory, place(row, offset), RingLayout.PADDING);
        return;
      }
      offset = Store.getLongVolatile(memory, rowPlace(row));
    }
  }

  @Override
  void end() {
    for (int row = 0; row < geometry.rows(); row++) {
      close(row, RingLayout.ENDED);
    }
  }
}
