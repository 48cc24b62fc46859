package io.quiesce.linux;

import java.nio.file.Path;

/**
 * Address space and pages straight from the kernel.
 *
 * <pre>
 *   long a = VirtualMemory.reserve(1L &lt;&lt; 40, 1 &lt;&lt; 21);   address space only, no access
 *   VirtualMemory.commit(a, 1 &lt;&lt; 21);               readable and writable, zeroed, no memory yet
 *   VirtualMemory.discard(a, 1 &lt;&lt; 16);              the pages go back; they read as zeros again
 *   VirtualMemory.unmap(a, 1L &lt;&lt; 40);
 * </pre>
 *
 * <p>For the library's own packages: a wrong address damages the process. Addresses and lengths are
 * multiples of {@link #PAGE_BYTES}. Safe from any thread; some microseconds a call. In the debug
 * mode of {@link OffHeap}, committed memory is registered there. Source: mmap(2), madvise(2).
 */
public final class VirtualMemory {
  /** Granularity of all calls here; the kernel's own page may be larger on arm64. */
  public static final int PAGE_BYTES = 4096;

  private static final int PROT_NONE = 0;
  private static final int PROT_READ_WRITE = 1 | 2;
  private static final int PRIVATE_ANONYMOUS = 0x02 | 0x20;
  private static final int FIXED = 0x10;
  private static final int NO_RESERVE = 0x4000;
  private static final int DONT_NEED = 4;
  private static final int HIGHEST_ERRNO = 4095;

  private VirtualMemory() {}

  /**
   * Whether this works here: native access on a Linux whose system call numbers are known.
   *
   * @return true when the other methods may be called
   */
  public static boolean isAvailable() {
    Platform.verify();
    return Platform.kernelCalls().on();
  }

  /**
   * The exception for where it does not work.
   *
   * @param what the user asked for
   * @return one sentence with the cure; not thrown
   */
  public static UnsupportedOperationException unsupported(String what) {
    return Platform.kernelCalls().unsupported(what);
  }

  /**
   * Reserves address space without access.
   *
   * @param bytes how much
   * @param alignment a power of two
   * @return its address
   * @throws LinuxException if the kernel refuses
   */
  public static long reserve(long bytes, long alignment) {
    return map(bytes, alignment, PROT_NONE, "mmap(PROT_NONE)");
  }

  /**
   * Maps zeroed memory; pages take up memory as they are touched.
   *
   * @param bytes how much
   * @param alignment a power of two
   * @return its address
   * @throws LinuxException if the kernel refuses
   */
  public static long allocate(long bytes, long alignment) {
    long address = map(bytes, alignment, PROT_READ_WRITE, "mmap(PROT_READ|PROT_WRITE)");
    OffHeap.register(address, bytes);
    return address;
  }

  private static long map(long bytes, long alignment, int protection, String name) {
    long extra = alignment > PAGE_BYTES ? alignment : 0;
    long all = Math.addExact(bytes, extra);
    long got =
        Syscall.call(Syscall.MMAP, 0, all, protection, PRIVATE_ANONYMOUS | NO_RESERVE, -1, 0);
    if (failed(got)) {
      throw new LinuxException(name, (int) -got);
    }
    if (extra == 0) {
      return got;
    }
    long address = (got + alignment - 1) & -alignment;
    long before = address - got;
    if (before > 0) {
      Syscall.plain(Syscall.MUNMAP, got, before, 0);
    }
    if (extra - before > 0) {
      Syscall.plain(Syscall.MUNMAP, address + bytes, extra - before, 0);
    }
    return address;
  }

  private static boolean failed(long result) {
    return result < 0 && result >= -HIGHEST_ERRNO;
  }

  /**
   * Makes reserved memory readable and writable.
   *
   * @param address where
   * @param bytes how much
   * @throws LinuxException if the kernel refuses
   */
  public static void commit(long address, long bytes) {
    Syscall.checked("mprotect", Syscall.MPROTECT, address, bytes, PROT_READ_WRITE);
    OffHeap.register(address, bytes);
  }

  /**
   * Gives the pages back to the kernel; the memory stays mapped and reads as zeros.
   *
   * @param address where
   * @param bytes how much
   * @return false if the kernel refused (locked memory); the memory is then unchanged
   */
  public static boolean discard(long address, long bytes) {
    return Syscall.plain(Syscall.MADVISE, address, bytes, DONT_NEED) == 0;
  }

  /**
   * Takes committed memory back to what {@link #reserve} gives: no pages, no access.
   *
   * @param address where
   * @param bytes how much
   */
  public static void withdraw(long address, long bytes) {
    Syscall.call(
        Syscall.MMAP, address, bytes, PROT_NONE, PRIVATE_ANONYMOUS | NO_RESERVE | FIXED, -1, 0);
  }

  /**
   * Unmaps memory of {@link #reserve} or {@link #allocate}.
   *
   * @param address what they returned
   * @param bytes as given to them
   */
  public static void unmap(long address, long bytes) {
    OffHeap.unregister(address);
    Syscall.plain(Syscall.MUNMAP, address, bytes, 0);
  }

  /**
   * The machine's memory.
   *
   * @return in bytes; 0 when not known
   */
  public static long physicalBytes() {
    String text = CpuTopology.read(Path.of("/proc/meminfo"));
    if (text != null && text.startsWith("MemTotal:")) {
      String[] words = text.substring(0, text.indexOf('\n')).split("\\s+", -1);
      return Long.parseLong(words[1]) * 1024;
    }
    return 0;
  }
}
