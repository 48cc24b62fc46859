package io.quiesce.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The library's machine code: a handful of short sequences in one read+execute page, each a
 * commented table of bytes that docs/security.md repeats.
 *
 * <p>The page is made when this class is first used, and not at all under {@code
 * -Dquiesce.rseq=off}. Safe from any thread. Source: x86-64 instruction set, the kernel's {@code
 * linux/rseq.h}.
 */
public final class NativeCode {
  /** What the area of a thread looks like here; off when sequences cannot be restartable. */
  static final RseqAbi ABI;

  /** Whether there is a page of machine code. */
  static final Facility PAGE_FACILITY;

  /** Whether restartable sequences were tried and work. */
  static final Facility RSEQ;

  private static final @Nullable CodePage PAGE;

  static {
    Facility wanted = wanted();
    RseqAbi abi = wanted.on() ? RseqAbi.probe() : new RseqAbi(wanted, 0, 0);
    CodePage page = null;
    Facility facility = wanted;
    if (wanted.on()) {
      try {
        page = CodePage.map(usable(abi), abi.offset(), abi.indexField());
        facility = Facility.on("one read+execute page at 0x" + Long.toHexString(page.address()));
      } catch (RuntimeException | LinkageError e) {
        facility = Facility.off("no machine code: " + e.getMessage());
      }
    }
    PAGE = page;
    PAGE_FACILITY = facility;
    RSEQ = page == null ? facility : abi.facility().on() ? tried(page, abi) : abi.facility();
    ABI = RSEQ.on() ? abi : new RseqAbi(RSEQ, 0, 0);
  }

  private NativeCode() {}

  private static Facility wanted() {
    Facility calls = Platform.kernelCalls();
    if (!calls.on()) {
      return calls;
    }
    if (!Platform.Start.X64) {
      return Facility.off("machine code exists for x86-64 only; the portable fallbacks are used");
    }
    return Settings.off("quiesce.rseq")
        ? Facility.off("switched off by -Dquiesce.rseq=off; remove the property or set auto")
        : calls;
  }

  private static List<CodeTable> usable(RseqAbi abi) {
    return Sequences.ALL.stream().filter(t -> abi.facility().on() || !t.needsRseq()).toList();
  }

  /** One add into a table of this thread's own, so that a wrong offset is found now, not later. */
  private static Facility tried(CodePage page, RseqAbi abi) {
    int rows = CpuTopology.tableSize();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = arena.allocate(ValueLayout.JAVA_LONG, rows);
      MethodHandle add =
          page.downcall(
              WordSequences.ADD.name(),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_INT));
      int result = (int) add.invokeExact(table.address(), (long) Long.BYTES, 1L, rows);
      long sum = 0;
      for (int i = 0; i < rows; i++) {
        sum += table.getAtIndex(ValueLayout.JAVA_LONG, i);
      }
      // A thread that is not registered (-1) may be the first to ask; the others still are.
      return sum == (result == 0 ? 1 : 0)
          ? abi.facility()
          : Facility.off("a trial of the per-CPU add failed; report this with your kernel version");
    } catch (Throwable t) {
      return Facility.off("a trial of the per-CPU add failed (" + t + ")");
    }
  }

  /**
   * Whether there is machine code. It can be there without restartable sequences (for the time
   * stamp counter).
   *
   * @return true when the page is mapped
   */
  public static boolean isAvailable() {
    Platform.verify();
    return PAGE_FACILITY.on();
  }

  /**
   * The sequences in the page, for inspection.
   *
   * @return in the order in which they lie there; empty where there is no machine code
   */
  public static List<CodeSequence> sequences() {
    return PAGE == null ? List.of() : PAGE.sequences();
  }

  /**
   * A handle that calls a sequence, for the library's own packages: wrong arguments overwrite
   * memory. It is a critical downcall: it must not block, and takes no heap memory.
   *
   * @param name of the sequence
   * @param shape its C signature
   * @return keep it in a {@code static final} field and call {@code invokeExact}
   * @throws IllegalArgumentException if there is no such sequence here
   * @throws UnsupportedOperationException where there is no machine code
   */
  public static MethodHandle downcall(String name, FunctionDescriptor shape) {
    Platform.verify();
    if (PAGE == null) {
      throw PAGE_FACILITY.unsupported("The sequence '" + name + "'");
    }
    return PAGE.downcall(name, shape);
  }
}
