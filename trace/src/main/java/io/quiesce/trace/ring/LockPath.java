package io.quiesce.trace.ring;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A lock word in each row guards plain loads and stores. Works on every machine; a thread that is
 * preempted inside holds up the others of its row.
 *
 * <p>A thread whose stack overflows inside may find no stack for giving the lock back either. What
 * it leaves is sound, since each change takes effect by one store of the offset. So it takes its
 * own lock over when it comes again, and others take it over when they have waited for {@link
 * #MOST_NANOS} and the holder is dead or has left the tracer. If it is neither, as when a debugger
 * has suspended it, the row is held up: its events are lost at once, and counted, until somebody
 * finds the lock free.
 */
final class LockPath extends HotPath {
  private static final int SPINS = 100;

  /** A holder needs some hundred nanoseconds, unless it waits for a CPU. */
  private static final long MOST_NANOS = 1_000_000_000;

  private static final long TAKING = 1L << Integer.SIZE;
  private static final long PLATFORM = Long.MIN_VALUE;
  private static final long TAKINGS = Long.MAX_VALUE & -TAKING;

  private final Stamps stamps;
  private final long patience;

  /** When somebody last looked for the holder of a row that is held up; 0 for one that is not. */
  private final AtomicLongArray heldUp;

  LockPath(RingMemory ring, Stamps stamps) {
    this(ring, stamps, MOST_NANOS);
  }

  LockPath(RingMemory ring, Stamps stamps, long patienceNanos) {
    super(ring);
    this.stamps = stamps;
    this.patience = patienceNanos;
    this.heldUp = new AtomicLongArray(ring.geometry().rows());
  }

  @Override
  long tryReserve(long size, int owner) {
    int row = Rows.row();
    if (row < 0 || row >= geometry.rows()) {
      return -1;
    }
    long at = rowPlace(row);
    if (!lock(row, owner)) {
      return 0;
    }
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
    if (!lock(row, self())) {
      return;
    }
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
    if (!lock(row, self())) {
      return;
    }
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
  boolean isHeldUp(int row) {
    return heldUp.get(row) != 0;
  }

  @Override
  void end() {
    for (int row = 0; row < geometry.rows(); row++) {
      boolean locked = lock(row, self());
      try {
        close(row, RingLayout.ENDED);
      } finally {
        if (locked) {
          unlock(rowPlace(row));
        }
      }
    }
  }

  private static int self() {
    return Owners.self();
  }

  /**
   * The word of a lock that is held: who holds it, whether a platform thread does, and how often it
   * was taken, which stays in a free one. So of two that take it over one fails; and who found the
   * holder outside the tracer fails if it has come back and taken the lock once more.
   */
  private static long held(int self, long before) {
    long platform = Thread.currentThread().isVirtual() ? 0 : PLATFORM;
    return ((before + TAKING) & TAKINGS) | platform | Integer.toUnsignedLong(self);
  }

  /** Whether it was got; if not, the row is held up. */
  private boolean lock(int row, int self) {
    long at = rowPlace(row) + RingLayout.LOCK;
    long seen = Store.getLongVolatile(memory, at);
    boolean locked =
        ((int) seen == 0 && Store.compareAndSetLong(memory, at, seen, held(self, seen)))
            || lockSlowly(row, self);
    if (locked && isHeldUp(row)) {
      heldUp.set(row, 0);
    }
    return locked;
  }

  @SuppressWarnings("ThreadPriorityCheck") // The holder may wait for this CPU.
  private boolean lockSlowly(int row, int self) {
    long at = rowPlace(row) + RingLayout.LOCK;
    long began = 0;
    for (int spins = 1; ; spins++) {
      long seen = Store.getLongVolatile(memory, at);
      if ((int) seen == 0 && Store.compareAndSetLong(memory, at, seen, held(self, seen))) {
        return true;
      }
      // Nothing in here comes back to the tracer, so this thread left it locked.
      if ((int) seen == self && takeOver(at, seen, self)) {
        return true;
      }
      if (spins % SPINS != 0) {
        Thread.onSpinWait();
        continue;
      }
      long now = System.nanoTime();
      if (began == 0) {
        began = now;
      }
      long looked = heldUp.get(row);
      if (now - (looked == 0 ? began : looked) > patience) {
        heldUp.set(row, now | 1);
        return (int) seen != 0 && isLeft(seen) && takeOver(at, seen, self);
      }
      if (looked != 0) {
        return false;
      }
      Thread.yield();
    }
  }

  private boolean takeOver(long at, long seen, int self) {
    return Store.compareAndSetLong(memory, at, seen, held(self, seen));
  }

  /** Whether a holder will not go on. Of a virtual thread nobody can say. */
  private static boolean isLeft(long word) {
    return (word & PLATFORM) != 0 && Owners.isGone((int) word);
  }

  private void unlock(long row) {
    long at = row + RingLayout.LOCK;
    Store.setLongRelease(memory, at, Store.getLong(memory, at) & TAKINGS);
  }
}
