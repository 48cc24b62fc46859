package io.quiesce.percpu;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Rseq;
import java.util.ArrayList;
import java.util.List;

/** Uses everything once in a JVM of its own, whose flags change the rows; prints what it saw. */
final class TableMain {
  private TableMain() {}

  /** Rows or shared part: what is offered at once cannot pass the bound. */
  private static void boundOfSeveralAtOnce() {
    int most = 4 * PerCpuOps.rows();
    long values = OffHeap.allocate((most + 3) * 8L, 8);
    for (int i = 0; i < most + 3; i++) {
      OffHeap.putLong(values + i * 8L, i + 1);
    }
    try (PerCpuBuffer small = PerCpuBuffer.create(4)) {
      int taken = small.offerMany(values, most + 3);
      if (taken < 1 || taken > most || small.size() != taken) {
        throw new AssertionError(taken + " values were taken where " + most + " have room");
      }
    }
    OffHeap.free(values);
  }

  public static void main(String[] args) throws Exception {
    boundOfSeveralAtOnce();
    PerCpuCounter counter = PerCpuCounter.create();
    PerCpuHistogram histogram = PerCpuHistogram.create(1_000, 2);
    PerCpuBuffer buffer = PerCpuBuffer.create(64);
    PerCpuStack stack = PerCpuStack.create();
    long nodes = OffHeap.allocate(100 * 16, 16);
    for (long i = 0; i < 100; i++) {
      stack.push(nodes + i * 16);
    }
    List<Thread> threads = new ArrayList<>();
    int[] cpus = CpuAffinity.get().toArray();
    for (int t = 0; t < 4; t++) {
      int cpu = cpus[t % cpus.length]; // so that a CPU beyond the table does run one
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    CpuAffinity.pinTo(cpu);
                    for (int i = 1; i <= 20_000; i++) {
                      counter.increment();
                      histogram.record(i % 1_000);
                      if (buffer.offer(i) && buffer.poll() == 0) {
                        Thread.yield(); // moved between the two
                      }
                      long node = i % 64 == 0 ? stack.popAny() : stack.pop();
                      if (node != 0) {
                        stack.push(node);
                      }
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.println(
        "rows "
            + PerCpuOps.rows()
            + " by "
            + (Rseq.isRowByConcurrencyId() ? "concurrency-id" : "cpu")
            + " count "
            + counter.sumThenReset()
            + " recorded "
            + histogram.snapshot().totalCount()
            + " left "
            + (buffer.drain(value -> {}) >= 0)
            + " nodes "
            + stack.drain(node -> {}));
    stack.close();
    buffer.close();
  }
}
