package io.quiesce.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * On which CPUs the current thread may run: {@code sched_getaffinity} and {@code
 * sched_setaffinity}.
 *
 * <p>Everything concerns the calling thread only, so nothing needs synchronisation. A virtual
 * thread has no CPUs of its own: it may ask (and hears about its carrier) but not set. Errors:
 * {@link UnsupportedOperationException} where there is no such call, {@link LinuxException} when
 * the kernel refuses. Source: the sched_setaffinity(2) manual page.
 */
public final class CpuAffinity {
  /** Room for 8,192 CPUs; the kernel insists on at least its own number of CPUs. */
  private static final int MASK_BYTES = 1024;

  private CpuAffinity() {}

  /**
   * Whether affinity can be read and set here.
   *
   * @return true on Linux with native access
   */
  public static boolean isAvailable() {
    Platform.verify();
    return Platform.kernelCalls().on();
  }

  /**
   * The CPUs that the current thread may run on.
   *
   * @return never empty
   */
  public static CpuSet get() {
    require();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      long bytes =
          Syscall.checked(
              "sched_getaffinity", Syscall.SCHED_GETAFFINITY, 0, MASK_BYTES, mask.address());
      return CpuSet.ofMask(mask.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  /**
   * Restricts the current thread to some CPUs. When it returns the thread runs on one of them.
   *
   * @param cpus the CPUs; those that are not there are ignored by the kernel
   * @throws IllegalArgumentException for an empty set or a number above 8,191
   * @throws IllegalStateException in a virtual thread
   * @throws LinuxException with EINVAL if none of them is online and allowed
   */
  public static void set(CpuSet cpus) {
    require();
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException(
          "a virtual thread cannot be bound to CPUs; do it in a platform thread");
    }
    byte[] bits = cpus.toMask();
    if (bits.length == 0 || bits.length > MASK_BYTES) {
      throw new IllegalArgumentException(
          "cannot bind a thread to the CPUs '" + cpus + "'; pass at least one, below 8192");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      MemorySegment.copy(bits, 0, mask, ValueLayout.JAVA_BYTE, 0, bits.length);
      Syscall.checked(
          "sched_setaffinity(" + cpus + ")",
          Syscall.SCHED_SETAFFINITY,
          0,
          MASK_BYTES,
          mask.address());
    }
  }

  /**
   * Binds the current thread to one CPU.
   *
   * @param cpu CPU number
   * @throws LinuxException with EINVAL if it is not online and allowed
   */
  public static void pinTo(int cpu) {
    set(CpuSet.of(cpu));
  }

  private static void require() {
    if (!isAvailable()) {
      throw Platform.kernelCalls().unsupported("CpuAffinity");
    }
  }
}
