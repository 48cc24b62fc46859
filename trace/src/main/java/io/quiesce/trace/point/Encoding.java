package io.quiesce.trace.point;

import io.quiesce.trace.ring.RingBuffers;
import io.quiesce.trace.ring.Store;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * What the classes that {@link Encoders} generates call: all that is the same in each of them.
 *
 * <p>Small methods, which the compiler inlines anywhere, or rare ones.
 */
@SuppressWarnings("unused") // Called from generated code.
final class Encoding {
  private static final ValueLayout.OfChar CHAR =
      ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final boolean[] NO_BOOLEANS = {};
  private static final byte[] NO_BYTES = {};
  private static final char[] NO_CHARS = {};
  private static final short[] NO_SHORTS = {};
  private static final int[] NO_INTS = {};
  private static final long[] NO_LONGS = {};
  private static final float[] NO_FLOATS = {};
  private static final double[] NO_DOUBLES = {};

  private Encoding() {}

  static boolean isOn(Point point) {
    return point.target() != null;
  }

  /** Whether the target looks at the values. */
  static boolean isChoosing(Target target) {
    return target.filter() != EventFilter.ALL;
  }

  /** The size in bytes of what the session adds. */
  static long contextBytes(Target target) {
    EventContext context = target.context();
    return context == EventContext.NONE ? 0 : context.bytes();
  }

  /** Stores what the session adds; where the event's own fields begin. */
  static long begin(Target target, MemorySegment memory, long record, long contextBytes) {
    long at = RingBuffers.fields(record);
    return contextBytes == 0 ? at : target.context().store(memory, at, at + contextBytes);
  }

  /** A record whose fields could not be stored. */
  static void abandon(RingBuffers ring, long record, long bytes) {
    try {
      ring.abandon(record, bytes);
    } finally {
      Reference.reachabilityFence(ring);
    }
  }

  // What null stands for.

  static String text(@Nullable String text) {
    return text == null ? FieldKind.NULL : text;
  }

  static boolean[] array(boolean @Nullable [] array) {
    return array == null ? NO_BOOLEANS : array;
  }

  static byte[] array(byte @Nullable [] array) {
    return array == null ? NO_BYTES : array;
  }

  static char[] array(char @Nullable [] array) {
    return array == null ? NO_CHARS : array;
  }

  static short[] array(short @Nullable [] array) {
    return array == null ? NO_SHORTS : array;
  }

  static int[] array(int @Nullable [] array) {
    return array == null ? NO_INTS : array;
  }

  static long[] array(long @Nullable [] array) {
    return array == null ? NO_LONGS : array;
  }

  static float[] array(float @Nullable [] array) {
    return array == null ? NO_FLOATS : array;
  }

  static double[] array(double @Nullable [] array) {
    return array == null ? NO_DOUBLES : array;
  }

  /** The value of no constant has all bits set. */
  @SuppressWarnings("EnumOrdinal") // The numbers are in the metadata of the same trace.
  private static int ordinal(@Nullable Enum<?> constant) {
    return constant == null ? -1 : constant.ordinal();
  }

  /** As filters see it. */
  static String label(@Nullable Enum<?> constant) {
    return constant == null ? FieldKind.NULL : constant.name();
  }

  // Stores, each with the place first.

  static void put8(MemorySegment memory, long at, boolean value) {
    Store.putByte(memory, at, (byte) (value ? 1 : 0));
  }

  static void put16(MemorySegment memory, long at, char value) {
    Store.putShort(memory, at, (short) value);
  }

  static void put8(MemorySegment memory, long at, @Nullable Enum<?> value) {
    Store.putByte(memory, at, (byte) ordinal(value));
  }

  static void put16(MemorySegment memory, long at, @Nullable Enum<?> value) {
    Store.putShort(memory, at, (short) ordinal(value));
  }

  // Arrays; the place behind them is returned. Length 0: a sequence, the array's own length and its
  // elements. An array's length never changes, so the size stays what it was measured to be,
  // whatever happens to the elements. Else as many elements as that: what is too much is left out,
  // what is missing is zero.

  static long put(MemorySegment memory, long at, boolean[] array, int length) {
    long place = elements(memory, at, array.length, length);
    int kept = kept(array.length, length);
    for (int i = 0; i < kept; i++) {
      put8(memory, place + i, array[i]);
    }
    return fill(memory, place, kept, length, 1);
  }

  static long put(MemorySegment memory, long at, byte[] array, int length) {
    return copy(memory, at, array, ValueLayout.JAVA_BYTE, array.length, length);
  }

  static long put(MemorySegment memory, long at, char[] array, int length) {
    return copy(memory, at, array, CHAR, array.length, length);
  }

  static long put(MemorySegment memory, long at, short[] array, int length) {
    return copy(memory, at, array, SHORT, array.length, length);
  }

  static long put(MemorySegment memory, long at, int[] array, int length) {
    return copy(memory, at, array, INT, array.length, length);
  }

  static long put(MemorySegment memory, long at, long[] array, int length) {
    return copy(memory, at, array, LONG, array.length, length);
  }

  static long put(MemorySegment memory, long at, float[] array, int length) {
    return copy(memory, at, array, FLOAT, array.length, length);
  }

  static long put(MemorySegment memory, long at, double[] array, int length) {
    return copy(memory, at, array, DOUBLE, array.length, length);
  }

  private static long copy(
      MemorySegment memory, long at, Object array, ValueLayout layout, int own, int length) {
    long place = elements(memory, at, own, length);
    int kept = kept(own, length);
    MemorySegment.copy(array, 0, memory, layout, Store.offset(memory, place), kept);
    return fill(memory, place, kept, length, layout.byteSize());
  }

  /** Where the elements go. */
  private static long elements(MemorySegment memory, long at, int own, int length) {
    if (length > 0) {
      return at;
    }
    Store.putInt(memory, at, own);
    return at + Integer.BYTES;
  }

  /** How many elements are stored. */
  private static int kept(int own, int length) {
    return length > 0 ? Math.min(own, length) : own;
  }

  /** Zeros for the elements that are missing; the place behind them. */
  private static long fill(MemorySegment memory, long place, int kept, int length, long bytes) {
    long end = place + Math.max(kept, length) * bytes;
    for (long at = place + kept * bytes; at < end; at++) {
      Store.putByte(memory, at, (byte) 0);
    }
    return end;
  }
}
