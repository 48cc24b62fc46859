package io.quiesce.trace.ring;

import io.quiesce.trace.ctf.StreamFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The way of one CPU's sub-buffers into its stream file. A packet that could not be written is kept
 * and tried again, before anything else of its CPU. Not thread-safe.
 */
final class RowStream implements AutoCloseable {
  private final RingBuffers buffers;
  private final SubBufferWalk walk;
  private final int row;
  private final PacketBuilder builder;
  private final StreamFile file;
  private @Nullable MemorySegment unwritten;
  private long unwrittenEvents;
  private long events;
  private long dropped;
  private long lost;

  RowStream(RingBuffers buffers, int row, PacketBuilder builder, StreamFile file) {
    this.buffers = buffers;
    this.walk = new SubBufferWalk(buffers.ring());
    this.row = row;
    this.builder = builder;
    this.file = file;
    builder.after(file.lastEnd());
  }

  /** Whether each record of a sub-buffer up to an end is committed or given up. */
  SubBufferWalk.Findings look(long offset, long end) {
    return walk.walk(row, offset, end, (id, stamp, at, bytes) -> true);
  }

  /**
   * Gathers the packet of a sub-buffer; records that are still pending are left out. {@link #write}
   * or {@link #drop} must follow.
   */
  SubBufferWalk.Findings gather(long offset, long end) {
    builder.begin(buffers.memory(), buffers.ring().base());
    SubBufferWalk.Findings findings = walk.walk(row, offset, end, builder);
    unwrittenEvents = findings.committed - builder.unknown();
    dropped += builder.unknown();
    return findings;
  }

  /** Forgets what was gathered, as if it had never been looked at. */
  void drop() {
    builder.drop();
    dropped -= builder.unknown();
  }

  /**
   * Writes what was gathered.
   *
   * @throws IOException if it is not in the file; {@link #retry} must succeed before the next one
   */
  void write(long offset, long lost) throws IOException {
    this.lost = lost;
    unwritten = builder.end(offset / buffers.ring().geometry().subBytes(), lost);
    retry();
  }

  /** Writes a packet of no events at a time, behind all others. */
  void writeEmpty(long offset, long time, long lost) throws IOException {
    builder.begin(buffers.memory(), buffers.ring().base());
    builder.after(time);
    unwrittenEvents = 0;
    write(offset, lost);
  }

  /** Events of this CPU that the packets so far say were lost. */
  long lost() {
    return lost;
  }

  /**
   * Writes the packet that could not be written, if there is one.
   *
   * @throws IOException as {@link #write}
   */
  void retry() throws IOException {
    if (unwritten != null) {
      file.append(unwritten);
      unwritten = null;
      events += unwrittenEvents;
    }
  }

  boolean hasUnwritten() {
    return unwritten != null;
  }

  /** The number of the last sub-buffer in the file. */
  long lastSequence() {
    return file.lastSequence();
  }

  /** Events in packets so far. */
  long events() {
    return events;
  }

  /** Events whose types are not in the metadata. */
  long dropped() {
    return dropped;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
