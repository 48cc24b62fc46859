package io.quiesce.percpu;

import static io.quiesce.linux.OffHeap.getInt;
import static io.quiesce.linux.OffHeap.getLong;
import static io.quiesce.linux.OffHeap.getLongOpaque;
import static io.quiesce.linux.OffHeap.putLong;
import static io.quiesce.linux.OffHeap.setIntOpaque;
import static io.quiesce.linux.OffHeap.setLongOpaque;

import io.quiesce.linux.OffHeap;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The portable fallback: a row has a lock, and whoever holds it is "on" the row.
 *
 * <h2>Algorithm</h2>
 *
 * Nothing tells a thread's CPU cheaply here, so a row is chosen by the thread's number and is only
 * tried: if somebody holds it, the next one is. A holder that is preempted keeps one row of several
 * busy, and nobody waits for it. If all are busy the operation says so, as a sequence does in a
 * thread that is not registered, and the caller takes the path that it has for that. The primitives
 * on a given row say -1 when it is busy, which to their callers is an abort like any other.
 *
 * <p>The bodies keep the rule of the sequences, that one last store commits. So an error in the
 * middle (a stack overflow) leaves nothing half done, and the lock is given back by a field store,
 * which needs no stack.
 *
 * <p>To fence a row is to wait until nobody who held the lock at the call still does (P.4). Rows
 * are shared by all per-CPU data of the process, exactly as CPUs are.
 */
final class LockedOps implements RowOps {
  private static final int OUT = -1;
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(RowLock.class, "held", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  @SuppressWarnings("UnusedVariable")
  private static class Before {
    long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
  }

  private static class Lock extends Before {
    volatile boolean held;

    /** Acquire; stores of the last holder are seen. */
    final boolean tryHold() {
      return !held && HELD.compareAndSet(this, false, true);
    }
  }

  @SuppressWarnings("UnusedVariable")
  private static final class RowLock extends Lock {
    long q00, q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, q11, q12, q13, q14, q15;
  }

  private final RowLock[] locks;

  LockedOps(int rows) {
    locks = new RowLock[rows];
    for (int i = 0; i < rows; i++) {
      locks[i] = new RowLock();
    }
  }

  /** Twice as many rows as can be held by running threads, a power of two. */
  static int defaultRows() {
    int wanted = 2 * Runtime.getRuntime().availableProcessors();
    return Integer.highestOneBit(Math.clamp(wanted, 2, 64) * 2 - 1);
  }

  @Override
  public int rows() {
    return locks.length;
  }

  @Override
  public int row() {
    return (int) Thread.currentThread().threadId() & (locks.length - 1);
  }

  /** Some row that is held from here on, near the thread's own; null when all are busy. */
  private int hold() {
    int first = row();
    for (int i = 0; i < locks.length; i++) {
      int row = (first + i) & (locks.length - 1);
      if (locks[row].tryHold()) {
        return row;
      }
    }
    return OUT;
  }

  private boolean hold(int row) {
    return row >= 0 && row < locks.length && locks[row].tryHold();
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // Yields to the holder.
  public void fenceRow(int row) {
    if (row < 0 || row >= locks.length) {
      return;
    }
    while (!locks[row].tryHold()) {
      Thread.yield();
    }
    locks[row].held = false;
  }

  @Override
  public void fenceRows() {
    for (int row = 0; row < locks.length; row++) {
      fenceRow(row);
    }
  }

  @Override
  public boolean add(long base, long stride, long delta) {
    int row = hold();
    if (row < 0) {
      return false;
    }
    try {
      long word = base + row * stride;
      setLongOpaque(word, getLongOpaque(word) + delta);
      return true;
    } finally {
      locks[row].held = false;
    }
  }

  /** Acquire: whoever finds a row open sees what was stored to it while it was closed (P.3). */
  private static boolean closed(long array) {
    return OffHeap.getIntAcquire(array + PerCpuOps.ARRAY_CLOSED) != 0;
  }

  /** As {@link #closed}. */
  private static boolean closedList(long list) {
    return OffHeap.getIntAcquire(list + PerCpuOps.LIST_CLOSED) != 0;
  }

  private static long slot(long array, int index) {
    return array + getInt(array + PerCpuOps.ARRAY_SLOTS) + index * 8L;
  }

  @Override
  public int arrayPush(long base, long stride, long value) {
    int row = hold();
    if (row < 0) {
      return OUT;
    }
    try {
      long array = base + row * stride;
      if (closed(array)) {
        return OUT;
      }
      int count = getInt(array);
      if (Integer.compareUnsigned(count, getInt(array + PerCpuOps.ARRAY_CAPACITY)) >= 0) {
        return PerCpuOps.FULL;
      }
      putLong(slot(array, count), value);
      setIntOpaque(array, count + 1);
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public long arrayPop(long base, long stride) {
    int row = hold();
    if (row < 0) {
      return OUT;
    }
    try {
      long array = base + row * stride;
      if (closed(array)) {
        return OUT;
      }
      int count = getInt(array);
      if (count == 0) {
        return 0;
      }
      long value = getLong(slot(array, count - 1));
      setIntOpaque(array, count - 1);
      return value;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int arrayPushMany(long base, long stride, long from, int wanted) {
    int row = hold();
    if (row < 0) {
      return OUT;
    }
    try {
      long array = base + row * stride;
      if (closed(array)) {
        return OUT;
      }
      int count = getInt(array);
      int n = Math.min(wanted, getInt(array + PerCpuOps.ARRAY_CAPACITY) - count);
      if (n <= 0) {
        return 0;
      }
      OffHeap.copy(from, slot(array, count), n * 8L);
      setIntOpaque(array, count + n);
      return n;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int arrayPopMany(long base, long stride, long to, int wanted) {
    int row = hold();
    if (row < 0) {
      return OUT;
    }
    try {
      long array = base + row * stride;
      if (closed(array)) {
        return OUT;
      }
      int count = getInt(array);
      int n = Math.min(wanted, count);
      if (n <= 0) {
        return 0;
      }
      OffHeap.copy(slot(array, count - n), to, n * 8L);
      setIntOpaque(array, count - n);
      return n;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public boolean listPush(long base, long stride, long node, long link) {
    int row = hold();
    if (row < 0) {
      return false;
    }
    try {
      long list = base + row * stride;
      if (closedList(list)) {
        return false;
      }
      putLong(node + link, getLong(list));
      setLongOpaque(list, node);
      return true;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public long listPop(long base, long stride, long link) {
    int row = hold();
    if (row < 0) {
      return OUT;
    }
    try {
      long list = base + row * stride;
      if (closedList(list)) {
        return OUT;
      }
      long head = getLong(list);
      if (head != 0) {
        setLongOpaque(list, getLong(head + link));
      }
      return head;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public long listTake(long base, long stride) {
    int row = hold();
    if (row < 0) {
      return OUT;
    }
    try {
      long list = base + row * stride;
      if (closedList(list)) {
        return OUT;
      }
      long head = getLong(list);
      setLongOpaque(list, 0);
      return head;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int compareStore(int row, long v, long expected, long value) {
    if (!hold(row)) {
      return OUT;
    }
    try {
      if (getLong(v) != expected) {
        return PerCpuOps.UNEQUAL;
      }
      setLongOpaque(v, value);
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int compareUnequalStoreLoad(int row, long v, long unexpected, long offset, long out) {
    if (!hold(row)) {
      return OUT;
    }
    try {
      long old = getLong(v);
      if (old == unexpected) {
        return PerCpuOps.UNEQUAL;
      }
      putLong(out, old);
      setLongOpaque(v, getLong(old + offset));
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int addAt(int row, long v, long delta) {
    if (!hold(row)) {
      return OUT;
    }
    try {
      setLongOpaque(v, getLong(v) + delta);
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int dereferenceAdd(int row, long p, long offset, long delta) {
    if (!hold(row)) {
      return OUT;
    }
    try {
      long word = getLong(p) + offset;
      setLongOpaque(word, getLong(word) + delta);
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int compareStoreStore(
      int row, long v, long expected, long scratch, long scratchValue, long value) {
    if (!hold(row)) {
      return OUT;
    }
    try {
      if (getLong(v) != expected) {
        return PerCpuOps.UNEQUAL;
      }
      putLong(scratch, scratchValue);
      OffHeap.setLongRelease(v, value); // P.2
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int compareCompareStore(
      int row, long v, long expected, long v2, long expected2, long value) {
    if (!hold(row)) {
      return OUT;
    }
    try {
      if (getLong(v) != expected || getLong(v2) != expected2) {
        return PerCpuOps.UNEQUAL;
      }
      setLongOpaque(v, value);
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }

  @Override
  public int compareCopyStore(
      int row, long v, long expected, long to, long from, long bytes, long value) {
    if (!hold(row)) {
      return OUT;
    }
    try {
      if (getLong(v) != expected) {
        return PerCpuOps.UNEQUAL;
      }
      OffHeap.copy(from, to, bytes);
      OffHeap.setLongRelease(v, value); // P.2
      return PerCpuOps.DONE;
    } finally {
      locks[row].held = false;
    }
  }
}
