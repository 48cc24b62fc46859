package io.quiesce.trace.ring;

import io.quiesce.trace.ctf.PacketWriter;
import io.quiesce.trace.ctf.TraceDescription;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntPredicate;

/**
 * Makes the packet of a sub-buffer: its committed records, their stamps turned into nanoseconds and
 * their headers into the format's.
 *
 * <p>One for each CPU, since times never go back within a stream. Not thread-safe.
 */
final class PacketBuilder implements SubBufferWalk.Sink {
  /** More than a packet's header and a sub-buffer's have between them. */
  private static final int SLACK = 256;

  private final PacketWriter writer;
  private final Anchors anchors;
  private final IntPredicate known;
  private MemorySegment source = MemorySegment.NULL;
  private long base;
  private boolean open;
  private long last;
  private long lastBefore;
  private long latest;
  private long late;
  private long unknown;

  PacketBuilder(
      TraceDescription trace, int cpu, RingGeometry geometry, Anchors anchors, IntPredicate known) {
    MemorySegment buffer = Arena.ofAuto().allocate(geometry.subBytes() + SLACK, 8);
    this.writer = new PacketWriter(trace, cpu, buffer);
    this.anchors = anchors;
    this.known = known;
  }

  /** Begins, with the memory that the records lie in and the place of its first byte. */
  void begin(MemorySegment memory, long firstPlace) {
    begin(memory, firstPlace, Long.MAX_VALUE);
  }

  /** The same, without the records whose stamps are later than this one. */
  void begin(MemorySegment memory, long firstPlace, long latestStamp) {
    if (open) {
      drop(); // what was taken when something failed
    }
    source = memory;
    base = firstPlace;
    latest = latestStamp;
    open = false;
    lastBefore = last;
    unknown = 0;
    late = 0;
  }

  /** Forgets what was taken since {@link #begin}. */
  void drop() {
    if (open) {
      writer.drop();
      open = false;
    }
    last = lastBefore;
  }

  @Override
  public boolean record(int id, long stamp, long at, long bytes) {
    if (!known.test(id)) {
      unknown++;
      return true;
    }
    if (stamp > latest) {
      late++;
      return true;
    }
    long time = anchors.toNanos(stamp);
    if (!open) {
      writer.open(time);
      open = true;
    }
    writer.append(id, time, source, at - base, bytes);
    last = Math.max(last, time);
    return true;
  }

  /** Records that are later than asked for; they are left out. */
  long late() {
    return late;
  }

  /** Records of types that are not in the metadata; they are left out. */
  long unknown() {
    return unknown;
  }

  /**
   * Ends the packet; one without events has the time of the last one before it.
   *
   * @param sequence its number
   * @param lost events of this CPU that were lost before the next packet's first
   */
  MemorySegment end(long sequence, long lost) {
    if (!open) {
      writer.open(last);
    }
    open = false;
    return writer.close(last, lost, sequence);
  }

  /** Continues a stream: no packet begins before this time. */
  void after(long time) {
    last = Math.max(last, time);
    writer.after(time);
  }
}
