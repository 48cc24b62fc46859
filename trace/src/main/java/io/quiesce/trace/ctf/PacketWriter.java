package io.quiesce.trace.ctf;

import java.lang.foreign.MemorySegment;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the events of one CPU, packet after packet, into one sub-buffer of fixed size.
 *
 * <p>{@link #open}, any number of {@link #write}, {@link #close}, and again; what close returns is
 * a whole packet for {@link StreamFile#append}. Times never go back within a stream: an earlier one
 * is written as the last one, and counted, because one step back makes readers refuse the trace
 * from there on.
 *
 * <p>Not thread-safe. It is the simple way into the format, for what is not hot; it allocates.
 */
public final class PacketWriter {

  /** What became of an event. */
  public enum Outcome {
    /** It is in the packet. */
    WRITTEN,
    /** It needs the next packet: this one has no room for it. Nothing has changed. */
    FULL,
    /** It is larger than a packet can hold, so it will never be written. Nothing has changed. */
    TOO_LARGE
  }

  private static final long MOST_WORDS = 8;

  private final TraceDescription trace;
  private final int cpu;
  private final MemorySegment buffer;
  private boolean open;
  private long at;
  private long last;
  private long lastBefore;
  private long sequence;
  private long discarded;
  private long corrected;

  /**
   * A writer without an open packet.
   *
   * @param trace whose uuid and context fields are taken
   * @param cpu the number that the events will have
   * @param buffer the sub-buffer; its size, down to a multiple of 8, bounds packets and events
   * @throws IllegalArgumentException if the sub-buffer has no room for an event
   */
  public PacketWriter(TraceDescription trace, int cpu, MemorySegment buffer) {
    long size = buffer.byteSize() & -PacketLayout.GRANULE;
    if (size < PacketLayout.EVENTS_AT + EventHeader.EXTENDED_BYTES) {
      throw new IllegalArgumentException("A packet of " + size + " bytes holds no event");
    }
    this.trace = trace;
    this.cpu = cpu;
    this.buffer = buffer.asSlice(0, size);
  }

  /**
   * Begins a packet.
   *
   * @param time in ticks of the trace's clock, not after its first event
   * @throws IllegalStateException if one is open
   */
  public void open(long time) {
    if (open) {
      throw new IllegalStateException("The packet before is still open");
    }
    lastBefore = last;
    last = notBack(time);
    UUID uuid = trace.uuid();
    PacketLayout.open(buffer, uuid, cpu, last);
    at = PacketLayout.EVENTS_AT;
    open = true;
  }

  /**
   * Adds an event.
   *
   * @param type in the trace's metadata before the packet is in its file
   * @param time in ticks of the trace's clock
   * @param context a value for each context field of the trace
   * @param values a value for each field of the type; see {@link Values}
   * @throws IllegalArgumentException if the values do not fit the fields
   * @throws IllegalStateException if no packet is open
   */
  public Outcome write(
      EventType type, long time, @Nullable Object[] context, @Nullable Object... values) {
    requireOpen();
    Object[] shared = Values.check(trace.context(), context);
    Object[] own = Values.check(type.fields(), values);
    long payload = Values.size(trace.context(), shared) + Values.size(type.fields(), own);
    long moment = Math.max(time, last);
    long size = EventHeader.size(type.id(), moment, last) + payload;
    if (size > buffer.byteSize() - at) {
      // In a packet of its own its header may be the short one.
      long least = EventHeader.size(type.id(), moment, moment) + payload;
      return least > buffer.byteSize() - PacketLayout.EVENTS_AT ? Outcome.TOO_LARGE : Outcome.FULL;
    }
    moment = notBack(time);
    at = EventHeader.write(buffer, at, type.id(), moment, last);
    at = Values.write(buffer, at, trace.context(), shared);
    at = Values.write(buffer, at, type.fields(), own);
    last = moment;
    return Outcome.WRITTEN;
  }

  /**
   * Adds an event whose context and fields are encoded already.
   *
   * @param id of its type
   * @param time in ticks of the trace's clock
   * @param from where the bytes are
   * @param offset of the first
   * @param bytes how many
   * @throws IllegalStateException if no packet is open
   */
  public Outcome append(int id, long time, MemorySegment from, long offset, long bytes) {
    requireOpen();
    long moment = Math.max(time, last);
    long size = EventHeader.size(id, moment, last) + bytes;
    if (size > buffer.byteSize() - at) {
      long least = EventHeader.size(id, moment, moment) + bytes;
      return least > buffer.byteSize() - PacketLayout.EVENTS_AT ? Outcome.TOO_LARGE : Outcome.FULL;
    }
    moment = notBack(time);
    at = EventHeader.write(buffer, at, id, moment, last);
    copy(from, offset, bytes);
    at += bytes;
    last = moment;
    return Outcome.WRITTEN;
  }

  /**
   * By words where that is less than a call: most events are a few words. The bytes behind the last
   * one are overwritten by the next event, or at the end.
   */
  private void copy(MemorySegment from, long offset, long bytes) {
    long rounded = (bytes + Long.BYTES - 1) & -Long.BYTES;
    if (bytes > MOST_WORDS * Long.BYTES
        || rounded > buffer.byteSize() - at
        || rounded > from.byteSize() - offset) {
      MemorySegment.copy(from, offset, buffer, at, bytes);
      return;
    }
    for (long i = 0; i < bytes; i += Long.BYTES) {
      buffer.set(Bytes.LONG, at + i, from.get(Bytes.LONG, offset + i));
    }
  }

  /**
   * Forgets the open packet, as if it had not been begun.
   *
   * @throws IllegalStateException if no packet is open
   */
  public void drop() {
    requireOpen();
    open = false;
    last = lastBefore;
  }

  /**
   * Ends the packet, which may be empty.
   *
   * @param time in ticks, not before its last event
   * @param lost events of this CPU that were lost since the trace began; less than at the packet
   *     before counts as no more
   * @return the packet, a slice of the sub-buffer: valid until the next {@link #open}
   * @throws IllegalStateException if no packet is open
   */
  public MemorySegment close(long time, long lost) {
    return close(time, lost, sequence);
  }

  /**
   * As {@link #close(long, long)}, with the packet's number; the next one's is one more.
   *
   * @param time in ticks, not before its last event
   * @param lost events of this CPU that were lost since the trace began
   * @param number of the packet in its stream; readers take a gap for lost packets
   * @return the packet, a slice of the sub-buffer
   * @throws IllegalStateException if no packet is open
   */
  public MemorySegment close(long time, long lost, long number) {
    requireOpen();
    last = notBack(time);
    discarded = Math.max(discarded, lost);
    open = false;
    sequence = number + 1;
    return buffer.asSlice(0, PacketLayout.close(buffer, last, at, number, discarded));
  }

  /** No packet will begin before this time: the stream goes on from there. */
  public void after(long time) {
    last = Math.max(last, time);
  }

  /** How many times went back, or were negative, and were raised to the last one. */
  public long corrected() {
    return corrected;
  }

  private void requireOpen() {
    if (!open) {
      throw new IllegalStateException("No packet is open");
    }
  }

  private long notBack(long time) {
    if (time < last) {
      corrected++;
      return last;
    }
    return time;
  }
}
