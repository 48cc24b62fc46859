package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Forces restarts in the middle of a sequence, and a thread that is not registered. */
@SuppressWarnings("restricted")
class RestartTest {
  /** As "add", but it waits inside for a gate to open, and counts its restarts. */
  private static final CodeTable GATED =
      new CodeTable(
          "gated",
          "int gated(long word, long restarts, long delta, long gate)",
          """
          48 8d 05 cs         | lea    DESCRIPTOR(%rip),%rax
          64 48 89 04 25 fs+8 | mov    %rax,%fs:RSEQ_CS
          start:
          64 44 8b 04 25 fs+4 | mov    %fs:CPU_ID,%r8d
          spin:
          83 39 00            | cmpl   $0x0,(%rcx)
          75 >open            | jne    open
          f3 90               | pause
          eb >spin            | jmp    spin
          open:
          48 01 17            | add    %rdx,(%rdi)
          commit:
          31 c0               | xor    %eax,%eax
          c3                  | ret
          0f b9 3d sig        | ud1    SIGNATURE(%rip),%edi
          abort:
          48 83 06 01         | addq   $0x1,(%rsi)
          eb >begin           | jmp    begin
          """);

  /** The thread pointer, which x86-64 keeps at its own address. */
  private static final CodeTable THREAD_POINTER =
      new CodeTable(
          "thread-pointer",
          "long tp(void)",
          """
          64 48 8b 04 25 00 00 00 00 | mov %fs:0x0,%rax
          c3                         | ret
          """);

  @BeforeEach
  void needed() {
    Needs.facility("rseq");
    Needs.facility("membarrier-rseq");
  }

  private static MethodHandle gated(CodePage page) {
    // Not critical: it waits, and a safepoint must not wait for it.
    return Linker.nativeLinker()
        .downcallHandle(
            MemorySegment.ofAddress(page.sequence("gated").address()),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG));
  }

  private static void eachFenceRestarts(Runnable fence, int cpu) throws Exception {
    MethodHandle gated = gated(CodePage.map(List.of(GATED), Rseq.offset(), RseqAbi.CPU_ID));
    long memory = OffHeap.allocate(256, 64);
    long word = memory;
    long restarts = memory + 64;
    long gate = memory + 128;
    FutureTask<Integer> task =
        new FutureTask<>(
            () -> {
              if (cpu >= 0) {
                CpuAffinity.pinTo(cpu);
              }
              OffHeap.setIntVolatile(memory + 192, 1);
              try {
                return (int) gated.invokeExact(word, restarts, 5L, gate);
              } catch (Throwable t) {
                throw new AssertionError(t);
              }
            });
    Thread.ofPlatform().daemon().start(task);
    while (OffHeap.getIntVolatile(memory + 192) == 0) {
      Thread.onSpinWait();
    }
    Thread.sleep(50);
    for (int i = 0; i < 100; i++) {
      long before = OffHeap.getLongVolatile(restarts);
      fence.run();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (OffHeap.getLongVolatile(restarts) == before && System.nanoTime() < deadline) {
        Thread.onSpinWait();
      }
      assertThat(OffHeap.getLongVolatile(restarts)).isGreaterThan(before);
      assertThat(OffHeap.getLongVolatile(word)).isZero();
    }
    OffHeap.setIntVolatile(gate, 1);
    assertThat(task.get(10, TimeUnit.SECONDS)).isZero();
    assertThat(OffHeap.getLongVolatile(word)).as("committed once").isEqualTo(5);
    OffHeap.free(memory);
  }

  @Test
  void everyBroadcastRestartsAnUnfinishedSequence() throws Exception {
    eachFenceRestarts(Membarrier::fenceRseq, -1);
  }

  @Test
  void aFenceOfItsCpuRestartsAnUnfinishedSequence() throws Exception {
    int cpu = CpuAffinity.get().highest();
    eachFenceRestarts(() -> Membarrier.fenceCpu(cpu), cpu);
  }

  private static void rseq(long area, int flags) {
    assertThat(Syscall.call(334, area, 32, flags, 0x53053053, 0, 0)).isZero();
  }

  @Test
  void aThreadThatIsNotRegisteredTouchesNoRow() throws Exception {
    CodePage page = CodePage.map(List.of(THREAD_POINTER), Rseq.offset(), RseqAbi.CPU_ID);
    MethodHandle pointer =
        page.downcall("thread-pointer", FunctionDescriptor.of(ValueLayout.JAVA_LONG));
    long table = OffHeap.allocate(CpuTopology.tableSize() * 64L, 64);
    FutureTask<String> task =
        new FutureTask<>(
            () -> {
              long area;
              try {
                area = (long) pointer.invokeExact() + Rseq.offset();
              } catch (Throwable t) {
                throw new AssertionError(t);
              }
              rseq(area, 1);
              String seen =
                  Rseq.cpu()
                      + " "
                      + Rseq.concurrencyId()
                      + " "
                      + Rseq.node()
                      + " "
                      + io.quiesce.percpu.PerCpuOps.add(table, 64, 1);
              rseq(area, 0);
              return seen + " " + io.quiesce.percpu.PerCpuOps.add(table, 64, 1);
            });
    Thread.ofPlatform().start(task);
    assertThat(task.get()).isEqualTo("-1 -1 -1 false true");
    long sum = 0;
    for (int cpu = 0; cpu < CpuTopology.tableSize(); cpu++) {
      sum += OffHeap.getLong(table + cpu * 64L);
    }
    assertThat(sum).isEqualTo(1);
    OffHeap.free(table);
  }
}
