package io.quiesce.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The C library's {@code syscall}, twice: a form that keeps the error number and one that does not.
 *
 * <p>Keeping errno needs a few bytes of native memory per call. Hot calls therefore use the plain
 * form and repeat a failed call through the other one to learn why. Never {@code critical}: a
 * barrier or a wait can last milliseconds, and a thread in a critical call holds up every
 * safepoint.
 *
 * <p>Nothing here may be touched before {@link Platform} said that native access is granted.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
final class Syscall {
  private static final boolean X64 = Platform.Start.X64;

  // Numbers from the kernel's tables: x86-64, and the generic table that arm64 uses.
  static final long MEMBARRIER = X64 ? 324 : 283;
  static final long FUTEX = X64 ? 202 : 98;
  static final long GETCPU = X64 ? 309 : 168;
  static final long SCHED_SETAFFINITY = X64 ? 203 : 122;
  static final long SCHED_GETAFFINITY = X64 ? 204 : 123;
  static final long MMAP = X64 ? 9 : 222;
  static final long MPROTECT = X64 ? 10 : 226;
  static final long MUNMAP = X64 ? 11 : 215;
  static final long MADVISE = X64 ? 28 : 233;
  static final long GETTID = X64 ? 186 : 178;

  private static final FunctionDescriptor SHAPE =
      FunctionDescriptor.of(
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG);

  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle PLAIN =
      Linker.nativeLinker()
          .downcallHandle(symbol("syscall"), SHAPE, Linker.Option.firstVariadicArg(1));
  private static final MethodHandle CAPTURING =
      Linker.nativeLinker()
          .downcallHandle(
              symbol("syscall"),
              SHAPE,
              Linker.Option.firstVariadicArg(1),
              Linker.Option.captureCallState("errno"));

  private Syscall() {}

  /** Address of a C library function, or an {@link UnsatisfiedLinkError} that names it. */
  static MemorySegment symbol(String name) {
    return Linker.nativeLinker()
        .defaultLookup()
        .find(name)
        .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
  }

  /** The raw call; -1 says that it failed, not why. */
  static long plain(long number, long a, long b, long c) {
    return plain(number, a, b, c, 0, 0, 0);
  }

  static long plain(long number, long a, long b, long c, long d, long e, long f) {
    try {
      return (long) PLAIN.invokeExact(number, a, b, c, d, e, f);
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  /** The call, with the kernel's own convention: the negated error number when it failed. */
  static long call(long number, long a, long b, long c, long d, long e, long f) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = (long) CAPTURING.invokeExact(state, number, a, b, c, d, e, f);
      return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  static long call(long number, long a, long b, long c) {
    return call(number, a, b, c, 0, 0, 0);
  }

  /** As {@link #call}, but a failure is thrown under {@code name}. */
  static long checked(String name, long number, long a, long b, long c) {
    long result = call(number, a, b, c);
    if (result < 0) {
      throw new LinuxException(name, (int) -result);
    }
    return result;
  }
}
