package io.quiesce.bench.subjects;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** CPU time of this process or thread. The JVM's own figure of a process has steps of 10 ms. */
final class CpuTime {
  private static final int CLOCK_PROCESS_CPUTIME_ID = 2;
  private static final int CLOCK_THREAD_CPUTIME_ID = 3;
  private static final MethodHandle CLOCK_GETTIME = clockGettime();

  private CpuTime() {}

  @SuppressWarnings("restricted") // Subjects run with native access.
  private static MethodHandle clockGettime() {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow("clock_gettime"),
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS),
        Linker.Option.critical(false));
  }

  /** Of all threads of this process. */
  static long nanos() {
    return read(CLOCK_PROCESS_CPUTIME_ID);
  }

  /** Of the calling platform thread. */
  static long ofThread() {
    return read(CLOCK_THREAD_CPUTIME_ID);
  }

  private static long read(int clock) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment time = arena.allocate(ValueLayout.JAVA_LONG, 2);
      int status = (int) CLOCK_GETTIME.invokeExact(clock, time);
      if (status != 0) {
        throw new IllegalStateException("the CPU time cannot be read");
      }
      return time.getAtIndex(ValueLayout.JAVA_LONG, 0) * 1_000_000_000L
          + time.getAtIndex(ValueLayout.JAVA_LONG, 1);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException(t);
    }
  }
}
