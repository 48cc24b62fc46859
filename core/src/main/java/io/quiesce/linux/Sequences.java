package io.quiesce.linux;

import java.util.List;
import java.util.stream.Stream;

/**
 * The machine code of this library: every sequence, for x86-64 and the System V calling convention
 * (arguments in rdi, rsi, rdx, rcx, r8, r9; all registers used here are the callee's to change).
 *
 * <p>Rules that every restartable one follows. The CPU number is looked at first: it is negative in
 * a thread that is not registered. The row is read inside ({@code INDEX} is the CPU number or the
 * concurrency id, the same for all sequences of a process, see {@link Rseq#row()}) and compared
 * with the number of rows, unsigned. Only the last store takes effect for others, and it is one
 * instruction, the last before {@code commit}. An abort starts the whole over inside the machine
 * code, so the registers with the arguments are never written. The pointer to the descriptor is not
 * cleared at the end: the kernel drops it lazily, and the page stays mapped for ever.
 *
 * <p>{@link WordSequences} has those on single words, {@link ArraySequences} those on whole arrays
 * and lists, {@link TraceSequences} those of the tracer's ring buffers. To add one: write its
 * table, add it to {@link #ALL}, and copy the table into docs/security.md; the tests disassemble
 * whatever is listed.
 */
final class Sequences {
  static final CodeTable CPU =
      new CodeTable(
          "cpu",
          "int cpu(void): the CPU this thread runs on; negative in a thread that is not registered.",
          """
          64 8b 04 25 fs+4    | mov    %fs:CPU_ID,%eax
          c3                  | ret
          """);

  static final CodeTable NODE =
      new CodeTable(
          "node",
          "int node(void): the memory node of that CPU; negative in a thread that is not registered.",
          """
          64 8b 04 25 fs+4    | mov    %fs:CPU_ID,%eax
          85 c0               | test   %eax,%eax
          78 >out             | js     out
          64 8b 04 25 fs+14   | mov    %fs:NODE_ID,%eax
          out:
          c3                  | ret
          """);

  static final CodeTable CONCURRENCY_ID =
      new CodeTable(
          "concurrency-id",
          "int concurrency_id(void): the thread's slot among the running threads of the process;"
              + " negative in a thread that is not registered.",
          """
          64 8b 04 25 fs+4    | mov    %fs:CPU_ID,%eax
          85 c0               | test   %eax,%eax
          78 >out             | js     out
          64 8b 04 25 fs+18   | mov    %fs:MM_CID,%eax
          out:
          c3                  | ret
          """);

  static final CodeTable INDEX =
      new CodeTable(
          "index",
          "int index(void): the row that this thread may use now; negative in a thread "
              + "that is not registered.",
          """
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          """);

  static final CodeTable TSC =
      new CodeTable(
          "tsc",
          "long tsc(void): the time stamp counter, not ordered against the instructions around it.",
          """
          0f 31               | rdtsc
          48 c1 e2 20         | shl    $0x20,%rdx
          48 09 d0            | or     %rdx,%rax
          c3                  | ret
          """);

  static final CodeTable TSC_ORDERED =
      new CodeTable(
          "tsc-ordered",
          "long tsc_ordered(void): the time stamp counter, read after every earlier load and before"
              + " every later instruction.",
          """
          0f ae e8            | lfence
          0f 31               | rdtsc
          0f ae e8            | lfence
          48 c1 e2 20         | shl    $0x20,%rdx
          48 09 d0            | or     %rdx,%rax
          c3                  | ret
          """);

  /** All of them, in the order in which they lie in the page. */
  static final List<CodeTable> ALL =
      Stream.of(
              List.of(CPU, NODE, CONCURRENCY_ID, INDEX, TSC, TSC_ORDERED),
              WordSequences.ALL,
              ArraySequences.ALL,
              TraceSequences.ALL)
          .flatMap(List::stream)
          .toList();

  private Sequences() {}
}
