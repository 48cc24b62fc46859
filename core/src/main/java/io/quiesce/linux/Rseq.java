package io.quiesce.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/**
 * Where the current thread runs, read from the rseq area that the kernel keeps up to date.
 *
 * <p>Every answer is a hint: the thread may have moved before the caller sees it, and a virtual
 * thread may be on another carrier. What must be right about a CPU is done by one restartable
 * sequence. All methods are safe from any thread, take some 4 ns where sequences work and some 30
 * ns where the C library is asked, and never fail; -1 means "not known". Source: the kernel's
 * {@code linux/rseq.h}, glibc's {@code __rseq_offset} and {@code __rseq_size}, the auxiliary
 * vector.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
public final class Rseq {
  private static final int NODE_END = 24;

  private Rseq() {}

  /** Handles of the sequences; touched only where they exist. */
  private static final class Stubs {
    private static final FunctionDescriptor INT = FunctionDescriptor.of(ValueLayout.JAVA_INT);
    static final MethodHandle CPU = NativeCode.downcall(Sequences.CPU.name(), INT);
    static final MethodHandle NODE = NativeCode.downcall(Sequences.NODE.name(), INT);
    static final MethodHandle CONCURRENCY_ID =
        NativeCode.downcall(Sequences.CONCURRENCY_ID.name(), INT);
    static final MethodHandle INDEX = NativeCode.downcall(Sequences.INDEX.name(), INT);
  }

  /** What chooses the row, found out once. */
  private static final class Rows {
    static final boolean BY_CONCURRENCY_ID =
        Platform.rseq() && NativeCode.ABI.indexField() == RseqAbi.CONCURRENCY_ID;
    static final int COUNT =
        BY_CONCURRENCY_ID ? CpuTopology.possible().size() : CpuTopology.tableSize();
  }

  /** The C library's answer, for where sequences do not work. */
  private static final class Fallback {
    static final boolean ON;
    static final MethodHandle SCHED_GETCPU;

    static {
      boolean on = false;
      // A handle that is never called keeps the field non-null where there is no such function.
      MethodHandle handle = MethodHandles.constant(int.class, -1);
      if (Platform.kernelCalls().on()) {
        try {
          // Critical: it reads a page that the kernel shares, without a system call.
          handle =
              Linker.nativeLinker()
                  .downcallHandle(
                      Syscall.symbol("sched_getcpu"),
                      FunctionDescriptor.of(ValueLayout.JAVA_INT),
                      Linker.Option.critical(false));
          on = true;
        } catch (RuntimeException | LinkageError e) {
          Settings.LOG.log(System.Logger.Level.DEBUG, "no sched_getcpu in the C library", e);
        }
      }
      ON = on;
      SCHED_GETCPU = handle;
    }
  }

  /**
   * Whether restartable sequences work here.
   *
   * @return the same as {@link Platform#rseq()}
   */
  public static boolean isAvailable() {
    return Platform.rseq();
  }

  /**
   * The CPU that the current thread runs on.
   *
   * @return a CPU number; -1 in a thread that is not registered, or where nothing can tell
   */
  public static int cpu() {
    try {
      if (Platform.rseq()) {
        return Math.max(-1, (int) Stubs.CPU.invokeExact());
      }
      return Fallback.ON ? Math.max(-1, (int) Fallback.SCHED_GETCPU.invokeExact()) : -1;
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  /**
   * The memory node of the CPU that the current thread runs on.
   *
   * @return a node number, from the area or else from {@link CpuTopology}; -1 if not known
   */
  public static int node() {
    if (!hasNode()) {
      return CpuTopology.nodeOf(cpu());
    }
    try {
      return Math.max(-1, (int) Stubs.NODE.invokeExact());
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  /**
   * The number of the current thread among the running threads of this process: below the smaller
   * of the number of threads and of CPUs, and no two threads that run at the same time share it.
   *
   * @return a small number; -1 where {@link #hasConcurrencyId()} is false or in a thread that is
   *     not registered
   */
  public static int concurrencyId() {
    if (!hasConcurrencyId()) {
      return -1;
    }
    try {
      return Math.max(-1, (int) Stubs.CONCURRENCY_ID.invokeExact());
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  /**
   * The row of per-CPU data that the current thread may use now: its concurrency id where the
   * kernel keeps one, so that memory follows the number of threads that run at once, and otherwise
   * its CPU number. {@code -Dquiesce.percpu.index=cpu} takes the CPU number in any case.
   *
   * @return below {@link #rows()}; -1 where sequences do not work or in a thread that is not
   *     registered
   */
  public static int row() {
    if (!Platform.rseq()) {
      return -1;
    }
    try {
      return Math.max(-1, (int) Stubs.INDEX.invokeExact());
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  /**
   * How many rows per-CPU data needs.
   *
   * @return the number of possible CPUs where rows are chosen by concurrency id, {@link
   *     CpuTopology#tableSize()} otherwise
   */
  public static int rows() {
    return Rows.COUNT;
  }

  /**
   * Whether {@link #row()} is the concurrency id. A row then belongs to no CPU in particular, so
   * that only a fence of all CPUs fences it ({@link #fenceRow}).
   *
   * @return false where it is the CPU number
   */
  public static boolean isRowByConcurrencyId() {
    return Rows.BY_CONCURRENCY_ID;
  }

  /**
   * Restarts every unfinished sequence on a row, and is a full barrier for its CPU: when this
   * returns, each sequence that runs there has begun after the call. Fences one CPU where rows are
   * CPU numbers, all of this process's otherwise.
   *
   * @param row from 0
   * @throws UnsupportedOperationException where {@link Membarrier#isRseqAvailable()} is false
   */
  public static void fenceRow(int row) {
    if (isRowByConcurrencyId()) {
      Membarrier.fenceRseq();
    } else {
      Membarrier.fenceCpu(row);
    }
  }

  /**
   * As {@link #fenceRow} for every row.
   *
   * @throws UnsupportedOperationException where {@link Membarrier#isRseqAvailable()} is false
   */
  public static void fenceRows() {
    Membarrier.fenceRseq();
  }

  /**
   * Whether the kernel keeps the node number in the area (6.3 or later).
   *
   * @return true when {@link #node()} is one load
   */
  public static boolean hasNode() {
    return Platform.rseq() && NativeCode.ABI.featureSize() >= NODE_END;
  }

  /**
   * Whether the kernel keeps the concurrency id in the area (6.3 or later).
   *
   * @return true when {@link #concurrencyId()} works
   */
  public static boolean hasConcurrencyId() {
    return Platform.rseq() && NativeCode.ABI.hasConcurrencyId();
  }

  /**
   * How many bytes of the area the kernel keeps up to date.
   *
   * @return 20 or more; 0 where sequences do not work
   */
  public static int featureSize() {
    Platform.verify();
    return NativeCode.ABI.featureSize();
  }

  /**
   * Where the area of each thread lies.
   *
   * @return bytes from the thread pointer, possibly negative; 0 where sequences do not work
   */
  public static long offset() {
    Platform.verify();
    return NativeCode.ABI.offset();
  }
}
