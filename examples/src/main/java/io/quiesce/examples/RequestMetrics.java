package io.quiesce.examples;

import io.quiesce.percpu.HistogramSnapshot;
import io.quiesce.percpu.PerCpuCounter;
import io.quiesce.percpu.PerCpuHistogram;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A counter for each of a thousand routes and one histogram of sizes, fed by virtual threads and
 * read out by intervals while they run: every request is in exactly one interval.
 *
 * <pre>
 * 200000 requests on 1000 routes, 200000 in the intervals, 200000 sizes, p99 991
 * </pre>
 */
public final class RequestMetrics {
  private static final int ROUTES = 1_000;
  private static final int CLIENTS = 100;
  private static final int REQUESTS = 2_000; // of each client

  private RequestMetrics() {}

  private static long sumThenReset(PerCpuCounter[] counters) {
    long sum = 0;
    for (PerCpuCounter counter : counters) {
      sum += counter.sumThenReset();
    }
    return sum;
  }

  /**
   * Runs it.
   *
   * @param args none
   * @throws Exception if interrupted
   */
  public static void main(String[] args) throws Exception {
    PerCpuCounter[] hits = new PerCpuCounter[ROUTES];
    for (int i = 0; i < ROUTES; i++) {
      hits[i] = PerCpuCounter.create(); // no close: the words go back with the counters
    }
    PerCpuHistogram sizes = PerCpuHistogram.create(1_000, 2);

    long inIntervals = 0;
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int c = 0; c < CLIENTS; c++) {
        clients.execute(
            () -> {
              for (int i = 0; i < REQUESTS; i++) {
                hits[i % ROUTES].increment();
                sizes.record(i % 1_000);
              }
            });
      }
      clients.shutdown();
      while (!clients.awaitTermination(1, TimeUnit.MILLISECONDS)) {
        inIntervals += sumThenReset(hits);
      }
    }
    inIntervals += sumThenReset(hits); // the last interval

    HistogramSnapshot snapshot = sizes.snapshotThenReset();
    System.out.printf(
        "%d requests on %d routes, %d in the intervals, %d sizes, p99 %d%n",
        CLIENTS * REQUESTS,
        ROUTES,
        inIntervals,
        snapshot.totalCount(),
        snapshot.valueAtPercentile(99));
    if (inIntervals != CLIENTS * REQUESTS || snapshot.totalCount() != CLIENTS * REQUESTS) {
      throw new IllegalStateException("a request was lost or counted twice");
    }
  }
}
