package io.quiesce.trace.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * Where the words before a packet's first event lie, and how to fill them.
 *
 * <pre>
 *    0  u32      magic c1fc1fc1           32  u64  timestamp_begin
 *    4  u8[16]   trace uuid               40  u64  timestamp_end
 *   20  u32      stream_id, always 0      48  u64  content_size, in bits
 *   24  u64      stream_instance_id, CPU  56  u64  packet_size, in bits
 *                                         64  u64  packet_seq_num
 *                                         72  u64  events_discarded, since the trace began
 *                                         80  u32  cpu_id
 *                                         84  the first event
 * </pre>
 *
 * <p>Nothing is padded. Offsets are from the packet's first byte; times are ticks of the trace's
 * clock. The methods are plain stores and loads without ordering.
 */
final class PacketLayout {
  static final int MAGIC = 0xc1fc1fc1;
  static final int UUID_AT = 4;
  static final int STREAM_AT = 20;
  static final int INSTANCE_AT = 24;
  static final int BEGIN_AT = 32;
  static final int END_AT = 40;
  static final int CONTENT_AT = 48;
  static final int SIZE_AT = 56;
  static final int SEQUENCE_AT = 64;
  static final int DISCARDED_AT = 72;
  static final int CPU_AT = 80;

  /** Where the first event lies, in bytes. */
  static final int EVENTS_AT = 84;

  /** Packets in a file have a multiple of this many bytes. */
  static final int GRANULE = 8;

  private static final ValueLayout.OfLong NETWORK =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private PacketLayout() {}

  /** Fills what is known when a packet begins; sizes, end, sequence and losses stay 0. */
  static void open(MemorySegment packet, UUID trace, int cpu, long begin) {
    packet.asSlice(0, EVENTS_AT).fill((byte) 0);
    packet.set(Bytes.INT, 0, MAGIC);
    packet.set(NETWORK, UUID_AT, trace.getMostSignificantBits());
    packet.set(NETWORK, UUID_AT + 8L, trace.getLeastSignificantBits());
    packet.set(Bytes.LONG, INSTANCE_AT, cpu);
    packet.set(Bytes.LONG, BEGIN_AT, begin);
    packet.set(Bytes.INT, CPU_AT, cpu);
  }

  /**
   * Fills the rest, and zeroes the bytes behind the last event.
   *
   * @param end not before the last event's time
   * @param content bytes up to the end of the last event
   * @param sequence the packet's number in its stream, from 0
   * @param discarded events lost in this stream since the trace began; never less than before
   * @return how many bytes of the packet belong into the file
   */
  static long close(MemorySegment packet, long end, long content, long sequence, long discarded) {
    long size = rounded(content);
    packet.asSlice(content, size - content).fill((byte) 0);
    packet.set(Bytes.LONG, END_AT, end);
    packet.set(Bytes.LONG, CONTENT_AT, content * Byte.SIZE);
    packet.set(Bytes.LONG, SIZE_AT, size * Byte.SIZE);
    packet.set(Bytes.LONG, SEQUENCE_AT, sequence);
    packet.set(Bytes.LONG, DISCARDED_AT, discarded);
    return size;
  }

  /** Bytes of a packet with so many bytes of content. */
  static long rounded(long content) {
    return (content + GRANULE - 1) & -GRANULE;
  }

  /** The size in bytes that a packet claims for itself, or -1 when this is the start of none. */
  static long sizeOf(MemorySegment packet) {
    if (packet.byteSize() < EVENTS_AT || packet.get(Bytes.INT, 0) != MAGIC) {
      return -1;
    }
    long content = packet.get(Bytes.LONG, CONTENT_AT);
    long size = packet.get(Bytes.LONG, SIZE_AT);
    boolean sound =
        content >= (long) EVENTS_AT * Byte.SIZE
            && size >= content
            && size % ((long) GRANULE * Byte.SIZE) == 0
            && content % Byte.SIZE == 0
            && Long.compareUnsigned(
                    packet.get(Bytes.LONG, BEGIN_AT), packet.get(Bytes.LONG, END_AT))
                <= 0;
    return sound ? size / Byte.SIZE : -1;
  }

  /** Whose packet this is. */
  static UUID traceOf(MemorySegment packet) {
    return new UUID(packet.get(NETWORK, UUID_AT), packet.get(NETWORK, UUID_AT + 8L));
  }
}
