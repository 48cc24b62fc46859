package io.quiesce.trace.ring;

import io.quiesce.linux.CpuSet;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The ring buffers of a session, one for each CPU, as producers see them.
 *
 * <p><b>A record's life.</b> {@link #reserve} takes the next bytes of this CPU's ring in one
 * indivisible step, which also stores the record's size, its owner, its stamp and the state
 * <i>reserved</i>. The producer stores the fields, then {@link #commit} stores the event id and, by
 * a release store, the state <i>committed</i>. So whoever walks a sub-buffer can step over each
 * record, and takes those that are committed, whose fields it then sees. There is no count of
 * committed bytes to add to: an atomic add would cost more than all the rest but the clock. Should
 * storing the fields fail, {@link #abandon} says so; a producer that dies without a word leaves a
 * record that is stepped over.
 *
 * <p><b>A sub-buffer's life.</b> The offset of a ring grows for ever. At the boundary of a
 * sub-buffer the fast path gives up, and so it does where a record does not fit. The slow path then
 * ends the sub-buffer (padding behind its last record, offset to the boundary, in one step) and
 * begins the next (losses so far in its first word, offset behind its header, in one step). Each
 * step is taken by whoever comes first; the others find the offset changed. Before it begins the
 * next it looks whether its place is free: in discard mode the consumer must have taken what was
 * there (else the event is lost, <i>full</i>), in overwrite mode each record there must be
 * committed (else <i>wrap</i>: somebody still stores into it).
 *
 * <p><b>Losses</b> are counted in the CPU's row before {@link #reserve} returns 0.
 *
 * <p>Thread-safe, lock-free but for {@link LockPath} and for a CPU's first event; never blocks for
 * the consumer. May be called from anywhere, the consumer and a field's serialiser included.
 *
 * <p>Sources: the Linux trace ring buffer of LTTng (2009), restartable sequences (2016); the
 * differences are argued in docs/trace.md.
 */
public final class RingBuffers implements AutoCloseable {
  /** Rounds of the slow path before it yields. */
  private static final int SPINS = 64;

  /**
   * How long the slow path waits for a thread that changes the row. That takes microseconds, unless
   * the thread waits for a CPU; a second passes when it is suspended, as by a debugger.
   */
  private static final long MOST_NANOS = 1_000_000_000;

  private final RingMemory ring;
  private final RingGeometry geometry;
  private final MemorySegment memory;
  private final HotPath path;
  private final SubBufferWalk walk;
  private final Object preparing = new Object();
  private volatile @Nullable Thread reader;

  private RingBuffers(RingMemory ring, HotPath path) {
    this.ring = ring;
    this.geometry = ring.geometry();
    this.memory = ring.memory();
    this.path = path;
    this.walk = new SubBufferWalk(ring);
  }

  /**
   * Makes the file; the ring of the calling CPU is made too, so that a full file system shows now.
   *
   * @throws IOException in one sentence if there is no space
   */
  static RingBuffers create(Path file, RingGeometry geometry, HotPathKind kind) throws IOException {
    Stamps stamps = kind.stamps();
    RingMemory ring = RingMemory.create(file, geometry, stamps.code());
    RingBuffers buffers = new RingBuffers(ring, kind.make(ring, stamps));
    int row = buffers.path.row();
    if (row >= 0 && row < geometry.rows()) {
      try {
        buffers.prepare(row);
      } catch (IOException e) {
        ring.close();
        ring.delete();
        throw new IOException(
            "The trace buffers "
                + file
                + " cannot be made ("
                + e.getMessage()
                + "); choose another folder or a smaller budget",
            e);
      }
    }
    return buffers;
  }

  /** Those that a program left, to be read only. */
  static RingBuffers left(RingMemory ring) {
    return new RingBuffers(ring, new LockPath(ring, Stamps.NANOS));
  }

  /** What {@link Store} wants. */
  public MemorySegment memory() {
    return memory;
  }

  /**
   * Reserves a record for an event of so many bytes of fields.
   *
   * @param bytes of context and fields, 0 or more
   * @return the place of the record, or 0 if the event is lost (and counted)
   */
  public long reserve(long bytes) {
    long size = size(bytes);
    int owner = Owners.self();
    long at = path.tryReserve(size, owner);
    return at > 0 ? at : reserveSlowly(size, owner);
  }

  /** Where a record's fields begin. */
  public static long fields(long record) {
    return record + RingLayout.SLOT_BYTES;
  }

  /**
   * Publishes a record: what was stored into it before is seen by whoever sees it committed.
   *
   * @param record from {@link #reserve}
   * @param bytes as passed to it
   * @param id of the event's type
   */
  public void commit(long record, long bytes, int id) {
    long size = size(bytes);
    int padding = (int) (size - RingLayout.SLOT_BYTES - bytes);
    long word = (long) (id | padding << RingLayout.PADDING_SHIFT) << Integer.SIZE;
    Store.setLongRelease(memory, record, word | size | RingLayout.COMMITTED); // R.1
  }

  /** Gives a record up whose fields could not be stored; it counts as lost. */
  public void abandon(long record, long bytes) {
    Store.setIntRelease(memory, record, (int) size(bytes) | RingLayout.ABANDONED);
  }

  private static long size(long bytes) {
    return (bytes + RingLayout.SLOT_BYTES + RingLayout.ALIGN - 1) & -RingLayout.ALIGN;
  }

  /** The most bytes of context and fields that an event may have. */
  public long mostBytes() {
    return geometry.mostRecordBytes() - RingLayout.SLOT_BYTES;
  }

  @SuppressWarnings("ThreadPriorityCheck") // Another thread of this CPU must go on.
  private long reserveSlowly(long size, int owner) {
    StackCheck.require(); // before anything is claimed that nobody else could give back
    long began = 0;
    for (int round = 1; ; round++) {
      int row = path.row();
      if (row < 0 || row >= geometry.rows()) {
        return lose(0, RingLayout.LOST_OTHER);
      }
      if (size > geometry.mostRecordBytes()) {
        return lose(row, RingLayout.LOST_BIG);
      }
      int closed = Store.getIntVolatile(memory, path.rowPlace(row) + RingLayout.CLOSED);
      if ((closed & RingLayout.ENDED) != 0) {
        return 0;
      }
      if ((closed & RingLayout.FAILED) != 0 || path.isHeldUp(row)) {
        return lose(row, RingLayout.LOST_OTHER);
      }
      if ((closed & RingLayout.NOT_READY) != 0) {
        prepareOrFail(row);
      } else if (closed == 0) {
        int cause = step(row, size);
        if (cause != 0) {
          return lose(row, cause);
        }
      }
      long at = path.tryReserve(size, owner);
      if (at > 0) {
        return at;
      }
      if (round % SPINS == 0) {
        long now = System.nanoTime();
        if (began == 0) {
          began = now;
        } else if (now - began > MOST_NANOS) {
          return lose(row, RingLayout.LOST_OTHER);
        }
        Thread.yield();
      }
    }
  }

  /** One step of the slow path; the cause for which the event is lost, or 0. */
  private int step(int row, long size) {
    long offset = Store.getLongVolatile(memory, path.rowPlace(row));
    long position = offset & geometry.subMask();
    if (position == 0) {
      return begin(row, offset);
    }
    if (position + size > geometry.subBytes()) {
      path.move(row, offset, path.next(offset), path.place(row, offset), RingLayout.PADDING);
    }
    return 0;
  }

  private int begin(int row, long offset) {
    int cause = obstacle(row, offset);
    if (cause != 0) {
      // Unless the offset has moved, or the sub-buffer is being zeroed by now: in either case what
      // was looked at was something else.
      return Store.getLongVolatile(memory, path.rowPlace(row)) == offset && !isClaimed(row, offset)
          ? cause
          : 0;
    }
    if (path.needsZeros()) {
      beginZeroed(row, offset);
    } else {
      moveIn(row, offset);
    }
    return 0;
  }

  private void moveIn(int row, long offset) {
    path.move(
        row, offset, offset + RingLayout.SUB_HEADER_BYTES, path.place(row, offset), lost(row));
    Thread sleeper = reader;
    if (sleeper != null) {
      long consumed = Store.getLongAcquire(memory, path.rowPlace(row) + RingLayout.CONSUMED);
      if (offset - consumed == geometry.ringBytes() / 2) {
        LockSupport.unpark(sleeper);
      }
    }
  }

  /**
   * Names the thread that empties the rings. It looks at them now and then by itself; a producer
   * unparks it when its ring has become half full, once, so that a burst is not lost while it
   * sleeps. That costs that one event some microseconds.
   */
  void wakes(Thread thread) {
    reader = thread;
  }

  /** One thread zeroes the next sub-buffer and begins it; the others wait for it to do so. */
  private void beginZeroed(int row, long offset) {
    long at = path.rowPlace(row) + RingLayout.BEGUN;
    long begun = Store.getLongVolatile(memory, at);
    // R.5: one thread, once.
    if (begun >= offset || !Store.compareAndSetLong(memory, at, begun, offset)) {
      return;
    }
    boolean done = false;
    try {
      Store.fill(memory, path.place(row, offset), geometry.subBytes());
      moveIn(row, offset);
      done = true;
    } finally {
      if (!done) {
        Store.setLongRelease(memory, at, begun); // out of stack: somebody else's turn
      }
    }
  }

  /** Why the place of the next sub-buffer is not free; 0 if it is. */
  private int obstacle(int row, long offset) {
    if (!geometry.overwrite()) {
      // R.4: what the consumer read, it has read before.
      long consumed = Store.getLongAcquire(memory, path.rowPlace(row) + RingLayout.CONSUMED);
      if (offset - consumed < geometry.ringBytes()) {
        return 0;
      }
      boolean stuck = Store.getIntVolatile(memory, path.rowPlace(row) + RingLayout.STUCK) != 0;
      return stuck ? RingLayout.LOST_WRAP : RingLayout.LOST_FULL;
    }
    long before = offset - geometry.ringBytes();
    return before < 0 || !path.maybePending(row, before) || isCommitted(row, before)
        ? 0
        : RingLayout.LOST_WRAP;
  }

  /**
   * Whether no record of a whole sub-buffer is pending. The one that was found pending is looked at
   * first the next time: to walk there again would cost each event that is lost meanwhile some 80
   * us.
   */
  private boolean isCommitted(int row, long offset) {
    long noted = path.rowPlace(row) + RingLayout.PENDING;
    long record = Store.getLongVolatile(memory, noted);
    if (record > offset && record < offset + geometry.subBytes()) {
      int word = Store.getIntAcquire(memory, path.place(row, record));
      int state = word & RingLayout.STATE_MASK;
      if (state == 0 || state == RingLayout.RESERVED) {
        return false;
      }
    }
    long distance = walk.pending(row, offset);
    if (distance > 0) {
      Store.setLongRelease(memory, noted, offset + distance);
    }
    return distance == 0;
  }

  private boolean isClaimed(int row, long offset) {
    return path.needsZeros()
        && Store.getLongVolatile(memory, path.rowPlace(row) + RingLayout.BEGUN) >= offset;
  }

  private void prepareOrFail(int row) {
    synchronized (preparing) {
      int closed = Store.getIntVolatile(memory, path.rowPlace(row) + RingLayout.CLOSED);
      if ((closed & RingLayout.NOT_READY) == 0) {
        return;
      }
      try {
        prepare(row);
      } catch (IOException _) {
        path.close(row, RingLayout.FAILED);
      }
    }
  }

  /** Makes the rings of all CPUs, before any event is stored. */
  void prepareAll() throws IOException {
    CpuSet allowed = Rows.allowed();
    for (int row = 0; row < geometry.rows(); row++) {
      if (allowed.contains(row)) {
        prepareNow(row);
        ring.store(row);
      }
    }
  }

  private void prepareNow(int row) throws IOException {
    synchronized (preparing) {
      int closed = Store.getIntVolatile(memory, path.rowPlace(row) + RingLayout.CLOSED);
      if ((closed & RingLayout.NOT_READY) != 0) {
        prepare(row);
      }
    }
  }

  private void prepare(int row) throws IOException {
    ring.prepare(row);
    path.open(row, RingLayout.NOT_READY);
  }

  private long lose(int row, int cause) {
    Store.addLong(memory, path.rowPlace(row) + cause, 1);
    return 0;
  }

  /** All events of a row that were lost by now. */
  long lost(int row) {
    long at = path.rowPlace(row);
    return Store.getLongVolatile(memory, at + RingLayout.LOST_FULL)
        + Store.getLongVolatile(memory, at + RingLayout.LOST_WRAP)
        + Store.getLongVolatile(memory, at + RingLayout.LOST_BIG)
        + Store.getLongVolatile(memory, at + RingLayout.LOST_OTHER);
  }

  RingMemory ring() {
    return ring;
  }

  HotPath path() {
    return path;
  }

  /**
   * Ends reserving: later events are neither stored nor counted. The rings stay readable. What was
   * reserved before is seen by whoever reads the offsets afterwards (R.10).
   */
  void end() {
    path.end();
  }

  @Override
  public void close() throws IOException {
    // Not while a thread makes a ring: the descriptor's number may be another file's at once.
    synchronized (preparing) {
      ring.close();
    }
  }
}
