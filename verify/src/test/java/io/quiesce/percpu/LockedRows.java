package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Opens the package-private locked rows to jcstress: one row with one list or one count, off-heap,
 * and what a manager does to it from elsewhere. States come and go by the million, so their memory
 * is a ring, much longer than the number of states that are alive at once.
 */
public final class LockedRows {
  private static final int SLOTS = 1 << 19;
  private static final long SLOT = 48; // the list's header, two nodes
  private static final long RING = OffHeap.allocate(SLOTS * SLOT, 64);
  private static final AtomicInteger NEXT = new AtomicInteger();
  private static final int LOOKS = 6;

  private final LockedOps ops = new LockedOps(1);
  private final long row = RING + (NEXT.getAndIncrement() & (SLOTS - 1)) * SLOT;

  /** A row that is zero. */
  public LockedRows() {
    for (long i = 0; i < SLOT; i += 8) {
      OffHeap.setLongVolatile(row + i, 0);
    }
  }

  private long node(int number) {
    return row + PerCpuOps.LIST_HEADER_BYTES * (long) number;
  }

  /**
   * Adds 1 as the library does.
   *
   * @return 0 if it was added, 1 if the row was busy
   */
  public int add() {
    return ops.add(row, 0, 1) ? 0 : 1;
  }

  /**
   * Adds 1 without the lock: the broken twin.
   *
   * @return 0
   */
  public int addUnlocked() {
    OffHeap.setLongOpaque(row, OffHeap.getLongOpaque(row) + 1);
    return 0;
  }

  /**
   * The count, at the end.
   *
   * @return what was added
   */
  public int count() {
    return (int) OffHeap.getLongVolatile(row);
  }

  /**
   * Pushes a node.
   *
   * @param number 1 or 2
   * @return whether the row was open and not busy
   */
  public boolean push(int number) {
    return ops.listPush(row, 0, node(number), 8);
  }

  /**
   * A push without the lock: the broken twin.
   *
   * @param number 1 or 2
   * @return whether the row was open
   */
  public boolean pushUnlocked(int number) {
    if (OffHeap.getIntAcquire(row + PerCpuOps.LIST_CLOSED) != 0) {
      return false;
    }
    OffHeap.putLong(node(number) + 8, OffHeap.getLong(row));
    for (int i = 0; i < LOOKS; i++) {
      Thread.onSpinWait();
    }
    OffHeap.setLongOpaque(row, node(number));
    return true;
  }

  /**
   * A manager: closes the row, fences, looks twice, takes the list and opens (P.3, P.4).
   *
   * @return how many nodes it took; -1 if the list moved while the row was closed
   */
  public int takeClosed() {
    OffHeap.setIntVolatile(row + PerCpuOps.LIST_CLOSED, 1);
    ops.fenceRow(0);
    long head = OffHeap.getLong(row);
    for (int i = 0; i < LOOKS; i++) {
      Thread.onSpinWait();
    }
    boolean moved = OffHeap.getLongOpaque(row) != head;
    OffHeap.putLong(row, 0);
    OffHeap.setIntRelease(row + PerCpuOps.LIST_CLOSED, 0);
    return moved ? -1 : length(head);
  }

  /**
   * Makes the row an array with room for two values, one of which is there.
   *
   * @param value not 0
   */
  public void makeArray(long value) {
    OffHeap.setIntVolatile(row + PerCpuOps.ARRAY_CAPACITY, 2);
    OffHeap.setIntVolatile(row + PerCpuOps.ARRAY_SLOTS, PerCpuOps.ARRAY_HEADER_BYTES);
    arrayPush(value);
  }

  /**
   * Pushes a value.
   *
   * @param value not 0
   * @return whether there was room, and the row open and not busy
   */
  public boolean arrayPush(long value) {
    return ops.arrayPush(row, 0, value) == PerCpuOps.DONE;
  }

  /**
   * Pops a value.
   *
   * @return 0 for none, or when the row is closed or busy
   */
  public int arrayPop() {
    return (int) Math.max(0, ops.arrayPop(row, 0));
  }

  /**
   * Empties the array as an allocator's drain does.
   *
   * @param closing false for the broken twin: it neither closes the row nor fences it
   * @return the values, as the bits with their numbers
   */
  public int drain(boolean closing) {
    if (closing) {
      OffHeap.setIntVolatile(row + PerCpuOps.ARRAY_CLOSED, 1);
      ops.fenceRow(0);
    }
    int values = 0;
    int left = OffHeap.getInt(row);
    for (int i = 0; i < 4 * LOOKS; i++) {
      Thread.onSpinWait();
    }
    while (left > 0) {
      left--;
      OffHeap.setIntOpaque(row, left);
      values += 1 << OffHeap.getLong(row + PerCpuOps.ARRAY_HEADER_BYTES + left * 8L);
    }
    if (closing) {
      OffHeap.setIntRelease(row + PerCpuOps.ARRAY_CLOSED, 0);
    }
    return values;
  }

  /**
   * What is in the list, at the end.
   *
   * @return how many nodes
   */
  public int left() {
    return length(OffHeap.getLongVolatile(row));
  }

  private static int length(long head) {
    int length = 0;
    for (long node = head; node != 0 && length < 3; node = OffHeap.getLong(node + 8)) {
      length++;
    }
    return length;
  }
}
