package io.quiesce.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * One segment over all memory, and the handles that access it: the only place for this idiom.
 *
 * <p>Segment and handles are constants and the segment's scope is always alive, so the compiler
 * reduces an access to one instruction (and, for the atomic forms, a test of the alignment). Where
 * native access is refused the segment is empty, and every access throws.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
final class RawMemory {
  /** Whether {@link DebugMemory} checks every access; constant, so "no" costs nothing. */
  static final boolean DEBUG = Boolean.getBoolean("quiesce.debug");

  static final MemorySegment ALL = Platform.Start.NATIVE.on() ? everything() : MemorySegment.NULL;

  static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  /** Plain accesses need no alignment on the CPUs we know, so they are spared the test. */
  static final VarHandle PLAIN_INT = ValueLayout.JAVA_INT_UNALIGNED.varHandle();

  static final VarHandle PLAIN_LONG = ValueLayout.JAVA_LONG_UNALIGNED.varHandle();

  private RawMemory() {}

  private static MemorySegment everything() {
    return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }
}
