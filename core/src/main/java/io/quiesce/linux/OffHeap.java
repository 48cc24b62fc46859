package io.quiesce.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Off-heap memory by raw address.
 *
 * <pre>
 *   long a = OffHeap.allocate(64, 64);       zeroed, aligned
 *   OffHeap.setLongRelease(a, 1);            the method's name says the order
 *   OffHeap.getLongAcquire(a);
 *   OffHeap.free(a);
 * </pre>
 *
 * <p>Nothing checks an address in production: a wrong one crashes the JVM or damages memory. With
 * {@code -Dquiesce.debug=true} every access must lie inside a range that is allocated here or
 * {@link #register registered}, and freed memory is filled with 0x5b; an access outside throws
 * {@link IndexOutOfBoundsException}, one to freed memory {@link IllegalStateException}, both naming
 * the address.
 *
 * <p>Memory order. Methods without a suffix are plain: the compiler may reorder, merge or drop
 * them. {@code Opaque} ones happen once each, in one piece, but order nothing else. {@code
 * Acquire}, {@code Release} and {@code Volatile} are those of {@link java.lang.invoke.VarHandle};
 * every read-modify-write is volatile. All but the plain methods need an aligned address and throw
 * {@link IllegalArgumentException} otherwise. Numbers are in the CPU's byte order.
 *
 * <p>Needs native access (see {@link Platform}); without it {@link #isAvailable()} is false, {@link
 * #allocate} throws, and an access throws {@link IndexOutOfBoundsException}. Source: {@code
 * java.lang.foreign}, and the C library's {@code calloc} and {@code free}.
 */
public final class OffHeap {
  private OffHeap() {}

  /**
   * Whether raw memory can be used.
   *
   * @return the same as {@link Platform#nativeAccess()}
   */
  public static boolean isAvailable() {
    return Platform.nativeAccess();
  }

  /**
   * Whether every access is checked.
   *
   * @return true under {@code -Dquiesce.debug=true}
   */
  public static boolean isDebug() {
    return RawMemory.DEBUG;
  }

  /**
   * Allocates zeroed memory from the C heap. It lives until {@link #free}; memory that is never
   * freed is fine. Large blocks take up memory only as their pages are touched. Safe from any
   * thread; some 100 ns, more for large blocks.
   *
   * @param bytes how many, 0 or more
   * @param alignment a power of two
   * @return its address, never 0
   * @throws IllegalArgumentException for a negative size or an alignment that is no power of two
   * @throws OutOfMemoryError if there is none
   * @throws UnsupportedOperationException without native access, naming the flag
   */
  public static long allocate(long bytes, long alignment) {
    requireNative();
    if (bytes < 0 || alignment <= 0 || Long.bitCount(alignment) != 1) {
      throw new IllegalArgumentException(
          "cannot allocate "
              + bytes
              + " bytes aligned to "
              + alignment
              + "; pass a size of 0 or more and a power of two");
    }
    return CHeap.allocate(bytes, alignment);
  }

  /**
   * Gives memory from {@link #allocate} back. Nobody may use it any more. Safe from any thread.
   *
   * @param address what {@code allocate} returned
   * @throws IllegalArgumentException if it is no live block, as after a first free
   */
  public static void free(long address) {
    requireNative();
    CHeap.free(address);
  }

  /**
   * Tells the debug mode about memory that comes from elsewhere, such as a mapped file; does
   * nothing in production.
   *
   * @param address its start
   * @param bytes its length
   */
  public static void register(long address, long bytes) {
    if (RawMemory.DEBUG) {
      DebugMemory.add(address, bytes);
    }
  }

  /**
   * Takes {@link #register} back: from here on an access throws in the debug mode.
   *
   * @param address the start that was registered
   */
  public static void unregister(long address) {
    if (RawMemory.DEBUG) {
      DebugMemory.remove(address);
    }
  }

  /**
   * Fills memory with {@code 0x5b} in the debug mode, so that a late reader shows; does nothing in
   * production. For owners that keep freed blocks to themselves.
   *
   * @param address its start
   * @param bytes its length
   */
  public static void poison(long address, long bytes) {
    if (RawMemory.DEBUG) {
      fill(address, bytes, DebugMemory.POISON);
    }
  }

  /**
   * A segment over raw memory, for methods that want one. Its bounds are checked, its lifetime is
   * not.
   *
   * @param address its start
   * @param bytes its length
   * @return a segment that any thread may use
   */
  public static MemorySegment segment(long address, long bytes) {
    check(address, bytes);
    return RawMemory.ALL.asSlice(address, bytes);
  }

  /**
   * Copies memory, plain; the ranges may overlap.
   *
   * @param from address of the first byte to read
   * @param to address of the first byte to write
   * @param bytes how many
   */
  public static void copy(long from, long to, long bytes) {
    check(from, bytes);
    check(to, bytes);
    MemorySegment.copy(RawMemory.ALL, from, RawMemory.ALL, to, bytes);
  }

  /**
   * Stores a string of characters up to U+00FF, one byte for each, and a NUL behind it; plain and
   * without garbage. Other characters become question marks. The caller has to know that there is
   * room.
   *
   * <p>ASCII is the same in UTF-8. Asked for UTF-8, the JDK would look through the string first; a
   * caller that has done so saves that, and lets the compiler fold a constant string into stores
   * (measured in a trace event: 23.2 ns then, 22.3 ns now; with a constant, 15.0 ns).
   *
   * @param address of the first byte
   * @param text what to store
   */
  public static void putLatin1(long address, String text) {
    check(address, text.length() + 1L);
    try {
      Latin1.SET_STRING.invokeExact(address, text);
    } catch (Throwable e) {
      throw Thrown.unchecked(e);
    }
  }

  /**
   * Copies from an array, plain.
   *
   * @param from the array
   * @param index of its first byte
   * @param to address of the first byte to write
   * @param bytes how many
   */
  public static void copyFrom(byte[] from, int index, long to, int bytes) {
    check(to, bytes);
    MemorySegment.copy(from, index, RawMemory.ALL, ValueLayout.JAVA_BYTE, to, bytes);
  }

  /**
   * Copies into an array, plain.
   *
   * @param from address of the first byte to read
   * @param to the array
   * @param index of its first byte
   * @param bytes how many
   */
  public static void copyTo(long from, byte[] to, int index, int bytes) {
    check(from, bytes);
    MemorySegment.copy(RawMemory.ALL, ValueLayout.JAVA_BYTE, from, to, index, bytes);
  }

  /**
   * Sets every byte, plain.
   *
   * @param address of the first byte
   * @param bytes how many
   * @param value the byte
   */
  public static void fill(long address, long bytes, byte value) {
    check(address, bytes);
    RawMemory.ALL.asSlice(address, bytes).fill(value);
  }

  /**
   * A plain load.
   *
   * @param address any
   * @return the value
   */
  public static byte getByte(long address) {
    check(address, Byte.BYTES);
    return (byte) RawMemory.BYTE.get(RawMemory.ALL, address);
  }

  /**
   * A plain store.
   *
   * @param address any
   * @param value the value
   */
  public static void putByte(long address, byte value) {
    check(address, Byte.BYTES);
    RawMemory.BYTE.set(RawMemory.ALL, address, value);
  }

  /**
   * A plain load.
   *
   * @param address any
   * @return the value
   */
  public static int getInt(long address) {
    check(address, Integer.BYTES);
    return (int) RawMemory.PLAIN_INT.get(RawMemory.ALL, address);
  }

  /**
   * A plain store.
   *
   * @param address any
   * @param value the value
   */
  public static void putInt(long address, int value) {
    check(address, Integer.BYTES);
    RawMemory.PLAIN_INT.set(RawMemory.ALL, address, value);
  }

  /**
   * An opaque load.
   *
   * @param address aligned to 4
   * @return the value
   */
  public static int getIntOpaque(long address) {
    check(address, Integer.BYTES);
    return (int) RawMemory.INT.getOpaque(RawMemory.ALL, address);
  }

  /**
   * An acquire load.
   *
   * @param address aligned to 4
   * @return the value
   */
  public static int getIntAcquire(long address) {
    check(address, Integer.BYTES);
    return (int) RawMemory.INT.getAcquire(RawMemory.ALL, address);
  }

  /**
   * A volatile load.
   *
   * @param address aligned to 4
   * @return the value
   */
  public static int getIntVolatile(long address) {
    check(address, Integer.BYTES);
    return (int) RawMemory.INT.getVolatile(RawMemory.ALL, address);
  }

  /**
   * An opaque store.
   *
   * @param address aligned to 4
   * @param value the value
   */
  public static void setIntOpaque(long address, int value) {
    check(address, Integer.BYTES);
    RawMemory.INT.setOpaque(RawMemory.ALL, address, value);
  }

  /**
   * A release store.
   *
   * @param address aligned to 4
   * @param value the value
   */
  public static void setIntRelease(long address, int value) {
    check(address, Integer.BYTES);
    RawMemory.INT.setRelease(RawMemory.ALL, address, value);
  }

  /**
   * A volatile store.
   *
   * @param address aligned to 4
   * @param value the value
   */
  public static void setIntVolatile(long address, int value) {
    check(address, Integer.BYTES);
    RawMemory.INT.setVolatile(RawMemory.ALL, address, value);
  }

  /**
   * Replaces the value if it is the expected one; volatile.
   *
   * @param address aligned to 4
   * @param expected the value to replace
   * @param value the new value
   * @return true if it was replaced
   */
  public static boolean compareAndSetInt(long address, int expected, int value) {
    check(address, Integer.BYTES);
    return RawMemory.INT.compareAndSet(RawMemory.ALL, address, expected, value);
  }

  /**
   * Adds; volatile.
   *
   * @param address aligned to 4
   * @param delta what to add; wraps around
   * @return the value before
   */
  public static int getAndAddInt(long address, int delta) {
    check(address, Integer.BYTES);
    return (int) RawMemory.INT.getAndAdd(RawMemory.ALL, address, delta);
  }

  /**
   * Replaces the value; volatile.
   *
   * @param address aligned to 4
   * @param value the new value
   * @return the value before
   */
  public static int getAndSetInt(long address, int value) {
    check(address, Integer.BYTES);
    return (int) RawMemory.INT.getAndSet(RawMemory.ALL, address, value);
  }

  /**
   * A plain load.
   *
   * @param address any
   * @return the value
   */
  public static long getLong(long address) {
    check(address, Long.BYTES);
    return (long) RawMemory.PLAIN_LONG.get(RawMemory.ALL, address);
  }

  /**
   * A plain store.
   *
   * @param address any
   * @param value the value
   */
  public static void putLong(long address, long value) {
    check(address, Long.BYTES);
    RawMemory.PLAIN_LONG.set(RawMemory.ALL, address, value);
  }

  /**
   * An opaque load.
   *
   * @param address aligned to 8
   * @return the value
   */
  public static long getLongOpaque(long address) {
    check(address, Long.BYTES);
    return (long) RawMemory.LONG.getOpaque(RawMemory.ALL, address);
  }

  /**
   * An acquire load.
   *
   * @param address aligned to 8
   * @return the value
   */
  public static long getLongAcquire(long address) {
    check(address, Long.BYTES);
    return (long) RawMemory.LONG.getAcquire(RawMemory.ALL, address);
  }

  /**
   * A volatile load.
   *
   * @param address aligned to 8
   * @return the value
   */
  public static long getLongVolatile(long address) {
    check(address, Long.BYTES);
    return (long) RawMemory.LONG.getVolatile(RawMemory.ALL, address);
  }

  /**
   * An opaque store.
   *
   * @param address aligned to 8
   * @param value the value
   */
  public static void setLongOpaque(long address, long value) {
    check(address, Long.BYTES);
    RawMemory.LONG.setOpaque(RawMemory.ALL, address, value);
  }

  /**
   * A release store.
   *
   * @param address aligned to 8
   * @param value the value
   */
  public static void setLongRelease(long address, long value) {
    check(address, Long.BYTES);
    RawMemory.LONG.setRelease(RawMemory.ALL, address, value);
  }

  /**
   * A volatile store.
   *
   * @param address aligned to 8
   * @param value the value
   */
  public static void setLongVolatile(long address, long value) {
    check(address, Long.BYTES);
    RawMemory.LONG.setVolatile(RawMemory.ALL, address, value);
  }

  /**
   * Replaces the value if it is the expected one; volatile.
   *
   * @param address aligned to 8
   * @param expected the value to replace
   * @param value the new value
   * @return true if it was replaced
   */
  public static boolean compareAndSetLong(long address, long expected, long value) {
    check(address, Long.BYTES);
    return RawMemory.LONG.compareAndSet(RawMemory.ALL, address, expected, value);
  }

  /**
   * Adds; volatile.
   *
   * @param address aligned to 8
   * @param delta what to add; wraps around
   * @return the value before
   */
  public static long getAndAddLong(long address, long delta) {
    check(address, Long.BYTES);
    return (long) RawMemory.LONG.getAndAdd(RawMemory.ALL, address, delta);
  }

  /**
   * Replaces the value; volatile.
   *
   * @param address aligned to 8
   * @param value the new value
   * @return the value before
   */
  public static long getAndSetLong(long address, long value) {
    check(address, Long.BYTES);
    return (long) RawMemory.LONG.getAndSet(RawMemory.ALL, address, value);
  }

  private static void check(long address, long bytes) {
    if (RawMemory.DEBUG) {
      DebugMemory.check(address, bytes);
    }
  }

  private static void requireNative() {
    if (!Platform.nativeAccess()) {
      throw Platform.Start.NATIVE.unsupported("OffHeap");
    }
  }
}
