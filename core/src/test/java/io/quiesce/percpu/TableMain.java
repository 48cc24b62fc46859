package io.quiesce.percpu;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Rseq;
import java.util.ArrayList;
import java.util.List;

/** Uses everything once in a JVM of its own, whose flags change the rows; prints what it saw. */
final class TableMain {
  private TableMain() {}

  public static void main(String[] args) throws Exception {
    PerCpuCounter counter = PerCpuCounter.create();
    PerCpuHistogram histogram = PerCpuHistogram.create(1_000, 2);
    PerCpuBuffer buffer = PerCpuBuffer.create(64);
    PerCpuStack stack = PerCpuStack.create();
    long nodes = OffHeap.allocate(100 * 16, 16);
    for (long i = 0; i < 100; i++) {
      stack.push(nodes + i * 16);
    }
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
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
