package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A histogram that any number of threads record into at once: the buckets of HdrHistogram, one copy
 * per CPU.
 *
 * <pre>
 *   PerCpuHistogram latency = PerCpuHistogram.create(3_600_000_000L, 3);
 *   latency.record(micros);
 *   latency.snapshotThenReset().forEach(hdr::recordValueWithCount);
 * </pre>
 *
 * <h2>Algorithm</h2>
 *
 * The index of a value's bucket is computed in Java, by some shifts; then one restartable sequence
 * adds 1 to that word of the row. One word more counts what is too high. Threads without a row, and
 * all threads where there is no native access, count in an atomic array on the heap, which is made
 * when it is first needed.
 *
 * <p>A reset stores to no row: it keeps on the heap what has been handed out, the baseline, and a
 * snapshot is the sum less the baseline. A lock makes resets exact: each value is in one snapshot.
 *
 * <p>Memory: the buckets' words once per row, of which the kernel backs the pages that have been
 * used; nothing on the heap until a snapshot. 3 digits up to 3.6e9 are 23,552 buckets, 188 kB per
 * row at most. It needs no close: its memory goes back when it is unreachable.
 *
 * <p>Safe from any thread, virtual ones included. Order: relaxed (P.1): a snapshot beside recording
 * threads may miss the last values, and may have a value without one that was recorded before it.
 */
public final class PerCpuHistogram {
  private final HistogramLayout layout;
  private final long address;
  private final long stride;
  private final int rows;
  private final ReentrantLock lock = new ReentrantLock();

  /** What resets have handed out. Under the lock. */
  private long @Nullable [] baseline;

  /** What came from threads without a row. */
  private volatile @Nullable AtomicLongArray rest;

  private PerCpuHistogram(HistogramLayout layout) {
    this.layout = layout;
    if (OffHeap.isAvailable()) {
      RowBlock block = RowBlock.allocate((layout.length() + 1L) * Long.BYTES, Long.BYTES);
      address = block.address();
      stride = block.stride();
      rows = block.rows();
      block.ownedBy(this);
    } else {
      address = 0;
      stride = 0;
      rows = 0;
    }
  }

  /**
   * A histogram of whole numbers from 0.
   *
   * @param highest the highest value to be told apart, 2 or more
   * @param digits significant decimal digits, 1 to 5
   * @return a new one, empty
   * @throws IllegalArgumentException for other settings
   * @throws OutOfMemoryError if there is no memory for the buckets
   */
  public static PerCpuHistogram create(long highest, int digits) {
    return create(1, highest, digits);
  }

  /**
   * A histogram whose smallest values are not told apart.
   *
   * @param lowest the lowest value to be told apart from 0, 1 or more, such as 1,000 for a clock of
   *     nanoseconds that ticks every microsecond; saves buckets
   * @param highest the highest value to be told apart, at least twice the lowest
   * @param digits significant decimal digits, 1 to 5
   * @return a new one, empty
   * @throws IllegalArgumentException for other settings
   * @throws OutOfMemoryError if there is no memory for the buckets
   */
  public static PerCpuHistogram create(long lowest, long highest, int digits) {
    return new PerCpuHistogram(new HistogramLayout(lowest, highest, digits));
  }

  /**
   * Counts a value. Some 5 ns, never waits. One that is above the highest is counted apart ({@link
   * HistogramSnapshot#overflowCount()}).
   *
   * @param value 0 or more
   * @throws IllegalArgumentException for a negative value
   */
  public void record(long value) {
    if (value < 0) {
      throw new IllegalArgumentException(
          "value " + value + " cannot be recorded; a histogram counts from 0");
    }
    int index = value <= layout.highest() ? layout.index(value) : layout.length();
    try {
      if (!PerCpuOps.add(address + (long) index * Long.BYTES, stride, 1)) {
        rest().getAndIncrement(index);
      }
    } finally {
      Reference.reachabilityFence(this); // the memory, until the sequence is over
    }
  }

  private AtomicLongArray rest() {
    AtomicLongArray array = rest;
    return array != null ? array : makeRest();
  }

  /** Not under the lock, which a snapshot holds for long. */
  private synchronized AtomicLongArray makeRest() {
    AtomicLongArray array = rest;
    if (array == null) {
      array = new AtomicLongArray(layout.length() + 1);
      rest = array;
    }
    return array;
  }

  /**
   * What was recorded since the last reset. Takes a lock, and about a nanosecond per bucket and
   * row.
   *
   * @return a copy
   */
  public HistogramSnapshot snapshot() {
    lock.lock();
    try {
      return lessBaseline(counts());
    } finally {
      lock.unlock();
    }
  }

  /**
   * What was recorded since the last reset; the next begins from zero. Every value is in the
   * snapshot of one reset, also beside recording threads and other resets.
   *
   * @return a copy
   */
  public HistogramSnapshot snapshotThenReset() {
    lock.lock();
    try {
      long[] now = counts();
      HistogramSnapshot snapshot = lessBaseline(now.clone());
      baseline = now;
      return snapshot;
    } finally {
      lock.unlock();
    }
  }

  /** Starts from zero: as {@link #snapshotThenReset()}. */
  public void reset() {
    lock.lock();
    try {
      baseline = counts();
    } finally {
      lock.unlock();
    }
  }

  private long[] counts() {
    long[] counts = new long[layout.length() + 1];
    try {
      for (int row = 0; row < rows; row++) {
        long words = address + row * stride;
        for (int i = 0; i < counts.length; i++) {
          counts[i] += OffHeap.getLongOpaque(words + (long) i * Long.BYTES);
        }
      }
    } finally {
      Reference.reachabilityFence(this);
    }
    AtomicLongArray array = rest;
    if (array != null) {
      for (int i = 0; i < counts.length; i++) {
        counts[i] += array.getOpaque(i);
      }
    }
    return counts;
  }

  private HistogramSnapshot lessBaseline(long[] counts) {
    long[] before = baseline;
    if (before != null) {
      for (int i = 0; i < counts.length; i++) {
        counts[i] -= before[i];
      }
    }
    return new HistogramSnapshot(layout, counts);
  }

  /** Settings and a few numbers of the {@link #snapshot()}. */
  @Override
  public String toString() {
    return snapshot().toString();
  }
}
