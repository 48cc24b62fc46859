package io.quiesce.trace.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What stands before each event: its type and its time, in 4 bytes or in 13.
 *
 * <pre>
 *   compact    u32: the id in bits 0 to 4, the time's low 27 bits in bits 5 to 31
 *   extended   u8: 31, then u32: the id, then u64: the time
 * </pre>
 *
 * <p>A reader keeps the last time of the packet, at first its begin, and takes the low 27 bits of a
 * compact header for the next moment that ends with them. So a compact header can express a step of
 * 2^27 - 1 ticks and no more; 134 milliseconds when a tick is a nanosecond.
 */
final class EventHeader {
  /** The bits of the time that a compact header holds. */
  static final int TIME_BITS = 27;

  static final int COMPACT_BYTES = 4;
  static final int EXTENDED_BYTES = 13;

  private static final int ID_BITS = 5;
  private static final int EXTENDED = 31;

  private EventHeader() {}

  /**
   * The size in bytes.
   *
   * @param id the event type
   * @param time of the event
   * @param last the time of the event before it, or the packet's begin
   */
  static int size(int id, long time, long last) {
    boolean compact = id <= EventType.LAST_COMPACT_ID && (time - last) >>> TIME_BITS == 0;
    return compact ? COMPACT_BYTES : EXTENDED_BYTES;
  }

  /** Stores it; returns where the context goes. */
  static long write(MemorySegment to, long at, int id, long time, long last) {
    if (size(id, time, last) == COMPACT_BYTES) {
      to.set(Bytes.INT, at, (int) time << ID_BITS | id);
      return at + COMPACT_BYTES;
    }
    to.set(ValueLayout.JAVA_BYTE, at, (byte) EXTENDED);
    to.set(Bytes.INT, at + 1, id);
    to.set(Bytes.LONG, at + 5, time);
    return at + EXTENDED_BYTES;
  }
}
