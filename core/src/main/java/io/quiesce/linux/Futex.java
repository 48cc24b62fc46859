package io.quiesce.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The kernel's wait queue behind any 32-bit word of off-heap memory.
 *
 * <p>Safe from any thread. The comparison in {@link #await} and the queueing are one atomic step
 * against {@link #wake}: a waker that stores the word and then wakes cannot be missed. Memory order
 * is the caller's affair: store and read the word with {@link OffHeap}'s volatile methods. A
 * virtual thread that waits holds its carrier, and {@link Thread#interrupt} does not end a wait:
 * bound it by a time-out. Only this process can use the word (private futex).
 *
 * <p>Errors: {@link UnsupportedOperationException} where it is off, {@link LinuxException} with
 * EINVAL or EFAULT for a word that is not 4-byte aligned or not mapped. Source: the futex(2) manual
 * page.
 */
public final class Futex {
  private static final int WAIT_PRIVATE = 0 | 128;
  private static final int WAKE_PRIVATE = 1 | 128;

  private Futex() {}

  /** Whether the call works, tried once. */
  static final class Probe {
    static final Facility FACILITY = probe();

    private static Facility probe() {
      Facility calls = Platform.kernelCalls();
      if (!calls.on()) {
        return calls;
      }
      try (Arena arena = Arena.ofConfined()) {
        long word = arena.allocate(ValueLayout.JAVA_INT).address();
        long result = Syscall.call(Syscall.FUTEX, word, WAKE_PRIVATE, 1);
        return result >= 0
            ? Facility.on("tried: futex(WAKE_PRIVATE)")
            : Facility.off(Errno.describe("futex(WAKE)", (int) -result));
      } catch (LinkageError e) {
        return Facility.off("the C library has no syscall function (" + e.getMessage() + ")");
      }
    }

    private Probe() {}
  }

  /**
   * Whether futexes work here.
   *
   * @return the same as {@link Platform#futex()}
   */
  public static boolean isAvailable() {
    return Platform.futex();
  }

  /**
   * Sleeps while the word holds the expected value, until woken or timed out. It may return early
   * for no reason (a signal, another user of the word): check the word again.
   *
   * @param address of a 4-byte aligned word
   * @param expected the value to sleep on; if the word holds another, returns at once
   * @param timeoutNanos longest sleep in nanoseconds; negative means for ever
   * @return false only if the time-out passed
   */
  public static boolean await(long address, int expected, long timeoutNanos) {
    if (!Platform.futex()) {
      throw Probe.FACILITY.unsupported("Futex");
    }
    long result;
    if (timeoutNanos < 0) {
      result = Syscall.call(Syscall.FUTEX, address, WAIT_PRIVATE, expected, 0, 0, 0);
    } else {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment spec = arena.allocate(ValueLayout.JAVA_LONG, 2);
        spec.set(ValueLayout.JAVA_LONG, 0, timeoutNanos / 1_000_000_000);
        spec.set(ValueLayout.JAVA_LONG, Long.BYTES, timeoutNanos % 1_000_000_000);
        result = Syscall.call(Syscall.FUTEX, address, WAIT_PRIVATE, expected, spec.address(), 0, 0);
      }
    }
    return switch ((int) result) {
      case -Errno.ETIMEDOUT -> false;
      case 0, -Errno.EAGAIN, -Errno.EINTR -> true;
      default -> throw new LinuxException("futex(WAIT)", (int) -result);
    };
  }

  /**
   * Wakes threads that sleep on a word.
   *
   * @param address of a 4-byte aligned word
   * @param count how many at most; {@link Integer#MAX_VALUE} for all
   * @return how many were woken
   */
  public static int wake(long address, int count) {
    if (!Platform.futex()) {
      throw Probe.FACILITY.unsupported("Futex");
    }
    long result = Syscall.plain(Syscall.FUTEX, address, WAKE_PRIVATE, count);
    return (int)
        (result >= 0
            ? result
            : Syscall.checked("futex(WAKE)", Syscall.FUTEX, address, WAKE_PRIVATE, count));
  }
}
