package io.quiesce.trace.ring;

import io.quiesce.linux.OffHeap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/**
 * Loads and stores in the ring's memory, by raw address where the JVM grants native access and
 * through the mapped segment where it does not.
 *
 * <p>Which of the two is a constant of the process, so the compiler keeps one of them: an access by
 * raw address is one instruction. A place is an address in the first case and an offset in the
 * segment in the second; {@link RingMemory#base()} is where the file begins in either.
 *
 * <p>Numbers of more than one byte are little-endian, as the trace format has them; this library's
 * restartable sequences are for x86-64, and the portable paths convert where a machine needs it.
 */
public final class Store {
  /** Whether places are addresses. */
  static final boolean RAW = OffHeap.isAvailable();

  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
  private static final VarHandle SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.varHandle();
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final VarHandle PLAIN_INT = ValueLayout.JAVA_INT_UNALIGNED.varHandle();
  private static final VarHandle PLAIN_LONG = ValueLayout.JAVA_LONG_UNALIGNED.varHandle();

  private Store() {}

  /** Where a place lies in the segment, for the JDK's bulk copies. */
  public static long offset(MemorySegment memory, long at) {
    return RAW ? at - memory.address() : at;
  }

  /** Tells the debug mode that a segment's memory may be accessed. */
  static void register(MemorySegment memory) {
    if (RAW) {
      OffHeap.register(memory.address(), memory.byteSize());
    }
  }

  /** Plain. */
  public static void putByte(MemorySegment memory, long at, byte value) {
    if (RAW) {
      OffHeap.putByte(at, value);
    } else {
      BYTE.set(memory, at, value);
    }
  }

  /** Plain, at any byte. */
  public static void putShort(MemorySegment memory, long at, short value) {
    if (RAW) {
      OffHeap.putByte(at, (byte) value);
      OffHeap.putByte(at + 1, (byte) (value >> 8));
    } else {
      SHORT.set(memory, at, value);
    }
  }

  /** Plain, at any byte. */
  public static void putInt(MemorySegment memory, long at, int value) {
    if (RAW) {
      OffHeap.putInt(at, value);
    } else {
      PLAIN_INT.set(memory, at, value);
    }
  }

  /** Plain, at any byte. */
  public static void putLong(MemorySegment memory, long at, long value) {
    if (RAW) {
      OffHeap.putLong(at, value);
    } else {
      PLAIN_LONG.set(memory, at, value);
    }
  }

  /** Plain, at any byte: the bits as they are. */
  public static void putFloat(MemorySegment memory, long at, float value) {
    putInt(memory, at, Float.floatToRawIntBits(value));
  }

  /** Plain, at any byte: the bits as they are. */
  public static void putDouble(MemorySegment memory, long at, double value) {
    putLong(memory, at, Double.doubleToRawLongBits(value));
  }

  /** Plain, at any byte: the characters of a string of ASCII, and a NUL. */
  public static void putAscii(MemorySegment memory, long at, String text) {
    if (RAW) {
      OffHeap.putLatin1(at, text);
    } else {
      memory.setString(at, text, StandardCharsets.ISO_8859_1);
    }
  }

  /** What {@link #putAscii} does, with a method less. */
  public static MethodHandle ascii() {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    try {
      if (RAW) {
        MethodType type = MethodType.methodType(void.class, long.class, String.class);
        return MethodHandles.dropArguments(
            lookup.findStatic(OffHeap.class, "putLatin1", type), 0, MemorySegment.class);
      }
      MethodType type =
          MethodType.methodType(void.class, MemorySegment.class, long.class, String.class);
      return lookup.findStatic(Store.class, "putAscii", type);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("Store.ascii", e);
    }
  }

  static int getInt(MemorySegment memory, long at) {
    return RAW ? OffHeap.getInt(at) : (int) PLAIN_INT.get(memory, at);
  }

  static long getLong(MemorySegment memory, long at) {
    return RAW ? OffHeap.getLong(at) : (long) PLAIN_LONG.get(memory, at);
  }

  static int getIntAcquire(MemorySegment memory, long at) {
    return RAW ? OffHeap.getIntAcquire(at) : (int) INT.getAcquire(memory, at);
  }

  static int getIntVolatile(MemorySegment memory, long at) {
    return RAW ? OffHeap.getIntVolatile(at) : (int) INT.getVolatile(memory, at);
  }

  static void setIntVolatile(MemorySegment memory, long at, int value) {
    if (RAW) {
      OffHeap.setIntVolatile(at, value);
    } else {
      INT.setVolatile(memory, at, value);
    }
  }

  static void setIntRelease(MemorySegment memory, long at, int value) {
    if (RAW) {
      OffHeap.setIntRelease(at, value);
    } else {
      INT.setRelease(memory, at, value);
    }
  }

  static long getLongAcquire(MemorySegment memory, long at) {
    return RAW ? OffHeap.getLongAcquire(at) : (long) LONG.getAcquire(memory, at);
  }

  static long getLongVolatile(MemorySegment memory, long at) {
    return RAW ? OffHeap.getLongVolatile(at) : (long) LONG.getVolatile(memory, at);
  }

  static void setLongRelease(MemorySegment memory, long at, long value) {
    if (RAW) {
      OffHeap.setLongRelease(at, value);
    } else {
      LONG.setRelease(memory, at, value);
    }
  }

  static boolean compareAndSetLong(MemorySegment memory, long at, long expected, long value) {
    return RAW
        ? OffHeap.compareAndSetLong(at, expected, value)
        : LONG.compareAndSet(memory, at, expected, value);
  }

  static boolean compareAndSetInt(MemorySegment memory, long at, int expected, int value) {
    return RAW
        ? OffHeap.compareAndSetInt(at, expected, value)
        : INT.compareAndSet(memory, at, expected, value);
  }

  static void addLong(MemorySegment memory, long at, long delta) {
    if (RAW) {
      OffHeap.getAndAddLong(at, delta);
    } else {
      Object _ = (long) LONG.getAndAdd(memory, at, delta);
    }
  }

  /** Loads before it come before loads behind it. */
  static void loadFence() {
    VarHandle.loadLoadFence();
  }

  static void fill(MemorySegment memory, long at, long bytes) {
    if (RAW) {
      OffHeap.fill(at, bytes, (byte) 0);
    } else {
      memory.asSlice(at, bytes).fill((byte) 0);
    }
  }
}
