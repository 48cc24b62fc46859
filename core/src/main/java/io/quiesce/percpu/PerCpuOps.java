package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;

/**
 * Operations on the rows of per-CPU data, each one restartable sequence and one call: some 4 ns.
 *
 * <h2>Rows</h2>
 *
 * A thread that runs has a row to itself: that of its concurrency id, or of its CPU number where
 * the kernel gives no such id (see {@link io.quiesce.linux.Rseq#row()}). A table has {@link
 * #rows()} rows, {@code stride} bytes apart. Its words may be read by anyone at any time, and
 * stored only by these operations: a plain or atomic store from elsewhere loses updates. Whoever
 * else must change a row closes it, fences it and opens it again:
 *
 * <pre>
 *   OffHeap.setIntVolatile(header + ARRAY_CLOSED, 1);    operations find it closed from here on
 *   PerCpuOps.fenceRow(row);                             those that had begun are done or restarted
 *   ... plain loads and stores ...
 *   OffHeap.setIntRelease(header + ARRAY_CLOSED, 0);
 * </pre>
 *
 * One thread at a time may do so; that is its lock's business.
 *
 * <p>The operations that choose their row themselves restart inside the machine code until they are
 * done. Those that are told a row ({@code compare...}, {@code addAt}) have the contracts of
 * librseq: {@link #DONE}, {@link #UNEQUAL} when a comparison failed and nothing was stored, {@link
 * #LOST} when the thread was not on that row or left it, so that the caller asks {@link #row()}
 * again and starts over. Only the last store commits: what is stored before it may be there without
 * it.
 *
 * <p>Where there are no restartable sequences (another CPU, an old kernel, {@code
 * -Dquiesce.rseq=off}) the same operations run on locked rows with the same results; see
 * docs/percpu.md for what that costs. In both cases an operation can find no row at all: in a
 * thread that is not registered (attached through JNI with a C library that does not do it), or
 * when every locked row is busy. It then says so and changes nothing; have an atomic path of your
 * own for it.
 *
 * <p>Safe from any thread, virtual ones included. Order: relaxed, as opaque accesses, except where
 * a method says release. Without native access ({@link OffHeap#isAvailable()}) every operation says
 * that there is no row.
 *
 * <p>Source: Desnoyers, "Restartable sequences" patches, October 2016, and the operations of
 * librseq; the machine code is listed in docs/security.md.
 */
public final class PerCpuOps {
  /** Stored, or pushed. */
  public static final int DONE = 0;

  /** A comparison failed; nothing was stored. */
  public static final int UNEQUAL = 1;

  /** The array of the row is full. */
  public static final int FULL = 1;

  /** No row: the thread is not on the given one, or has none, or the row is closed. */
  public static final int LOST = -1;

  /** Bytes of an array's header: four ints, the first of which counts the values in it. */
  public static final int ARRAY_HEADER_BYTES = 16;

  /** Where in the header an array's capacity is (int, in values). */
  public static final int ARRAY_CAPACITY = 4;

  /** Where in the header the distance from the header to the first slot is (int, in bytes). */
  public static final int ARRAY_SLOTS = 8;

  /** Where in the header it says whether the array is closed (int, not 0 means closed). */
  public static final int ARRAY_CLOSED = 12;

  /** Bytes of a list's header: the head (long), and whether it is closed. */
  public static final int LIST_HEADER_BYTES = 16;

  /** Where in the header it says whether the list is closed (int, not 0 means closed). */
  public static final int LIST_CLOSED = 8;

  private PerCpuOps() {}

  /** Chosen once, at the first operation. */
  private static final class Chosen {
    static final RowOps OPS =
        Platform.rseq() ? new SequenceOps() : new LockedOps(LockedOps.defaultRows());

    /** Locked rows are no use without memory that they could lock. */
    static final boolean ON = OffHeap.isAvailable();
  }

  /**
   * Whether the operations are restartable sequences here; otherwise they are locked rows, or
   * nothing without native access.
   *
   * @return the same as {@link Platform#rseq()}
   */
  public static boolean isAvailable() {
    return Platform.rseq();
  }

  /**
   * How many rows a table has.
   *
   * @return at least 1; constant while the JVM runs
   */
  public static int rows() {
    return Chosen.OPS.rows();
  }

  /**
   * The row of the current thread, a hint: it may have another before the caller sees it.
   *
   * @return below {@link #rows()}; {@link #LOST} in a thread that is not registered
   */
  public static int row() {
    return Chosen.ON ? Chosen.OPS.row() : LOST;
  }

  /**
   * Waits until no operation that began before the call still works on a row. Costs up to some
   * microseconds of other CPUs' time; full barrier.
   *
   * @param row from 0 and below {@link #rows()}
   * @throws UnsupportedOperationException where {@link #canFence()} is false
   */
  public static void fenceRow(int row) {
    Chosen.OPS.fenceRow(row);
  }

  /**
   * As {@link #fenceRow}, for all rows at once.
   *
   * @throws UnsupportedOperationException where {@link #canFence()} is false
   */
  public static void fenceRows() {
    Chosen.OPS.fenceRows();
  }

  /**
   * Whether rows can be closed and changed from elsewhere.
   *
   * @return false where there are restartable sequences but the kernel cannot fence them (before
   *     5.10)
   */
  public static boolean canFence() {
    return !Platform.rseq() || io.quiesce.linux.Membarrier.isRseqAvailable();
  }

  /**
   * Adds to the row's word, at {@code base + row * strideBytes}; wraps around.
   *
   * @param base address of row 0's word, aligned to 8
   * @param strideBytes distance between the words of neighbours
   * @param delta what to add
   * @return true when done; false when there is no row: use an atomic word then
   */
  public static boolean add(long base, long strideBytes, long delta) {
    return Chosen.ON && Chosen.OPS.add(base, strideBytes, delta);
  }

  /**
   * Pushes onto the row's array.
   *
   * @param array address of row 0's header, aligned to 16
   * @param strideBytes distance between the headers of neighbours
   * @param value what to push
   * @return {@link #DONE}, {@link #FULL} or {@link #LOST}
   */
  public static int arrayPush(long array, long strideBytes, long value) {
    return Chosen.ON ? Chosen.OPS.arrayPush(array, strideBytes, value) : LOST;
  }

  /**
   * Pops from the row's array what was pushed last.
   *
   * @param array address of row 0's header, aligned to 16
   * @param strideBytes distance between the headers of neighbours
   * @return the value; 0 when the array is empty, {@link #LOST} when there is no row, so arrays
   *     should hold neither
   */
  public static long arrayPop(long array, long strideBytes) {
    return Chosen.ON ? Chosen.OPS.arrayPop(array, strideBytes) : LOST;
  }

  /**
   * Pushes several values, as many as fit, all at once.
   *
   * @param array address of row 0's header, aligned to 16
   * @param strideBytes distance between the headers of neighbours
   * @param from address of the values, the last of which ends on top
   * @param count how many there are, 0 or more; keep it below some hundreds, since a preempted copy
   *     starts over
   * @return how many were pushed, the first ones; {@link #LOST} when there is no row
   * @throws IllegalArgumentException for a negative count
   */
  public static int arrayPushMany(long array, long strideBytes, long from, int count) {
    requireCount(count);
    return Chosen.ON ? Chosen.OPS.arrayPushMany(array, strideBytes, from, count) : LOST;
  }

  /**
   * Pops several values, all at once.
   *
   * @param array address of row 0's header, aligned to 16
   * @param strideBytes distance between the headers of neighbours
   * @param to where to store them, in the order of the array: the topmost last
   * @param count at most how many, 0 or more
   * @return how many were popped; {@link #LOST} when there is no row
   * @throws IllegalArgumentException for a negative count
   */
  public static int arrayPopMany(long array, long strideBytes, long to, int count) {
    requireCount(count);
    return Chosen.ON ? Chosen.OPS.arrayPopMany(array, strideBytes, to, count) : LOST;
  }

  /** A sequence would take a negative one for a large one. */
  private static void requireCount(int count) {
    if (count < 0) {
      throw new IllegalArgumentException(count + " values cannot be moved; pass 0 or more");
    }
  }

  /**
   * Pushes a node onto the row's list.
   *
   * @param list address of row 0's header, aligned to 16
   * @param strideBytes distance between the headers of neighbours
   * @param node address of a node that is in no list
   * @param link where in the node its link is, a long
   * @return true when done; false when there is no row
   */
  public static boolean listPush(long list, long strideBytes, long node, long link) {
    return Chosen.ON && Chosen.OPS.listPush(list, strideBytes, node, link);
  }

  /**
   * Pops the node that was pushed last onto the row's list.
   *
   * @param list address of row 0's header, aligned to 16
   * @param strideBytes distance between the headers of neighbours
   * @param link where in a node its link is
   * @return the node; 0 when the list is empty; {@link #LOST} when there is no row
   */
  public static long listPop(long list, long strideBytes, long link) {
    return Chosen.ON ? Chosen.OPS.listPop(list, strideBytes, link) : LOST;
  }

  /**
   * Takes all nodes of the row's list.
   *
   * @param list address of row 0's header, aligned to 16
   * @param strideBytes distance between the headers of neighbours
   * @return the first node, from which the links lead to the last; 0 when the list is empty; {@link
   *     #LOST} when there is no row
   */
  public static long listTake(long list, long strideBytes) {
    return Chosen.ON ? Chosen.OPS.listTake(list, strideBytes) : LOST;
  }

  /**
   * If {@code *v == expected}, stores {@code value} there.
   *
   * @param row that the thread must be on
   * @param v address, aligned to 8
   * @param expected value to find
   * @param value to store
   * @return {@link #DONE}, {@link #UNEQUAL} or {@link #LOST}
   */
  public static int compareStore(int row, long v, long expected, long value) {
    return Chosen.ON ? Chosen.OPS.compareStore(row, v, expected, value) : LOST;
  }

  /**
   * If {@code *v != unexpected}, stores {@code *v} to {@code *out} and replaces it by the word at
   * {@code *v + offset}: pops a list, without ABA.
   *
   * @param row that the thread must be on
   * @param v address, aligned to 8
   * @param unexpected value that must not be there, usually 0
   * @param offset of the link in what {@code *v} points to
   * @param out where the old value goes; may be written without the rest
   * @return {@link #DONE}, {@link #UNEQUAL} (it was there) or {@link #LOST}
   */
  public static int compareUnequalStoreLoad(
      int row, long v, long unexpected, long offset, long out) {
    return Chosen.ON ? Chosen.OPS.compareUnequalStoreLoad(row, v, unexpected, offset, out) : LOST;
  }

  /**
   * Adds to {@code *v}.
   *
   * @param row that the thread must be on
   * @param v address, aligned to 8
   * @param delta to add; wraps around
   * @return {@link #DONE} or {@link #LOST}
   */
  public static int addAt(int row, long v, long delta) {
    return Chosen.ON ? Chosen.OPS.addAt(row, v, delta) : LOST;
  }

  /**
   * Adds to the word at {@code *p + offset}.
   *
   * @param row that the thread must be on
   * @param p address of a pointer, aligned to 8
   * @param offset from what it points to
   * @param delta to add; wraps around
   * @return {@link #DONE} or {@link #LOST}
   */
  public static int dereferenceAdd(int row, long p, long offset, long delta) {
    return Chosen.ON ? Chosen.OPS.dereferenceAdd(row, p, offset, delta) : LOST;
  }

  /**
   * If {@code *v == expected}, stores to the scratch and then, release, {@code value} to {@code
   * *v}: pushes onto a buffer.
   *
   * @param row that the thread must be on
   * @param v address, aligned to 8
   * @param expected value to find
   * @param scratch address that may be written without the rest
   * @param scratchValue to store there
   * @param value to store
   * @return {@link #DONE}, {@link #UNEQUAL} or {@link #LOST}
   */
  public static int compareStoreStore(
      int row, long v, long expected, long scratch, long scratchValue, long value) {
    return Chosen.ON
        ? Chosen.OPS.compareStoreStore(row, v, expected, scratch, scratchValue, value)
        : LOST;
  }

  /**
   * If {@code *v == expected} and {@code *v2 == expected2}, stores {@code value} to {@code *v}:
   * pops a buffer.
   *
   * @param row that the thread must be on
   * @param v address, aligned to 8
   * @param expected value to find there
   * @param v2 another address, aligned to 8
   * @param expected2 value to find there
   * @param value to store to {@code *v}
   * @return {@link #DONE}, {@link #UNEQUAL} or {@link #LOST}
   */
  public static int compareCompareStore(
      int row, long v, long expected, long v2, long expected2, long value) {
    return Chosen.ON
        ? Chosen.OPS.compareCompareStore(row, v, expected, v2, expected2, value)
        : LOST;
  }

  /**
   * If {@code *v == expected}, copies and then, release, stores {@code value} to {@code *v}.
   *
   * @param row that the thread must be on
   * @param v address, aligned to 8
   * @param expected value to find
   * @param to where to copy to; may be written without the rest
   * @param from where to copy from
   * @param bytes how many, 0 or more; keep it below some thousands, since a preempted copy starts
   *     over
   * @param value to store
   * @return {@link #DONE}, {@link #UNEQUAL} or {@link #LOST}
   * @throws IllegalArgumentException for a negative number of bytes
   */
  public static int compareCopyStore(
      int row, long v, long expected, long to, long from, long bytes, long value) {
    if (bytes < 0) {
      throw new IllegalArgumentException(bytes + " bytes cannot be copied; pass 0 or more");
    }
    return Chosen.ON ? Chosen.OPS.compareCopyStore(row, v, expected, to, from, bytes, value) : LOST;
  }
}
