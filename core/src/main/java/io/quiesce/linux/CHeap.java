package io.quiesce.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The C library's heap, with alignment, and a record of what is allocated.
 *
 * <p>Not through an {@link java.lang.foreign.Arena}: closing a shared one takes tens of
 * microseconds and slows other threads, and a confined one binds the block to a thread. {@code
 * calloc} leaves the pages of a large block untouched until they are used. Not critical calls: they
 * may take a lock or map memory.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
final class CHeap {
  /** What {@code calloc} guarantees on every 64-bit C library. */
  private static final long NATURAL_ALIGNMENT = 16;

  private static final MethodHandle CALLOC =
      Linker.nativeLinker()
          .downcallHandle(
              Syscall.symbol("calloc"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
  private static final MethodHandle FREE =
      Linker.nativeLinker()
          .downcallHandle(Syscall.symbol("free"), FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

  /** A live block: what the C library gave, and what the user sees. */
  record Block(long raw, long bytes) {}

  private static final ConcurrentHashMap<Long, Block> BLOCKS = new ConcurrentHashMap<>();

  private CHeap() {}

  static long allocate(long bytes, long alignment) {
    long extra = alignment > NATURAL_ALIGNMENT ? alignment : 0;
    if (bytes > Long.MAX_VALUE - extra) {
      throw outOfMemory(bytes);
    }
    long raw = calloc(Math.max(1, bytes) + extra);
    long address = extra == 0 ? raw : (raw + alignment - 1) & -alignment;
    BLOCKS.put(address, new Block(raw, bytes));
    if (RawMemory.DEBUG) {
      DebugMemory.add(address, bytes);
    }
    return address;
  }

  static void free(long address) {
    // Removing first makes one of two concurrent frees lose, and the loser throws.
    Block block = BLOCKS.remove(address);
    if (block == null) {
      throw new IllegalArgumentException(
          "address 0x"
              + Long.toHexString(address)
              + " is no live block of OffHeap; it was freed before, or allocated elsewhere");
    }
    if (RawMemory.DEBUG) {
      DebugMemory.remove(address);
      RawMemory.ALL.asSlice(address, block.bytes()).fill(DebugMemory.POISON);
    }
    try {
      FREE.invokeExact(block.raw());
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  private static long calloc(long bytes) {
    long raw;
    try {
      raw = (long) CALLOC.invokeExact(1L, bytes);
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
    if (raw == 0) {
      throw outOfMemory(bytes);
    }
    return raw;
  }

  private static OutOfMemoryError outOfMemory(long bytes) {
    return new OutOfMemoryError("the C library has no " + bytes + " bytes of off-heap memory");
  }
}
