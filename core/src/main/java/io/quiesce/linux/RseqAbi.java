package io.quiesce.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;

/**
 * What the C library and the kernel say about the rseq area of each thread.
 *
 * @param facility whether the C library registers threads
 * @param offset bytes from the thread pointer to the area; can be negative
 * @param featureSize bytes of the area that the kernel fills; 0 where there is none
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
record RseqAbi(Facility facility, long offset, int featureSize) {
  /** Fields up to the flags: what the first version of the ABI had. */
  static final int ORIGINAL_FEATURE_SIZE = 20;

  /** Bytes that glibc has always registered, whatever it announces. */
  static final int ORIGINAL_AREA = 32;

  /** The bytes of the area that say which CPU, and which concurrency id, the thread has. */
  static final int CPU_ID = 4;

  static final int CONCURRENCY_ID = 24;

  private static final long AT_RSEQ_FEATURE_SIZE = 27;

  static RseqAbi probe() {
    try {
      Optional<MemorySegment> offset = find("__rseq_offset");
      Optional<MemorySegment> size = find("__rseq_size");
      if (offset.isEmpty() || size.isEmpty()) {
        return none("the C library does not register threads; glibc 2.35 or later does");
      }
      int announced = size.get().reinterpret(Integer.BYTES).get(ValueLayout.JAVA_INT, 0);
      if (announced == 0) {
        return none(
            "the C library registered no thread; remove glibc.pthread.rseq=0 from GLIBC_TUNABLES,"
                + " use kernel 4.18 or later, and allow the rseq call in the seccomp profile");
      }
      int active = activeSize(announced, auxiliary(AT_RSEQ_FEATURE_SIZE));
      return new RseqAbi(
          Facility.on("the C library registers every thread; " + active + " bytes are live"),
          offset.get().reinterpret(Long.BYTES).get(ValueLayout.JAVA_LONG, 0),
          active);
    } catch (RuntimeException | LinkageError e) {
      return none("the C library could not be asked (" + e + ")");
    }
  }

  private static RseqAbi none(String reason) {
    return new RseqAbi(Facility.off(reason), 0, 0);
  }

  /**
   * The live bytes. glibc has said 32, then 20, for the same area of 32 bytes, so both mean "32 or
   * what the kernel has, whichever is less"; anything above says what it means.
   */
  static int activeSize(int announced, long kernel) {
    int has = Math.clamp(kernel, ORIGINAL_FEATURE_SIZE, 1 << 16);
    int area = announced <= ORIGINAL_AREA ? ORIGINAL_AREA : announced;
    return announced <= 0 ? 0 : Math.min(area, has);
  }

  boolean hasConcurrencyId() {
    return featureSize >= CONCURRENCY_ID + Integer.BYTES;
  }

  /**
   * The field that chooses the row of per-CPU data. The concurrency id is dense, so that memory
   * follows the number of threads that run at once and not the numbers of the CPUs they run on.
   */
  int indexField() {
    String wanted =
        Settings.choice("quiesce.percpu.index", "auto", List.of("auto", "cpu", "concurrency-id"));
    return hasConcurrencyId() && !wanted.equals("cpu") ? CONCURRENCY_ID : CPU_ID;
  }

  private static Optional<MemorySegment> find(String name) {
    return Linker.nativeLinker().defaultLookup().find(name);
  }

  private static long auxiliary(long type) {
    MethodHandle getauxval =
        Linker.nativeLinker()
            .downcallHandle(
                Syscall.symbol("getauxval"),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    try {
      return (long) getauxval.invokeExact(type);
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }
}
