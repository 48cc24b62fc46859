package io.quiesce.trace.reader;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Bytes of a packet, and how to get integers of any bits at any bit out of them.
 *
 * <p>Bits count as CTF counts them: in little-endian order from the least significant bit of the
 * first byte, in big-endian order from the most significant one. Addresses are from the packet's
 * first bit, even when only a part of it is here.
 */
final class Bits {
  private static final ValueLayout.OfLong LITTLE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private MemorySegment segment;
  private long firstByte;

  Bits(MemorySegment segment, long firstByte) {
    this.segment = segment;
    this.firstByte = firstByte;
  }

  void set(MemorySegment packet) {
    segment = packet;
    firstByte = 0;
  }

  /** A copy on the heap of the bytes that hold these bits. */
  Bits copy(long fromBit, long toBit) {
    long from = fromBit >>> 3;
    long to = (toBit + 7) >>> 3;
    byte[] bytes = segment.asSlice(from - firstByte, to - from).toArray(ValueLayout.JAVA_BYTE);
    return new Bits(MemorySegment.ofArray(bytes), from);
  }

  byte byteAt(long index) {
    return segment.get(ValueLayout.JAVA_BYTE, index - firstByte);
  }

  byte[] bytes(long index, int length) {
    return segment.asSlice(index - firstByte, length).toArray(ValueLayout.JAVA_BYTE);
  }

  /** The first NUL from there on, or -1 if there is none before the end. */
  long findNul(long index, long end) {
    for (long i = index - firstByte; i < end - firstByte; i++) {
      if (segment.get(ValueLayout.JAVA_BYTE, i) == 0) {
        return i + firstByte;
      }
    }
    return -1;
  }

  /** An integer; unsigned ones are extended with zeros. */
  long get(long bit, int bits, boolean signed, boolean bigEndian) {
    long index = (bit >>> 3) - firstByte;
    int skip = (int) (bit & 7);
    long value;
    if (skip + bits <= Long.SIZE && index + Long.BYTES <= segment.byteSize()) {
      value =
          bigEndian
              ? segment.get(BIG, index) << skip
              : segment.get(LITTLE, index) << (Long.SIZE - bits - skip);
    } else {
      value = slowly(index, skip, bits, bigEndian) << (Long.SIZE - bits);
    }
    return signed ? value >> (Long.SIZE - bits) : value >>> (Long.SIZE - bits);
  }

  /** Byte by byte: near the end, and for what lies across nine bytes. */
  private long slowly(long index, int skip, int bits, boolean bigEndian) {
    long value = 0;
    int done = 0;
    int offset = skip;
    long at = index;
    while (done < bits) {
      int take = Math.min(Byte.SIZE - offset, bits - done);
      long whole = segment.get(ValueLayout.JAVA_BYTE, at) & 0xff;
      if (bigEndian) {
        long part = (whole >>> (Byte.SIZE - offset - take)) & ((1L << take) - 1);
        value = (value << take) | part;
      } else {
        long part = (whole >>> offset) & ((1L << take) - 1);
        value |= part << done;
      }
      done += take;
      offset = 0;
      at++;
    }
    return value;
  }
}
