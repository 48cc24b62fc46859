package io.quiesce.linux;

import java.util.List;

/**
 * Sequences that do a whole operation on the array or the intrusive list of the row that the thread
 * is on: one call each. A row that is marked closed is left alone, which is how another CPU may
 * come to change it (docs/ordering.md, P.3).
 */
final class ArraySequences {
  static final CodeTable ARRAY_PUSH =
      new CodeTable(
          "array-push",
          "int array_push(long base, long stride, int rows, long value): pushes onto "
              + "the array of the row, whose header is {int count, int capacity, int offset "
              + "of the slots, int closed}; 0 done, 1 full, -1 closed or no such row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 d0                | cmp    %edx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          83 78 0c 00          | cmpl   $0x0,0xc(%rax)
          75 >out              | jne    out
          44 8b 00             | mov    (%rax),%r8d
          44 3b 40 04          | cmp    0x4(%rax),%r8d
          73 >full             | jae    full
          44 8b 48 08          | mov    0x8(%rax),%r9d
          49 01 c1             | add    %rax,%r9
          4b 89 0c c1          | mov    %rcx,(%r9,%r8,8)
          41 83 c0 01          | add    $0x1,%r8d
          44 89 00             | mov    %r8d,(%rax)
          commit:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          full:
          b8 01 00 00 00       | mov    $0x1,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable ARRAY_POP =
      new CodeTable(
          "array-pop",
          "long array_pop(long base, long stride, int rows): the value popped from the "
              + "array of the row; 0 empty, -1 closed or no such row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 d0                | cmp    %edx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          83 78 0c 00          | cmpl   $0x0,0xc(%rax)
          75 >out              | jne    out
          8b 08                | mov    (%rax),%ecx
          85 c9                | test   %ecx,%ecx
          74 >empty            | je     empty
          83 e9 01             | sub    $0x1,%ecx
          44 8b 40 08          | mov    0x8(%rax),%r8d
          49 01 c0             | add    %rax,%r8
          4d 8b 04 c8          | mov    (%r8,%rcx,8),%r8
          89 08                | mov    %ecx,(%rax)
          commit:
          4c 89 c0             | mov    %r8,%rax
          c3                   | ret
          empty:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          out:
          48 c7 c0 ff ff ff ff | mov    $0xffffffffffffffff,%rax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable ARRAY_PUSH_MANY =
      new CodeTable(
          "array-push-many",
          "int array_push_many(long base, long stride, int rows, long from, int n): "
              + "pushes the n values at from, as many as fit; how many, or -1 closed or no "
              + "such row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 d0                | cmp    %edx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          83 78 0c 00          | cmpl   $0x0,0xc(%rax)
          75 >out              | jne    out
          44 8b 08             | mov    (%rax),%r9d
          44 8b 50 04          | mov    0x4(%rax),%r10d
          45 29 ca             | sub    %r9d,%r10d
          76 >full             | jbe    full
          45 39 c2             | cmp    %r8d,%r10d
          45 0f 47 d0          | cmova  %r8d,%r10d
          45 85 d2             | test   %r10d,%r10d
          74 >full             | je     full
          44 8b 58 08          | mov    0x8(%rax),%r11d
          49 01 c3             | add    %rax,%r11
          4f 8d 1c cb          | lea    (%r11,%r9,8),%r11
          45 01 d1             | add    %r10d,%r9d
          66 41 0f 6e ca       | movd   %r10d,%xmm1
          copy:
          f3 42 0f 7e 44 d1 f8 | movq   -0x8(%rcx,%r10,8),%xmm0
          66 43 0f d6 44 d3 f8 | movq   %xmm0,-0x8(%r11,%r10,8)
          41 83 ea 01          | sub    $0x1,%r10d
          75 >copy             | jne    copy
          44 89 08             | mov    %r9d,(%rax)
          commit:
          66 0f 7e c8          | movd   %xmm1,%eax
          c3                   | ret
          full:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          e9 >>begin           | jmp    begin
          """);

  static final CodeTable ARRAY_POP_MANY =
      new CodeTable(
          "array-pop-many",
          "int array_pop_many(long base, long stride, int rows, long to, int n): pops "
              + "up to n values to where to points, in the order of the array; how many, or "
              + "-1 closed or no such row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 d0                | cmp    %edx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          83 78 0c 00          | cmpl   $0x0,0xc(%rax)
          75 >out              | jne    out
          44 8b 08             | mov    (%rax),%r9d
          45 89 ca             | mov    %r9d,%r10d
          45 39 c2             | cmp    %r8d,%r10d
          45 0f 47 d0          | cmova  %r8d,%r10d
          45 85 d2             | test   %r10d,%r10d
          74 >empty            | je     empty
          45 29 d1             | sub    %r10d,%r9d
          44 8b 58 08          | mov    0x8(%rax),%r11d
          49 01 c3             | add    %rax,%r11
          4f 8d 1c cb          | lea    (%r11,%r9,8),%r11
          66 41 0f 6e ca       | movd   %r10d,%xmm1
          copy:
          f3 43 0f 7e 44 d3 f8 | movq   -0x8(%r11,%r10,8),%xmm0
          66 42 0f d6 44 d1 f8 | movq   %xmm0,-0x8(%rcx,%r10,8)
          41 83 ea 01          | sub    $0x1,%r10d
          75 >copy             | jne    copy
          44 89 08             | mov    %r9d,(%rax)
          commit:
          66 0f 7e c8          | movd   %xmm1,%eax
          c3                   | ret
          empty:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          out:
          b8 ff ff ff ff       | mov    $0xffffffff,%eax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          e9 >>begin           | jmp    begin
          """);

  static final CodeTable LIST_PUSH =
      new CodeTable(
          "list-push",
          "int list_push(long base, long stride, int rows, long node, long link): "
              + "pushes onto the list of the row, whose header is {long head, int closed}; "
              + "the link lies in the node; 0 done, -1 closed or no such row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 d0                | cmp    %edx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          83 78 08 00          | cmpl   $0x0,0x8(%rax)
          75 >out              | jne    out
          4c 8b 08             | mov    (%rax),%r9
          4e 89 0c 01          | mov    %r9,(%rcx,%r8,1)
          48 89 08             | mov    %rcx,(%rax)
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

  static final CodeTable LIST_POP =
      new CodeTable(
          "list-pop",
          "long list_pop(long base, long stride, int rows, long link): the node popped "
              + "from the list of the row; 0 empty, -1 closed or no such row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 d0                | cmp    %edx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          83 78 08 00          | cmpl   $0x0,0x8(%rax)
          75 >out              | jne    out
          4c 8b 00             | mov    (%rax),%r8
          4d 85 c0             | test   %r8,%r8
          74 >empty            | je     empty
          4d 8b 0c 08          | mov    (%r8,%rcx,1),%r9
          4c 89 08             | mov    %r9,(%rax)
          commit:
          4c 89 c0             | mov    %r8,%rax
          c3                   | ret
          empty:
          31 c0                | xor    %eax,%eax
          c3                   | ret
          out:
          48 c7 c0 ff ff ff ff | mov    $0xffffffffffffffff,%rax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final CodeTable LIST_TAKE =
      new CodeTable(
          "list-take",
          "long list_take(long base, long stride, int rows): the head of the row's "
              + "list, which is empty afterwards; 0 empty, -1 closed or no such row.",
          """
          48 8d 05 cs          | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8  | mov    %rax,%fs:RSEQ_CS
          start:
          64 83 3c 25 fs+4 00  | cmpl   $0x0,%fs:CPU_ID
          7c >out              | jl     out
          64 8b 04 25 fs+index | mov    %fs:INDEX,%eax
          39 d0                | cmp    %edx,%eax
          73 >out              | jae    out
          48 0f af c6          | imul   %rsi,%rax
          48 01 f8             | add    %rdi,%rax
          83 78 08 00          | cmpl   $0x0,0x8(%rax)
          75 >out              | jne    out
          4c 8b 00             | mov    (%rax),%r8
          48 c7 00 00 00 00 00 | movq   $0x0,(%rax)
          commit:
          4c 89 c0             | mov    %r8,%rax
          c3                   | ret
          out:
          48 c7 c0 ff ff ff ff | mov    $0xffffffffffffffff,%rax
          c3                   | ret
          0f b9 3d sig         | ud1    SIGNATURE(%rip),%edi
          abort:
          eb >begin            | jmp    begin
          """);

  static final List<CodeTable> ALL =
      List.of(
          ARRAY_PUSH, ARRAY_POP, ARRAY_PUSH_MANY, ARRAY_POP_MANY, LIST_PUSH, LIST_POP, LIST_TAKE);

  private ArraySequences() {}
}
