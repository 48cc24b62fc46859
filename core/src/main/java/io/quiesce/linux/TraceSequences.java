package io.quiesce.linux;

import java.util.List;

/**
 * Sequences of the tracer's ring buffers: one row of control words for each CPU, chosen by the CPU
 * number and never by the concurrency id, since a stream of events belongs to a CPU.
 *
 * <p>The table: {@code {int rows, int unused, long sub-buffer mask, long ring mask}} in its first
 * 128 bytes, then 128 bytes for each CPU: {@code {long offset, int closed, int unused, long address
 * of the buffer, long unused, long unused, long address of the last record, long suspect}}. The
 * offset only grows; its low bits are the place in the buffer. What is laid out there, and why, is
 * told in the module io.quiesce.trace.
 */
final class TraceSequences {
  static final CodeTable TRACE_RESERVE =
      new CodeTable(
          "trace-reserve",
          "long trace_reserve(long table, long size, long ignored, int owner): reserves "
              + "size bytes in the buffer of the CPU and stores {int size | 1, int owner, long "
              + "time stamp counter} there; suspect becomes the offset if the record before is still "
              + "reserved; the address, 0 at a boundary of sub-buffers or in a "
              + "closed row, -1 no such row.",
          """
          48 8d 05 cs             | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8     | mov    %rax,%fs:RSEQ_CS
          start:
          64 8b 04 25 fs+4        | mov    %fs:CPU_ID,%eax
          3b 07                   | cmp    (%rdi),%eax
          73 >out                 | jae    out
          48 c1 e0 07             | shl    $0x7,%rax
          4c 8d 84 07 80 00 00 00 | lea    0x80(%rdi,%rax,1),%r8
          41 83 78 08 00          | cmpl   $0x0,0x8(%r8)
          75 >slow                | jne    slow
          4d 8b 10                | mov    (%r8),%r10
          4c 8b 5f 08             | mov    0x8(%rdi),%r11
          4c 89 d0                | mov    %r10,%rax
          4c 21 d8                | and    %r11,%rax
          74 >slow                | je     slow
          48 8d 44 30 ff          | lea    -0x1(%rax,%rsi,1),%rax
          4c 39 d8                | cmp    %r11,%rax
          77 >slow                | ja     slow
          4c 8b 4f 10             | mov    0x10(%rdi),%r9
          4d 21 d1                | and    %r10,%r9
          4d 03 48 10             | add    0x10(%r8),%r9
          49 8b 40 28             | mov    0x28(%r8),%rax
          f6 00 02                | testb  $0x2,(%rax)
          75 >settled             | jne    settled
          4d 89 50 30             | mov    %r10,0x30(%r8)
          settled:
          4d 89 48 28             | mov    %r9,0x28(%r8)
          8d 46 01                | lea    0x1(%rsi),%eax
          41 89 01                | mov    %eax,(%r9)
          41 89 49 04             | mov    %ecx,0x4(%r9)
          0f 31                   | rdtsc
          48 c1 e2 20             | shl    $0x20,%rdx
          48 09 d0                | or     %rdx,%rax
          49 89 41 08             | mov    %rax,0x8(%r9)
          49 01 f2                | add    %rsi,%r10
          4d 89 10                | mov    %r10,(%r8)
          commit:
          4c 89 c8                | mov    %r9,%rax
          c3                      | ret
          slow:
          31 c0                   | xor    %eax,%eax
          c3                      | ret
          out:
          48 c7 c0 ff ff ff ff    | mov    $0xffffffffffffffff,%rax
          c3                      | ret
          0f b9 3d sig            | ud1    SIGNATURE(%rip),%edi
          abort:
          e9 >>begin              | jmp    begin
          """);

  static final CodeTable TRACE_SWITCH =
      new CodeTable(
          "trace-switch",
          "int trace_switch(long table, int cpu, long expected, long value, long *word, long "
              + "content): if this thread is on the CPU, the row is open and its offset is "
              + "expected, *word = content and offset = value; 0 stored, 1 closed or unequal, -1 "
              + "not on the CPU.",
          """
          48 8d 05 cs             | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8     | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00     | cmpl   $0x0,%fs:CPU_ID
          7c >out                 | jl     out
          64 39 34 25 fs+4        | cmp    %esi,%fs:CPU_ID
          75 >out                 | jne    out
          89 f0                   | mov    %esi,%eax
          48 c1 e0 07             | shl    $0x7,%rax
          48 8d 84 07 80 00 00 00 | lea    0x80(%rdi,%rax,1),%rax
          83 78 08 00             | cmpl   $0x0,0x8(%rax)
          75 >unequal             | jne    unequal
          48 39 10                | cmp    %rdx,(%rax)
          75 >unequal             | jne    unequal
          4d 89 08                | mov    %r9,(%r8)
          48 89 08                | mov    %rcx,(%rax)
          commit:
          31 c0                   | xor    %eax,%eax
          c3                      | ret
          unequal:
          b8 01 00 00 00          | mov    $0x1,%eax
          c3                      | ret
          out:
          b8 ff ff ff ff          | mov    $0xffffffff,%eax
          c3                      | ret
          0f b9 3d sig            | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin               | jmp    begin
          """);

  static final List<CodeTable> ALL = List.of(TRACE_RESERVE, TRACE_SWITCH);

  private TraceSequences() {}
}
