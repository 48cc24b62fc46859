package io.quiesce.percpu;

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
            + (buffer.drain(value -> {}) >= 0));
    buffer.close();
  }
}
