package io.quiesce.trace.ring;

/**
 * The buffers' file, word by word. A killed program leaves it behind, so recovery reads the same
 * words as the consumer.
 *
 * <pre>
 *   0            header page    magic, geometry, mode, clock, process
 *   4096         table          128 bytes, then 128 for each CPU
 *   anchors      one page       pairs of counter and clock
 *   buffers      one ring for each CPU, sub-buffers one behind the other
 *
 *   ring:        offset grows for ever; its low bits are the place in the ring
 *   sub-buffer:  [ losses before it, u64 | unused, u64 | record | record | ... | padding ]
 *   record:      [ u32 size and state | u32 event id | u64 stamp | fields as CTF has them | 0-7 ]
 * </pre>
 *
 * <p>A record's size is a multiple of 8, so the low bits of its first word hold its state. Until it
 * is committed its second word holds its owner, the low bits of the thread's number.
 *
 * <p>The first three words of the table and of each row are known to the machine code too: {@code
 * TraceSequences} in core.
 */
final class RingLayout {
  static final int PAGE = 4096;

  // The header page.
  static final long MAGIC = 0x31_45_43_53_45_49_55_51L; // "QUIESCE1"
  static final int VERSION = 1;
  static final int MAGIC_AT = 0;
  static final int VERSION_AT = 8;
  static final int ROWS_AT = 12;
  static final int SUB_BYTES_AT = 16;
  static final int SUB_COUNT_AT = 24;
  static final int MODE_AT = 28;
  static final int STAMP_AT = 32;
  static final int PID_AT = 40;
  static final int HEADER_BYTES = PAGE;

  // The table: shared words, then rows.
  static final int TABLE_AT = HEADER_BYTES;
  static final int TABLE_ROWS = 0;
  static final int TABLE_SUB_MASK = 8;
  static final int TABLE_RING_MASK = 16;
  static final int ROW_SHIFT = 7;
  static final int ROW_BYTES = 1 << ROW_SHIFT;

  // A row; its first cache line is the producers', the second the slow paths'.
  static final int OFFSET = 0;
  static final int CLOSED = 8;
  static final int ADDRESS = 16;
  static final int LOCK = 24;
  static final int BEGUN = 32;
  static final int LAST = 40;
  static final int SUSPECT = 48;
  static final int SETTLED = 56;
  static final int CONSUMED = 64;
  static final int LOST_FULL = 72;
  static final int LOST_WRAP = 80;
  static final int LOST_BIG = 88;
  static final int LOST_OTHER = 96;
  static final int STUCK = 104;
  static final int PENDING = 112;

  // Why a row is closed.
  static final int FLUSHING = 1;
  static final int NOT_READY = 2;
  static final int ENDED = 4;
  static final int FAILED = 8;

  // A sub-buffer and its records.
  static final int SUB_HEADER_BYTES = 16;
  static final int SLOT_BYTES = 16;
  static final int SLOT_ID = 4;
  static final int SLOT_STAMP = 8;
  static final int ALIGN = 8;

  /** Above the id, in 3 bits: how many bytes of padding the record ends with. */
  static final int PADDING_SHIFT = 29;

  static final int ID_MASK = (1 << PADDING_SHIFT) - 1;

  // States, in the low three bits.
  static final int RESERVED = 1;
  static final int COMMITTED = 2;
  static final int ABANDONED = 3;
  static final int PADDING = 4;
  static final int STATE_MASK = 7;

  // The anchors' page: how many, then pairs.
  static final int ANCHOR_COUNT = 0;
  static final int ANCHORS_FIRST = 16;
  static final int ANCHORS_MAX = (PAGE - ANCHORS_FIRST) / 16;

  private RingLayout() {}

  static long tableBytes(int rows) {
    return rounded(ROW_BYTES + (long) rows * ROW_BYTES);
  }

  static long anchorsAt(int rows) {
    return TABLE_AT + tableBytes(rows);
  }

  static long buffersAt(int rows) {
    return anchorsAt(rows) + PAGE;
  }

  static long rowAt(int row) {
    return TABLE_AT + ROW_BYTES + ((long) row << ROW_SHIFT);
  }

  private static long rounded(long bytes) {
    return (bytes + PAGE - 1) & -PAGE;
  }
}
