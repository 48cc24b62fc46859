package io.quiesce.linux;

import java.util.List;

/**
 * The machine code of this library: every sequence, for x86-64 and the System V calling convention
 * (arguments in rdi, rsi, rdx, rcx, r8, r9; all registers used here are the callee's to change).
 *
 * <p>Rules that every restartable one follows. The CPU number is read inside and compared,
 * unsigned, with the number of rows: it is -1 in a thread that is not registered. Only the last
 * store takes effect for others, and it is one instruction, the last before {@code commit}. An
 * abort starts the whole over inside the machine code. The pointer to the descriptor is not cleared
 * at the end: the kernel drops it lazily, and the page stays mapped for ever.
 *
 * <p>To add one: write its table, add it to {@link #ALL}, and copy the table into docs/security.md;
 * the tests disassemble whatever is listed.
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

  static final CodeTable ADD =
      new CodeTable(
          "add",
          "int add(long base, long stride, long delta, int rows): *(base + cpu * stride) += delta;"
              + " 0 when done, -1 when the CPU has no row or the thread is not registered.",
          """
          48 8d 05 cs         | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8 | mov    %rax,%fs:RSEQ_CS
          start:
          64 44 8b 04 25 fs+4 | mov    %fs:CPU_ID,%r8d
          41 39 c8            | cmp    %ecx,%r8d
          73 >out             | jae    out
          4c 0f af c6         | imul   %rsi,%r8
          4a 01 14 07         | add    %rdx,(%rdi,%r8,1)
          commit:
          31 c0               | xor    %eax,%eax
          c3                  | ret
          out:
          b8 ff ff ff ff      | mov    $0xffffffff,%eax
          c3                  | ret
          0f b9 3d sig        | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin           | jmp    begin
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
  static final List<CodeTable> ALL = List.of(CPU, NODE, CONCURRENCY_ID, ADD, TSC, TSC_ORDERED);

  private Sequences() {}
}
