package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded array of positive numbers per CPU, such as addresses of free blocks; last in, first
 * out.
 *
 * <pre>
 *   PerCpuBuffer free = PerCpuBuffer.create(64);
 *   if (!free.offer(block)) ...       full on this CPU
 *   long block = free.poll();         0: empty on this CPU
 *
 *   row: {count, capacity, slots, closed} [ 7 ][ 3 ][ 9 ][ . ]       one per CPU
 *   shared part: a small array with a lock       threads without a row, and rows being closed
 * </pre>
 *
 * <h2>Algorithm</h2>
 *
 * Each operation is one restartable sequence on the row of the current CPU. A row that has never
 * run has capacity 0, so that it takes no memory; the first offer finds it full, looks, and sets it
 * up. {@link #drain} closes the rows, fences them, takes their values by plain loads and opens them
 * (P.3). Where rows cannot be fenced, and without native access, the shared part does everything,
 * with as much room as the rows would have.
 *
 * <p>Closing closes all rows and the shared part for ever, so that the slow path, where every
 * operation then lands, throws; the fast path checks nothing. The rows' memory is given back when
 * the buffer is unreachable, and not before.
 *
 * <p>Safe from any thread, virtual ones included. Whoever takes a value sees what was stored before
 * it was offered (P.5). Some 5 ns each; needs no close for its memory.
 */
public final class PerCpuBuffer implements AutoCloseable {
  private static final int CLOSED = PerCpuOps.ARRAY_CLOSED;
  private static final int HEADER = PerCpuOps.ARRAY_HEADER_BYTES;

  /** A preempted copy starts over; and a drain holds the rows closed for as long. */
  private static final int MOST = 1 << 20;

  /** The second word of a row's header: where the slots are, and not closed. */
  private static final long OPEN = HEADER;

  private final int capacity;
  private final long address;
  private final long stride;
  private final @Nullable RowBlock rows;
  private final ReentrantLock lock = new ReentrantLock();

  // The shared part, under the lock. It may pass its bound when a drain puts values back.
  private final int sharedCapacity;
  private long[] shared = {};
  private volatile int sharedCount;
  private volatile boolean closed;

  private PerCpuBuffer(int capacity) {
    this.capacity = capacity;
    if (OffHeap.isAvailable() && PerCpuOps.canFence()) {
      RowBlock block = RowBlock.allocate(HEADER + (long) capacity * Long.BYTES, HEADER);
      rows = block;
      address = block.address();
      stride = block.stride();
      sharedCapacity = capacity;
      block.ownedBy(this);
    } else {
      rows = null;
      address = 0;
      stride = 0;
      sharedCapacity = Math.clamp((long) capacity * PerCpuOps.rows(), 1, Integer.MAX_VALUE - 8);
    }
  }

  /**
   * A buffer.
   *
   * @param capacityPerRow how many values a CPU can hold, 1 to 1,048,576
   * @return a new one, empty
   * @throws IllegalArgumentException for another capacity
   * @throws OutOfMemoryError if there is no memory for the rows
   */
  public static PerCpuBuffer create(int capacityPerRow) {
    if (capacityPerRow < 1 || capacityPerRow > MOST) {
      throw new IllegalArgumentException(
          "a capacity of " + capacityPerRow + " cannot be; pass 1 to " + MOST);
    }
    return new PerCpuBuffer(capacityPerRow);
  }

  /**
   * How many values a CPU can hold.
   *
   * @return 1 or more
   */
  public int capacityPerRow() {
    return capacity;
  }

  /**
   * Adds a value.
   *
   * @param value above 0
   * @return false when there is no room on this CPU
   * @throws IllegalArgumentException for 0 or less
   * @throws IllegalStateException after {@link #close()}
   */
  public boolean offer(long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(
          "value " + value + " cannot be told from an empty buffer; offer what is above 0");
    }
    try {
      while (true) {
        int result = rows == null ? PerCpuOps.LOST : PerCpuOps.arrayPush(address, stride, value);
        if (result == PerCpuOps.DONE) {
          return true;
        }
        if (result == PerCpuOps.LOST) {
          return offerShared(value);
        }
        if (!mayHaveRoom()) {
          return false;
        }
      }
    } finally {
      Reference.reachabilityFence(this); // the rows, until the sequence is over
    }
  }

  /** After "full": sets the row up if it never was; true if it is worth another try. */
  private boolean mayHaveRoom() {
    RowBlock block = rows;
    if (block == null) {
      return false;
    }
    if (!PerCpuOps.isAvailable()) {
      // A locked row is whichever is free, so one cannot say which was full: set all up, once.
      return setUpAll(block);
    }
    int row = PerCpuOps.row();
    if (row < 0 || row >= block.rows()) {
      return true; // no row: the next try says so
    }
    long array = block.row(row);
    if (OffHeap.getIntOpaque(array + PerCpuOps.ARRAY_CAPACITY) != 0) {
      return OffHeap.getIntOpaque(array) < capacity; // we may have come from another row
    }
    lock.lock(); // against whoever closes rows: the scratch store opens it
    try {
      if (!closed && OffHeap.getIntOpaque(array + CLOSED) == 0) {
        setUp(row, array);
      }
    } finally {
      lock.unlock();
    }
    return true;
  }

  private int setUp(int row, long array) {
    return PerCpuOps.compareStoreStore(
        row, array, 0, array + PerCpuOps.ARRAY_SLOTS, OPEN, (long) capacity << Integer.SIZE);
  }

  private boolean setUpAll(RowBlock block) {
    boolean any = false;
    lock.lock();
    try {
      for (int row = 0; row < block.rows() && !closed; row++) {
        long array = block.row(row);
        while (OffHeap.getIntOpaque(array + PerCpuOps.ARRAY_CAPACITY) == 0) {
          any = true;
          if (setUp(row, array) == PerCpuOps.LOST) {
            Thread.yield(); // to its holder
          }
        }
      }
    } finally {
      lock.unlock();
    }
    return any;
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the buffer is closed");
  }

  private boolean offerShared(long value) {
    lock.lock();
    try {
      if (closed) {
        throw closed();
      }
      if (sharedCount >= sharedCapacity) {
        return false;
      }
      putShared(value);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. */
  private void putShared(long value) {
    int count = sharedCount;
    if (count == shared.length) {
      shared = Arrays.copyOf(shared, Math.max(16, count + (count >> 1)));
    }
    shared[count] = value;
    sharedCount = count + 1;
  }

  /**
   * Takes the value that was offered last on this CPU, or else one from the shared part.
   *
   * @return the value; 0 when both are empty: other CPUs may have some ({@link #drain})
   * @throws IllegalStateException after {@link #close()}
   */
  public long poll() {
    try {
      long value = rows == null ? PerCpuOps.LOST : PerCpuOps.arrayPop(address, stride);
      return value > 0 ? value : pollShared();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private long pollShared() {
    if (sharedCount == 0 && !closed) {
      return 0;
    }
    lock.lock();
    try {
      if (closed) {
        throw closed();
      }
      int count = sharedCount;
      if (count == 0) {
        return 0;
      }
      sharedCount = count - 1;
      return shared[count - 1];
    } finally {
      lock.unlock();
    }
  }

  /**
   * Adds several values, as many as there is room for on this CPU, all at once.
   *
   * @param from address of the values, which must all be above 0; nothing checks that
   * @param count how many, 0 or more; some hundreds at most, since a preempted copy starts over
   * @return how many were taken, the first ones
   * @throws IllegalArgumentException for a negative count
   * @throws IllegalStateException after {@link #close()}
   */
  public int offerMany(long from, int count) {
    requireCount(count);
    try {
      while (true) {
        int done =
            rows == null ? PerCpuOps.LOST : PerCpuOps.arrayPushMany(address, stride, from, count);
        if (done > 0 || (count == 0 && done == 0)) {
          return done;
        }
        if (done == PerCpuOps.LOST) {
          return offerShared(from, count);
        }
        if (!mayHaveRoom()) {
          return 0;
        }
      }
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private static void requireCount(int count) {
    if (count < 0) {
      throw new IllegalArgumentException(count + " values cannot be moved; pass 0 or more");
    }
  }

  private int offerShared(long from, int count) {
    lock.lock();
    try {
      if (closed) {
        throw closed();
      }
      int done = Math.clamp(sharedCapacity - sharedCount, 0, count);
      for (int i = 0; i < done; i++) {
        putShared(OffHeap.getLong(from + (long) i * Long.BYTES));
      }
      return done;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes several values of this CPU, or else of the shared part, all at once.
   *
   * @param to address where they go, the last offered last
   * @param count at most how many, 0 or more; some hundreds at most
   * @return how many there were
   * @throws IllegalArgumentException for a negative count
   * @throws IllegalStateException after {@link #close()}
   */
  public int pollMany(long to, int count) {
    requireCount(count);
    try {
      int done = rows == null ? PerCpuOps.LOST : PerCpuOps.arrayPopMany(address, stride, to, count);
      return done > 0 ? done : pollShared(to, count);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private int pollShared(long to, int count) {
    if (sharedCount == 0 && !closed) {
      return 0;
    }
    lock.lock();
    try {
      if (closed) {
        throw closed();
      }
      int done = Math.min(count, sharedCount);
      int first = sharedCount - done;
      for (int i = 0; i < done; i++) {
        OffHeap.putLong(to + (long) i * Long.BYTES, shared[first + i]);
      }
      sharedCount = first;
      return done;
    } finally {
      lock.unlock();
    }
  }

  /**
   * How many values there are, in all rows and the shared part.
   *
   * @return an estimate while others work on it
   */
  public long size() {
    long size = sharedCount;
    RowBlock block = rows;
    try {
      for (int row = 0; block != null && row < block.rows(); row++) {
        size += OffHeap.getIntOpaque(block.row(row));
      }
      return size;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Takes all values, of all rows and the shared part. Takes a lock, and a fence of all CPUs if any
   * row has a value. Also allowed after {@link #close()}, for what was left.
   *
   * @param consumer called for each value in the calling thread, after the values have been taken
   *     and without the lock. If it throws, the values behind are put back into the shared part
   * @return how many values there were
   */
  public int drain(LongConsumer consumer) {
    long[] values;
    lock.lock();
    try {
      values = takeAll();
    } finally {
      lock.unlock();
      Reference.reachabilityFence(this);
    }
    int i = 0;
    try {
      while (i < values.length) {
        consumer.accept(values[i++]);
      }
    } finally {
      if (i < values.length) {
        lock.lock();
        try {
          while (i < values.length) {
            putShared(values[i++]);
          }
        } finally {
          lock.unlock();
        }
      }
    }
    return values.length;
  }

  /** Under the lock. */
  private long[] takeAll() {
    RowBlock block = rows;
    int count = sharedCount;
    if (block == null) {
      sharedCount = 0;
      return Arrays.copyOf(shared, count);
    }
    boolean[] ours = new boolean[block.rows()];
    try {
      boolean fence = false;
      for (int row = 0; row < ours.length; row++) {
        long array = block.row(row);
        if (!closed && OffHeap.getIntOpaque(array) != 0) {
          ours[row] = true;
          block.closeRow(row, CLOSED);
          fence = true;
        }
      }
      if (fence) {
        PerCpuOps.fenceRows();
      }
      for (int row = 0; row < ours.length; row++) {
        if (ours[row] || closed) {
          count = Math.addExact(count, OffHeap.getInt(block.row(row)));
        }
      }
      // Before the first count is lowered: no memory, no change.
      long[] values = Arrays.copyOf(shared, count);
      count = sharedCount;
      for (int row = 0; row < ours.length; row++) {
        if (ours[row] || closed) {
          long array = block.row(row);
          int inRow = OffHeap.getInt(array);
          for (int i = 0; i < inRow; i++) {
            values[count++] = OffHeap.getLong(array + HEADER + (long) i * Long.BYTES);
          }
          if (inRow != 0) {
            OffHeap.putInt(array, 0);
          }
        }
      }
      sharedCount = 0;
      return values;
    } finally {
      for (int row = 0; row < ours.length; row++) {
        if (ours[row]) {
          block.openRow(row, CLOSED);
        }
      }
    }
  }

  /**
   * Closes: from here on offers and polls throw {@link IllegalStateException}. Values that are left
   * are still given out by {@link #drain}. Does nothing the second time.
   */
  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      RowBlock block = rows;
      if (block != null) {
        for (int row = 0; row < block.rows(); row++) {
          block.closeRow(row, CLOSED);
        }
        PerCpuOps.fenceRows();
      }
      closed = true;
    } finally {
      lock.unlock();
      Reference.reachabilityFence(this);
    }
  }
}
