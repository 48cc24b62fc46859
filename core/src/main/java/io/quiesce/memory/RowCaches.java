package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.percpu.PerCpuOps;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The cache of each row: for every class an array of free blocks, pushed and popped by one
 * restartable sequence.
 *
 * <pre>
 *   row   +--------------------+---------------------+-----------------+----
 *         | 73 headers of 16   | slots of class 1    | slots of class 2| ...
 *         | {count, capacity,  |                     |                 |
 *         |  slots, closed}    |                     |                 |
 *         +--------------------+---------------------+-----------------+----
 * </pre>
 *
 * <p>A row that was never used is all zeros and takes up no memory: an array without capacity is
 * both empty and full. Capacity is given where it is wanted: a class gets room for a batch at its
 * first miss, and more each time an overflow follows an underflow or the other way round (a class
 * that only ever overflows gains nothing from a larger cache). All classes of a row share a budget
 * of bytes; when it is spent, the room is taken from another class, in turn.
 *
 * <p>A header's words are stored by sequences on the row alone, the capacity included (together
 * with the count, and only if the array is not closed). {@link #drain} closes the arrays of a row
 * first and fences it (docs/ordering.md, P.3).
 */
final class RowCaches {
  private static final int HEADER = PerCpuOps.ARRAY_HEADER_BYTES;
  private static final int[] SLOTS = new int[SizeClasses.COUNT];
  private static final int ROW_BYTES;
  private static final int TRIES = 4;
  private static final int DRAINED_AT_ONCE = 64;

  static {
    int at = (SizeClasses.COUNT * HEADER + 63) & -64;
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      SLOTS[c] = at;
      at += (SizeClasses.mostCached(c) * Long.BYTES + 63) & -64;
    }
    ROW_BYTES = (at + VirtualMemory.PAGE_BYTES - 1) & -VirtualMemory.PAGE_BYTES;
  }

  /** Distance between rows. */
  static final long STRIDE = ROW_BYTES;

  final long base;
  private final int rows;
  private final long budget;
  private final AtomicLongArray spent;
  private final byte[] lastMiss; // a hint, raced upon
  private final int[] victim; // a hint, raced upon
  private final long[] seen; // of the housekeeper
  private final ReentrantLock lock = new ReentrantLock(); // one drainer; first use of an array
  private boolean closed;
  private long drains;

  RowCaches(long base, long budget) {
    this.base = base;
    this.rows = PerCpuOps.rows();
    this.budget = budget;
    this.spent = new AtomicLongArray(rows);
    this.lastMiss = new byte[rows * SizeClasses.COUNT];
    this.victim = new int[rows];
    this.seen = new long[rows];
  }

  /** Bytes of all rows together, most of which are never touched. */
  static long bytes() {
    return STRIDE * PerCpuOps.rows();
  }

  private long header(int row, int c) {
    return base + row * STRIDE + (long) c * HEADER;
  }

  int pushMany(int c, long from, int n) {
    return PerCpuOps.arrayPushMany(base + (long) c * HEADER, STRIDE, from, n);
  }

  int popMany(int c, long to, int n) {
    return PerCpuOps.arrayPopMany(base + (long) c * HEADER, STRIDE, to, n);
  }

  /**
   * The cache of the current row was empty or full: gives it more room if it should have some.
   *
   * @return true if there is more room now
   */
  boolean miss(int c, boolean overflow, CentralList[] central) {
    int row = PerCpuOps.row();
    if (row < 0 || row >= rows) {
      return false;
    }
    byte now = (byte) (overflow ? 2 : 1);
    byte last = lastMiss[row * SizeClasses.COUNT + c];
    lastMiss[row * SizeClasses.COUNT + c] = now;
    long header = header(row, c);
    int capacity = OffHeap.getIntOpaque(header + PerCpuOps.ARRAY_CAPACITY);
    if (capacity > 0 && (last == now || capacity >= SizeClasses.mostCached(c))) {
      return false;
    }
    int more = Math.min(SizeClasses.batch(c), SizeClasses.mostCached(c) - capacity);
    long cost = (long) more * SizeClasses.bytes(c);
    if (!spend(row, cost) && !(steal(row, c, cost, central) && spend(row, cost))) {
      return false;
    }
    if (resize(row, c, more)) {
      return true;
    }
    spent.addAndGet(row, -cost);
    return false;
  }

  private boolean spend(int row, long cost) {
    while (true) {
      long now = spent.get(row);
      if (now + cost > budget) {
        return false;
      }
      if (spent.compareAndSet(row, now, now + cost)) {
        return true;
      }
    }
  }

  /** Takes room from other classes of the row, in turn, until {@code cost} is free. */
  private boolean steal(int row, int c, long cost, CentralList[] central) {
    int at = victim[row];
    for (int i = 1; i < SizeClasses.COUNT && spent.get(row) + cost > budget; i++) {
      at = at % (SizeClasses.COUNT - 1) + 1;
      int capacity = OffHeap.getIntOpaque(header(row, at) + PerCpuOps.ARRAY_CAPACITY);
      int bytes = SizeClasses.bytes(at);
      int less = (int) Math.min(capacity, Math.ceilDiv(cost, (long) bytes));
      if (at == c || less == 0 || !resize(row, at, -less)) {
        continue;
      }
      spent.addAndGet(row, -(long) less * bytes);
      int surplus = OffHeap.getIntOpaque(header(row, at)) - (capacity - less);
      if (surplus > 0) {
        central[at].absorb(surplus);
      }
    }
    victim[row] = at;
    return spent.get(row) + cost <= budget;
  }

  /** Changes a capacity by a sequence on the row; false if the thread is not there any more. */
  private boolean resize(int row, int c, int delta) {
    long header = header(row, c);
    for (int i = 0; i < TRIES; i++) {
      long countAndCapacity = OffHeap.getLongOpaque(header);
      long slotsAndClosed = OffHeap.getLongOpaque(header + PerCpuOps.ARRAY_SLOTS);
      if (slotsAndClosed == 0) {
        if (!firstUse(row, c)) {
          return false;
        }
        slotsAndClosed = SLOTS[c];
      }
      long capacity = (countAndCapacity >>> 32) + delta;
      if (capacity < 0 || capacity > SizeClasses.mostCached(c)) {
        return false;
      }
      int done =
          PerCpuOps.compareCompareStore(
              row,
              header,
              countAndCapacity,
              header + PerCpuOps.ARRAY_SLOTS,
              SLOTS[c], // and not closed
              capacity << 32 | (countAndCapacity & 0xffff_ffffL));
      if (done == PerCpuOps.DONE) {
        return true;
      }
      if (done == PerCpuOps.LOST || slotsAndClosed != SLOTS[c]) {
        return false;
      }
    }
    return false;
  }

  /** Says where the slots are, once; under the lock, so that it cannot pass by {@link #close}. */
  private boolean firstUse(int row, int c) {
    lock.lock();
    try {
      return !closed
          && PerCpuOps.compareStore(row, header(row, c) + PerCpuOps.ARRAY_SLOTS, 0, SLOTS[c])
              != PerCpuOps.LOST;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Moves all blocks of a row to the central lists, while its threads go on with those.
   *
   * @return how many blocks
   */
  int drain(int row, CentralList[] central) {
    if (!PerCpuOps.canFence()) {
      return 0;
    }
    lock.lock();
    try {
      if (closed) {
        return 0;
      }
      boolean[] mine = new boolean[SizeClasses.COUNT];
      if (!close(row, mine)) {
        return 0;
      }
      int moved = 0;
      try {
        PerCpuOps.fenceRow(row);
        for (int c = 1; c < SizeClasses.COUNT; c++) {
          moved += mine[c] ? empty(row, c, central[c]) : 0;
        }
        drains++;
      } finally {
        for (int c = 1; c < SizeClasses.COUNT; c++) {
          if (mine[c]) {
            OffHeap.setIntRelease(header(row, c) + PerCpuOps.ARRAY_CLOSED, 0); // P.3
          }
        }
      }
      return moved;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes the arrays that hold something; false if none does. One that is closed already was left
   * so by a drain that an error ended (a stack overflow), and is opened again by this one.
   */
  private boolean close(int row, boolean[] mine) {
    boolean any = false;
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      long header = header(row, c);
      if (OffHeap.getIntOpaque(header) != 0
          || OffHeap.getIntOpaque(header + PerCpuOps.ARRAY_CLOSED) != 0) {
        OffHeap.setIntVolatile(header + PerCpuOps.ARRAY_CLOSED, 1);
        mine[c] = true;
        any = true;
      }
    }
    return any;
  }

  /** The array is closed and its row is fenced. */
  private int empty(int row, int c, CentralList central) {
    long header = header(row, c);
    int count = OffHeap.getInt(header);
    int left = count;
    while (left > 0) {
      // Counted down before the blocks are given away: an error must not leave them in both places.
      int n = Math.min(left, DRAINED_AT_ONCE);
      left -= n;
      OffHeap.setIntOpaque(header, left);
      central.put(header + SLOTS[c] + (long) left * Long.BYTES, n);
    }
    return count;
  }

  /**
   * Drains the rows that have not changed since the last call: nobody has allocated there, or what
   * was allocated was freed.
   *
   * @return how many blocks
   */
  int drainIdle(CentralList[] central) {
    int moved = 0;
    for (int row = 0; row < rows; row++) {
      long now = 0;
      boolean any = false;
      for (int c = 1; c < SizeClasses.COUNT; c++) {
        int count = OffHeap.getIntOpaque(header(row, c));
        any |= count != 0;
        long top = 0;
        if (count > 0) {
          top = OffHeap.getLongOpaque(header(row, c) + SLOTS[c] + (count - 1L) * Long.BYTES);
        }
        now = now * 31 + count;
        now = now * 31 + top;
      }
      if (any && now == seen[row]) {
        moved += drain(row, central);
        now = 0;
      }
      seen[row] = now;
    }
    return moved;
  }

  int drainAll(CentralList[] central) {
    int moved = 0;
    for (int row = 0; row < rows; row++) {
      moved += drain(row, central);
    }
    return moved;
  }

  /** Closes every array for good: each operation finds it so when this returns. */
  void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      for (int row = 0; row < rows; row++) {
        for (int c = 1; c < SizeClasses.COUNT; c++) {
          // One that was never used has no room, and gets none any more.
          if (OffHeap.getIntOpaque(header(row, c) + PerCpuOps.ARRAY_SLOTS) != 0) {
            OffHeap.setIntVolatile(header(row, c) + PerCpuOps.ARRAY_CLOSED, 1);
          }
        }
      }
      if (PerCpuOps.canFence()) {
        PerCpuOps.fenceRows();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Blocks cached in a class over all rows; a glimpse. */
  long cached(int c) {
    long sum = 0;
    for (int row = 0; row < rows; row++) {
      sum += OffHeap.getIntOpaque(header(row, c));
    }
    return sum;
  }

  /** How often a row was emptied. */
  long drains() {
    lock.lock();
    try {
      return drains;
    } finally {
      lock.unlock();
    }
  }
}
