package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import java.lang.ref.Reference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * A stack of off-heap nodes, linked through the nodes themselves: a list per CPU, without ABA and
 * without atomic instructions.
 *
 * <pre>
 *   try (PerCpuStack free = PerCpuStack.create()) {      link: the first 8 bytes of a node
 *     free.push(node);
 *     long node = free.pop();                            0: nothing here
 *
 *   row 0: {head, closed} -> node -> node       row 1: {head, closed} -> node
 *   shared part: head with tag -> node          threads without a row, and rows being closed
 * </pre>
 *
 * <h2>Algorithm</h2>
 *
 * Push and pop are one restartable sequence each on the row of the current CPU. A pop whose row is
 * empty looks into the shared part, a {@link TaggedStack}; a push goes there when it finds no row
 * or a closed one. {@link #popAny()} and {@link #drain} also take from other rows: under a lock
 * they close the row, fence it, take its nodes by plain loads and stores, and open it again (P.3).
 * Where rows cannot be fenced ({@link PerCpuOps#canFence()}) all rows are closed for ever from the
 * beginning, and the shared part does everything.
 *
 * <p>Closing closes all rows and the shared part for ever, so that every operation lands on the
 * slow path, which throws; the fast path checks nothing. The rows' memory, 16 bytes each, is given
 * back when the stack is unreachable, and not before, so that a late operation touches nothing that
 * is unmapped. The nodes are the caller's: after a {@link #pop()} they may be reused at once, but
 * they must stay mapped while any pop can be under way, for a pop that fails may have looked at a
 * node that was popped before it.
 *
 * <p>Safe from any thread, virtual ones included; last in, first out only per CPU. Whoever pops a
 * node sees what was stored to it before its push (P.5). Some 5 ns each for push and pop. Needs
 * native access.
 */
public final class PerCpuStack implements AutoCloseable {
  private static final long STRIDE = PerCpuMemory.shared().stride();
  private static final int ROWS = PerCpuOps.rows();
  private static final int CLOSED = PerCpuOps.LIST_CLOSED;

  /** How many nodes a visit to another row takes at most, so that the next pops need none. */
  private static final int BATCH = 32;

  private final long address;
  private final long link;
  private final RowBlock rows;
  private final TaggedStack shared;
  private final ReentrantLock lock = new ReentrantLock();

  /** What was in the shared part when it was closed. Under the lock. */
  private long left;

  private volatile boolean closed;

  /** Links lie in the nodes. */
  private static final class Shared extends TaggedStack {
    private final long link;

    Shared(long link) {
      this.link = link;
    }

    @Override
    long link(long node) {
      return OffHeap.getLongOpaque(node + link);
    }

    @Override
    void setLink(long node, long next) {
      OffHeap.setLongOpaque(node + link, next);
    }
  }

  private PerCpuStack(long link) {
    this.link = link;
    rows = RowBlock.allocate(PerCpuOps.LIST_HEADER_BYTES, PerCpuOps.LIST_HEADER_BYTES);
    address = rows.address();
    shared = new Shared(link);
    rows.ownedBy(this);
    if (!PerCpuOps.canFence()) {
      closeRows();
    }
  }

  /**
   * A stack whose nodes have their link at the beginning.
   *
   * @return a new one, empty
   * @throws OutOfMemoryError if there is no memory for the rows
   * @throws UnsupportedOperationException without native access
   */
  public static PerCpuStack create() {
    return create(0);
  }

  /**
   * A stack.
   *
   * @param linkOffset where in a node its link is: 8 bytes that belong to the stack while the node
   *     is in it; a multiple of 8
   * @return a new one, empty
   * @throws IllegalArgumentException for another offset
   * @throws OutOfMemoryError if there is no memory for the rows
   * @throws UnsupportedOperationException without native access
   */
  public static PerCpuStack create(long linkOffset) {
    if ((linkOffset & 7) != 0) {
      throw new IllegalArgumentException("link offset " + linkOffset + " is no multiple of 8");
    }
    return new PerCpuStack(linkOffset);
  }

  /**
   * Pushes a node.
   *
   * @param node address of a node that is in no stack: a multiple of 8, above 0 and below 2^47 - 8
   * @throws IllegalArgumentException for another address
   * @throws IllegalStateException after {@link #close()}
   */
  public void push(long node) {
    if (!TaggedStack.isNode(node)) {
      throw new IllegalArgumentException(
          "0x" + Long.toHexString(node) + " is no address of a node: a multiple of 8 below 2^47");
    }
    try {
      if (!PerCpuOps.listPush(address, STRIDE, node, link) && !shared.push(node)) {
        throw closed();
      }
    } finally {
      Reference.reachabilityFence(this); // the rows, until the sequence is over
    }
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the stack is closed");
  }

  /**
   * Pops the node that was pushed last on this CPU, or else one from the shared part.
   *
   * @return the node; 0 when both are empty: other CPUs may have some ({@link #popAny()})
   * @throws IllegalStateException after {@link #close()}
   */
  public long pop() {
    try {
      long node = PerCpuOps.listPop(address, STRIDE, link);
      return node > 0 ? node : popShared();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private long popShared() {
    long node = shared.pop();
    if (node == 0 && closed) {
      throw closed();
    }
    return node;
  }

  /**
   * Pops as {@link #pop()}, and when there is nothing looks at the rows of other CPUs, one after
   * another. Dear then: a lock and some microseconds for each row that has a node. It takes several
   * nodes from it and puts the rest into the shared part.
   *
   * @return the node; 0 when every row was found empty, each at its own moment
   * @throws IllegalStateException after {@link #close()}
   */
  public long popAny() {
    long node = pop();
    if (node != 0) {
      return node;
    }
    lock.lock();
    try {
      for (int row = 0; row < ROWS && node == 0; row++) {
        node = steal(row);
      }
      return node != 0 ? node : popShared();
    } finally {
      lock.unlock();
      Reference.reachabilityFence(this); // the rows, which were looked at
    }
  }

  /** Under the lock. */
  private long steal(int row) {
    long list = rows.row(row);
    // Rows that are closed for good keep what they have for drain().
    if (closed || OffHeap.getLongOpaque(list) == 0 || OffHeap.getInt(list + CLOSED) != 0) {
      return 0;
    }
    rows.closeRow(row, CLOSED);
    long first;
    long next;
    int taken = 0;
    try {
      PerCpuOps.fenceRow(row);
      first = OffHeap.getLong(list);
      next = first;
      while (next != 0 && taken < BATCH) {
        next = OffHeap.getLong(next + link);
        taken++;
      }
      OffHeap.putLong(list, next);
    } finally {
      rows.openRow(row, CLOSED);
    }
    if (taken > 1) {
      long node = OffHeap.getLong(first + link);
      for (int i = 1; i < taken; i++) {
        long following = OffHeap.getLong(node + link);
        shared.push(node); // open: closing takes our lock
        node = following;
      }
    }
    return first;
  }

  /**
   * Takes all nodes, of all rows and the shared part. Takes a lock, and a fence of all CPUs if any
   * row has a node. Also allowed after {@link #close()}, for what was left.
   *
   * @param consumer called for each node in the calling thread, after the nodes have been taken and
   *     without the lock; it may free or reuse the node. If it throws, the nodes behind are pushed
   *     back (after a close: kept for another drain)
   * @return how many nodes there were
   */
  public long drain(LongConsumer consumer) {
    long[] heads = new long[ROWS + 2];
    lock.lock();
    try {
      takeRows(heads);
      heads[ROWS] = shared.takeAll();
      heads[ROWS + 1] = left;
      left = 0;
    } finally {
      lock.unlock();
      Reference.reachabilityFence(this);
    }
    long count = 0;
    int i = 0;
    try {
      for (; i < heads.length; i++) {
        while (heads[i] != 0) {
          long node = heads[i];
          heads[i] = OffHeap.getLong(node + link);
          count++;
          consumer.accept(node);
        }
      }
    } finally {
      for (; i < heads.length; i++) {
        putBack(heads[i]);
      }
    }
    return count;
  }

  /** Under the lock. */
  private void takeRows(long[] heads) {
    boolean[] ours = new boolean[ROWS];
    boolean fence = false;
    try {
      for (int row = 0; row < ROWS; row++) {
        long list = rows.row(row);
        if (OffHeap.getLongOpaque(list) != 0 && OffHeap.getInt(list + CLOSED) == 0) {
          ours[row] = true;
          rows.closeRow(row, CLOSED);
          fence = true;
        }
      }
      if (fence) {
        PerCpuOps.fenceRows();
      }
      for (int row = 0; row < ROWS; row++) {
        long list = rows.row(row);
        if (ours[row] || closed) { // closed: by us just now, or for good and fenced then
          heads[row] = OffHeap.getLong(list);
          if (heads[row] != 0) {
            OffHeap.putLong(list, 0);
          }
        }
      }
    } finally {
      for (int row = 0; row < ROWS; row++) {
        if (ours[row]) {
          rows.openRow(row, CLOSED);
        }
      }
    }
  }

  private void putBack(long first) {
    long node = first;
    while (node != 0) {
      long next = OffHeap.getLong(node + link);
      if (!shared.push(node)) {
        lock.lock();
        try {
          OffHeap.putLong(node + link, left);
          left = node;
        } finally {
          lock.unlock();
        }
      }
      node = next;
    }
  }

  /** Under the lock, or before anybody else has the stack. */
  private void closeRows() {
    for (int row = 0; row < ROWS; row++) {
      rows.closeRow(row, CLOSED);
    }
  }

  /**
   * Closes: from here on push and pop throw {@link IllegalStateException}. Operations in other
   * threads are waited for as long as their sequences take. Nodes that are left stay the caller's,
   * and {@link #drain} still gives them out. Does nothing the second time.
   */
  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closeRows();
        if (PerCpuOps.canFence()) {
          PerCpuOps.fenceRows();
        }
        left = shared.close();
        closed = true;
      }
    } finally {
      lock.unlock();
      Reference.reachabilityFence(this);
    }
  }
}
