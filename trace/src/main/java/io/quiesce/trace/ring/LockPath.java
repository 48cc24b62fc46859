package io.quiesce.trace.ring;

/**
 * A lock word in each row guards plain loads and stores. Works on every machine; a thread that is
 * preempted inside holds up the others of its row.
 */
final class LockPath extends HotPath {
  private static final int SPINS = 100;

  private final Stamps stamps;

  LockPath(RingMemory ring, Stamps stamps) {
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
    lock(at);
    try {
      if (Store.getIntVolatile(memory, at + RingLayout.CLOSED) != 0) {
        return 0;
      }
      long offset = Store.getLong(memory, at);
      long position = offset & geometry.subMask();
      if (position == 0 || position + size > geometry.subBytes()) {
        return 0;
      }
      long slot = place(row, offset);
      Store.putInt(memory, slot, (int) size | RingLayout.RESERVED);
      Store.putInt(memory, slot + RingLayout.SLOT_ID, owner);
      Store.putLong(memory, slot + RingLayout.SLOT_STAMP, stamps.now());
      Store.setLongRelease(memory, at, offset + size); // R.2
      return slot;
    } finally {
      unlock(at);
    }
  }

  @Override
  void move(int row, long expected, long offset, long place, long word) {
    long at = rowPlace(row);
    lock(at);
    try {
      if (Store.getIntVolatile(memory, at + RingLayout.CLOSED) == 0
          && Store.getLong(memory, at) == expected) {
        Store.putLong(memory, place, word);
        Store.setLongRelease(memory, at, offset);
      }
    } finally {
      unlock(at);
    }
  }

  @Override
  int row() {
    return Rows.row();
  }

  @Override
  boolean needsZeros() {
    return false;
  }

  @Override
  void flush(int row) {
    long at = rowPlace(row);
    lock(at);
    try {
      long offset = Store.getLong(memory, at);
      if (isBegun(offset)) {
        Store.putLong(memory, place(row, offset), RingLayout.PADDING);
        Store.setLongRelease(memory, at, next(offset));
      }
    } finally {
      unlock(at);
    }
  }

  @Override
  void end() {
    for (int row = 0; row < geometry.rows(); row++) {
      long at = rowPlace(row);
      lock(at);
      try {
        close(row, RingLayout.ENDED);
      } finally {
        unlock(at);
      }
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // The holder may wait for this CPU.
  private void lock(long row) {
    int spins = 0;
    while (!Store.compareAndSetInt(memory, row + RingLayout.LOCK, 0, 1)) {
      if (++spins % SPINS == 0) {
        Thread.yield();
      } else {
        Thread.onSpinWait();
      }
    }
  }

  private void unlock(long row) {
    Store.setIntRelease(memory, row + RingLayout.LOCK, 0);
  }
}
