package io.quiesce.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The kernel's {@code CLOCK_MONOTONIC}, the clock that kernel traces are stamped with.
 *
 * <p>HotSpot's {@link System#nanoTime} reads that very clock, without promising it; the promise is
 * tested here once, and where it does not hold the C library is asked at each call. Safe from any
 * thread; about 30 ns. Where the kernel cannot be asked this is plain {@code nanoTime}.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
public final class MonotonicClock {
  private static final int CLOCK_MONOTONIC = 1;

  private MonotonicClock() {}

  private static final class Probe {
    static final boolean NANO_TIME_IS_IT = test();

    private static boolean test() {
      if (!Platform.kernelCalls().on()) {
        return true;
      }
      try {
        for (int i = 0; i < 8; i++) {
          long before = System.nanoTime();
          long kernel = ask();
          long after = System.nanoTime();
          if (kernel >= before && kernel <= after) {
            return true;
          }
        }
        return false;
      } catch (RuntimeException | LinkageError e) {
        return true;
      }
    }
  }

  private static final class Native {
    static final MethodHandle CLOCK_GETTIME =
        Linker.nativeLinker()
            .downcallHandle(
                Syscall.symbol("clock_gettime"),
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
  }

  /**
   * The clock now.
   *
   * @return nanoseconds since some moment before the start of the system
   */
  public static long nanos() {
    return Probe.NANO_TIME_IS_IT ? System.nanoTime() : ask();
  }

  /** The C library's answer. */
  static long ask() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment spec = arena.allocate(ValueLayout.JAVA_LONG, 2);
      int result = (int) Native.CLOCK_GETTIME.invokeExact(CLOCK_MONOTONIC, spec.address());
      if (result != 0) {
        throw new IllegalStateException("clock_gettime(CLOCK_MONOTONIC) failed");
      }
      return spec.getAtIndex(ValueLayout.JAVA_LONG, 0) * 1_000_000_000
          + spec.getAtIndex(ValueLayout.JAVA_LONG, 1);
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }
}
