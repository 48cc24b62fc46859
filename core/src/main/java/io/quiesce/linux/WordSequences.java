package io.quiesce.linux;

import java.util.List;

/**
 * Sequences on single words. {@code add} chooses the row itself; the others are told the row and
 * the addresses, with the contracts of librseq: 0 stored, 1 a comparison failed and nothing was
 * stored, -1 the thread is not on that row (any more).
 */
final class WordSequences {
  static final CodeTable ADD =
      new CodeTable(
          "add",
          "int add(long base, long stride, long delta, int rows): *(base + row * "
              + "stride) += delta; 0 when done, -1 when there is no such row or the thread is "
              + "not registered.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 c8                | cmp    %ecx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          48 01 10             | add    %rdx,(%rax)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable COMPARE_STORE =
      new CodeTable(
          "compare-store",
          "int compare_store(int row, long *v, long expected, long value): if this "
              + "thread is on the row and *v == expected, *v = value; 0 stored, 1 unequal, -1 "
              + "not on the row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 39 3c 25 fs+index | cmp    %edi,%fs:INDEX
          75 >out              | jne    out
          48 39 16             | cmp    %rdx,(%rsi)
          75 >unequal          | jne    unequal
          48 89 0e             | mov    %rcx,(%rsi)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          unequal:
          b8 01 00 00 00       | mov    $0x1,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable COMPARE_UNEQUAL_STORE_LOAD =
      new CodeTable(
          "compare-unequal-store-load",
          "int compare_unequal_store_load(int row, long *v, long unexpected, long "
              + "offset, long *out): if *v != unexpected, *out = *v and *v = *(*v + offset); "
              + "0 stored, 1 equal, -1 not on the row. It pops a list.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 39 3c 25 fs+index | cmp    %edi,%fs:INDEX
          75 >out              | jne    out
          4c 8b 0e             | mov    (%rsi),%r9
          49 39 d1             | cmp    %rdx,%r9
          74 >unequal          | je     unequal
          4d 89 08             | mov    %r9,(%r8)
          4d 8b 0c 09          | mov    (%r9,%rcx,1),%r9
          4c 89 0e             | mov    %r9,(%rsi)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          unequal:
          b8 01 00 00 00       | mov    $0x1,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable ADD_AT =
      new CodeTable(
          "add-at",
          "int add_at(int row, long *v, long delta): *v += delta; 0 added, -1 not on " + "the row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 39 3c 25 fs+index | cmp    %edi,%fs:INDEX
          75 >out              | jne    out
          48 01 16             | add    %rdx,(%rsi)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable DEREFERENCE_ADD =
      new CodeTable(
          "dereference-add",
          "int dereference_add(int row, long **p, long offset, long delta): *(*p + "
              + "offset) += delta; 0 added, -1 not on the row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 39 3c 25 fs+index | cmp    %edi,%fs:INDEX
          75 >out              | jne    out
          4c 8b 06             | mov    (%rsi),%r8
          49 01 0c 10          | add    %rcx,(%r8,%rdx,1)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable COMPARE_STORE_STORE =
      new CodeTable(
          "compare-store-store",
          "int compare_store_store(int row, long *v, long expected, long *scratch, long "
              + "scratchValue, long value): if *v == expected, *scratch = scratchValue and "
              + "then *v = value; 0 stored, 1 unequal, -1 not on the row. The scratch may be "
              + "written without the value.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 39 3c 25 fs+index | cmp    %edi,%fs:INDEX
          75 >out              | jne    out
          48 39 16             | cmp    %rdx,(%rsi)
          75 >unequal          | jne    unequal
          4c 89 01             | mov    %r8,(%rcx)
          4c 89 0e             | mov    %r9,(%rsi)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          unequal:
          b8 01 00 00 00       | mov    $0x1,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable COMPARE_COMPARE_STORE =
      new CodeTable(
          "compare-compare-store",
          "int compare_compare_store(int row, long *v, long expected, long *v2, long "
              + "expected2, long value): if *v == expected and *v2 == expected2, *v = value; "
              + "0 stored, 1 unequal, -1 not on the row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 39 3c 25 fs+index | cmp    %edi,%fs:INDEX
          75 >out              | jne    out
          48 39 16             | cmp    %rdx,(%rsi)
          75 >unequal          | jne    unequal
          4c 39 01             | cmp    %r8,(%rcx)
          75 >unequal          | jne    unequal
          4c 89 0e             | mov    %r9,(%rsi)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          unequal:
          b8 01 00 00 00       | mov    $0x1,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable COMPARE_COPY_STORE =
      new CodeTable(
          "compare-copy-store",
          "int compare_copy_store(int row, long *v, long expected, void *to, void "
              + "*from, long bytes, long value): if *v == expected, the bytes are copied and "
              + "then *v = value, which is the argument on the stack; 0 stored, 1 unequal, -1 "
              + "not on the row. The copy may be made without the value.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 39 3c 25 fs+index | cmp    %edi,%fs:INDEX
          75 >out              | jne    out
          48 39 16             | cmp    %rdx,(%rsi)
          75 >unequal          | jne    unequal
          4c 8b 5c 24 08       | mov    0x8(%rsp),%r11
          4d 89 ca             | mov    %r9,%r10
          copy:
          4d 85 d2             | test   %r10,%r10
          74 >copied           | je     copied
          43 0f b6 44 10 ff    | movzbl -0x1(%r8,%r10,1),%eax
          42 88 44 11 ff       | mov    %al,-0x1(%rcx,%r10,1)
          49 83 ea 01          | sub    $0x1,%r10
          eb >copy             | jmp    copy
          copied:
          4c 89 1e             | mov    %r11,(%rsi)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          unequal:
          b8 01 00 00 00       | mov    $0x1,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final List<CodeTable> ALL =
      List.of(
          ADD,
          COMPARE_STORE,
          COMPARE_UNEQUAL_STORE_LOAD,
          ADD_AT,
          DEREFERENCE_ADD,
          COMPARE_STORE_STORE,
          COMPARE_COMPARE_STORE,
          COMPARE_COPY_STORE);

  private WordSequences() {}
}
