package io.quiesce.percpu;

import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.NativeCode;
import io.quiesce.linux.Platform;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Operations on the row of the CPU that the caller runs on, each one restartable sequence.
 *
 * <p>A table has {@link CpuTopology#tableSize()} rows, {@code stride} bytes apart; more is fine,
 * less is not checked. Its words may be read by anyone, and stored only by these operations, never
 * by a plain or atomic store from elsewhere, which would lose updates. Safe from any thread,
 * virtual ones included; some 4 ns. Order: relaxed, as an opaque access; an operation orders
 * nothing else. Source: the sequences of {@link NativeCode}, listed in docs/security.md.
 */
public final class PerCpuOps {
  private PerCpuOps() {}

  /** Touched only where sequences work. */
  private static final class Stubs {
    static final int ROWS = CpuTopology.tableSize();
    static final MethodHandle ADD =
        NativeCode.downcall(
            "add",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT));
  }

  /**
   * Whether the operations work here; where not, they all return false.
   *
   * @return the same as {@link Platform#rseq()}
   */
  public static boolean isAvailable() {
    return Platform.rseq();
  }

  /**
   * Adds to the current CPU's word, at {@code base + cpu * strideBytes}; wraps around.
   *
   * @param base address of CPU 0's word, aligned to 8
   * @param strideBytes distance between the words of neighbours
   * @param delta what to add
   * @return true when done; false when nothing was changed, because the thread is not registered,
   *     its CPU is outside the table, or sequences do not work here: use an atomic row then
   */
  public static boolean add(long base, long strideBytes, long delta) {
    if (!Platform.rseq()) {
      return false;
    }
    try {
      return (int) Stubs.ADD.invokeExact(base, strideBytes, delta, Stubs.ROWS) == 0;
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  /** The sequence throws nothing itself; only the JVM's own errors come this way. */
  private static RuntimeException failed(Throwable t) {
    if (t instanceof Error error) {
      throw error;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
}
