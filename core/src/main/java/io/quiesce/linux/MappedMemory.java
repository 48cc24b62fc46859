package io.quiesce.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Unmaps memory that the JDK mapped and will never unmap itself: what {@link
 * java.nio.channels.FileChannel#map(java.nio.channels.FileChannel.MapMode, long, long, Arena)}
 * returns for {@link Arena#global()}.
 *
 * <p>Nothing is checked: an address that is anything else, or that somebody still uses, crashes the
 * JVM. Safe from any thread. Source: the C library's {@code munmap} and {@code getpagesize}, so it
 * works under {@code -Dquiesce.linux=off} as well, and wherever POSIX is. Needs native access.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
public final class MappedMemory {
  /** Made at first use, when native access is known to be granted. */
  private static final class Calls {
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
        STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    /** Not critical: unmapping a large file takes milliseconds. */
    static final MethodHandle MUNMAP =
        Linker.nativeLinker()
            .downcallHandle(
                Syscall.symbol("munmap"),
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                Linker.Option.captureCallState("errno"));

    static final int PAGE_BYTES = pageBytes();

    private static int pageBytes() {
      try {
        return (int)
            Linker.nativeLinker()
                .downcallHandle(
                    Syscall.symbol("getpagesize"), FunctionDescriptor.of(ValueLayout.JAVA_INT))
                .invokeExact();
      } catch (Throwable t) {
        throw Thrown.unchecked(t);
      }
    }
  }

  /** The name of a function that this system's C library lacks, or empty. Looked up once. */
  private static final class Lookup {
    static final String MISSING = missing();

    private static String missing() {
      for (String name : new String[] {"munmap", "getpagesize"}) {
        if (Linker.nativeLinker().defaultLookup().find(name).isEmpty()) {
          return name;
        }
      }
      return "";
    }
  }

  private MappedMemory() {}

  /**
   * Throws unless {@link #unmap} can work; ask before mapping what must be unmapped.
   *
   * @throws UnsupportedOperationException without native access, naming the flag; on a system whose
   *     C library has no {@code munmap}
   */
  public static void verify() {
    if (!Platform.nativeAccess()) {
      throw Platform.Start.NATIVE.unsupported("unmapping files");
    }
    if (!Lookup.MISSING.isEmpty()) {
      throw new UnsupportedOperationException(
          "unmapping files is not available: the C library has no " + Lookup.MISSING);
    }
  }

  /**
   * Unmaps every page that the range touches. Interrupts each CPU that runs a thread of this
   * process, for a microsecond or so; takes longer the more of the range is in memory.
   *
   * @param address where the memory begins; need not begin a page
   * @param bytes its length, more than 0
   * @throws LinuxException if the kernel refuses, as for a process at its limit of mappings when
   *     this one has grown together with its neighbours
   */
  public static void unmap(long address, long bytes) {
    verify();
    if (bytes <= 0) {
      throw new IllegalArgumentException("cannot unmap " + bytes + " bytes; pass a size above 0");
    }
    long within = address & (Calls.PAGE_BYTES - 1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(Calls.STATE);
      if ((int) Calls.MUNMAP.invokeExact(state, address - within, bytes + within) != 0) {
        throw new LinuxException("munmap", (int) Calls.ERRNO.get(state, 0L));
      }
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }
}
