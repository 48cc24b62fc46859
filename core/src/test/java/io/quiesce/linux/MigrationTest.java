package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Moves a thread to another CPU exactly between reading its CPU number and the committing store.
 *
 * <pre>
 *   worker on A   reads CPU = A   store to row A faults: sleeps ........ runs on B: aborted, reads B
 *   this thread                                 hears of the fault, binds worker to B, maps the page
 * </pre>
 *
 * <p>The page fault is held by userfaultfd, so the moment is certain, and the sequence is the
 * production one.
 */
@SuppressWarnings("restricted")
class MigrationTest {
  private static final long IOCTL = 16;
  private static final long USERFAULTFD = 323;
  private static final long GETTID = 186;
  private static final long READ = 0;
  private static final long CLOSE = 3;

  @Test
  void anAddThatWasMovedCommitsOnItsNewCpuOnly() throws Exception {
    Needs.facility("rseq");
    int[] cpus = CpuAffinity.get().toArray();
    assumeTrue(cpus.length > 1, "needs two CPUs");
    int rows = CpuTopology.tableSize();
    assumeTrue(rows <= 512, "the rows must fit one page");
    long fd = Syscall.call(USERFAULTFD, 1, 0, 0);
    if (fd < 0) {
      System.out.println("skipped the forced migration: userfaultfd is " + Errno.symbol((int) -fd));
    }
    assumeTrue(fd >= 0, "userfaultfd is refused");
    try (Arena arena = Arena.ofConfined()) {
      ioctl((int) fd, 0xC018AA3FL, arena.allocate(32, 8), 0xAA, 0, 0);
    }
    for (int i = 0; i < 20; i++) {
      move((int) fd, cpus[i % 2], cpus[(i + 1) % 2], rows);
    }
    Syscall.call(CLOSE, fd, 0, 0);
  }

  private static void move(int fd, int from, int to, int rows) throws Exception {
    // Not critical: it sleeps in the fault, and a safepoint must not wait for it.
    MethodHandle add =
        Linker.nativeLinker()
            .downcallHandle(
                MemorySegment.ofAddress(
                    NativeCode.sequences().stream()
                        .filter(s -> s.name().equals("add"))
                        .findFirst()
                        .orElseThrow()
                        .address()),
                FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT));
    long page = Syscall.call(Syscall.MMAP, 0, 4096, 3, 0x22, -1, 0);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment args = arena.allocate(64, 8);
      ioctl(fd, 0xC020AA00L, args, page, 4096, 1, 0);
      CompletableFuture<Long> id = new CompletableFuture<>();
      FutureTask<Integer> task =
          new FutureTask<>(
              () -> {
                CpuAffinity.pinTo(from);
                id.complete(Syscall.call(GETTID, 0, 0, 0));
                try {
                  return (int) add.invokeExact(page, 8L, 5L, rows);
                } catch (Throwable t) {
                  throw new AssertionError(t);
                }
              });
      Thread.ofPlatform().daemon().start(task);
      long worker = id.get(10, TimeUnit.SECONDS);
      assertThat(Syscall.call(READ, fd, args.address(), 32)).as("one fault").isEqualTo(32);
      byte[] bits = CpuSet.of(to).toMask();
      MemorySegment mask = arena.allocate(1024, 8);
      MemorySegment.copy(bits, 0, mask, ValueLayout.JAVA_BYTE, 0, bits.length);
      assertThat(Syscall.call(Syscall.SCHED_SETAFFINITY, worker, 1024, mask.address())).isZero();
      ioctl(fd, 0xC020AA04L, args, page, 4096, 0, 0);
      assertThat(task.get(10, TimeUnit.SECONDS)).isZero();
      OffHeap.register(page, 4096);
      long sum = 0;
      int written = 0;
      for (int row = 0; row < rows; row++) {
        long value = OffHeap.getLongVolatile(page + row * 8L);
        sum += value;
        written += value == 0 ? 0 : 1;
      }
      assertThat(sum).as("added once").isEqualTo(5);
      assertThat(written).as("rows").isOne();
      if (!Rseq.isRowByConcurrencyId()) { // such an id belongs to no CPU
        assertThat(OffHeap.getLongVolatile(page + to * 8L)).as("row of the new CPU").isEqualTo(5);
      }
      OffHeap.unregister(page);
    } finally {
      Syscall.call(Syscall.MUNMAP, page, 4096, 0);
    }
  }

  private static void ioctl(int fd, long request, MemorySegment args, long... words) {
    for (int i = 0; i < words.length; i++) {
      args.setAtIndex(ValueLayout.JAVA_LONG, i, words[i]);
    }
    assertThat(Syscall.call(IOCTL, fd, request, args.address())).as("ioctl %x", request).isZero();
  }
}
