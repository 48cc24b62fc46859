package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code rcu.read}: threads that read one word behind a reference, each time in a read section of
 * the {@code reader} named. {@code ns} is wall time from the first start to the last end, times
 * threads, over all iterations: the same sum as in the native peers.
 */
public final class ReadSubject implements Subject {
  private int threads;
  private long[][] marks = new long[0][];
  private Team team = Team.ofPlatformThreads(0, index -> {});

  /** For the host. */
  public ReadSubject() {}

  @Override
  public void setUp(Params params) {
    threads = params.get("threads", 1);
    String reader = params.get("reader", "");
    ReadLoop.Factory loops = ReadLoops.of(reader);
    marks = new long[threads][4];
    team =
        new Team(
            threads,
            reader.equals("virtual")
                ? Thread.ofVirtual().name("reader-", 0).factory()
                : Thread.ofPlatform().daemon().name("reader-", 0).factory(),
            index -> read(loops.newLoop(), marks[index]));
  }

  private void read(ReadLoop loop, long[] mark) {
    long sum = 0;
    long batches = 0;
    loop.begin();
    long start = System.nanoTime();
    do {
      sum += loop.batch();
      loop.betweenBatches();
      batches++;
    } while (!team.stopped());
    long end = System.nanoTime();
    loop.end();
    mark[0] = start;
    mark[1] = end;
    mark[2] = batches * Team.BATCH;
    mark[3] = sum;
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    long until = System.nanoTime() + time.toNanos();
    team.begin();
    for (long left = time.toNanos(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    team.end();
    long start = Long.MAX_VALUE;
    long end = Long.MIN_VALUE;
    long iterations = 0;
    for (long[] mark : marks) {
      start = Math.min(start, mark[0]);
      end = Math.max(end, mark[1]);
      iterations += mark[2];
      if (mark[3] != mark[2]) {
        throw new IllegalStateException("a reader saw a value that nobody wrote");
      }
      Sink.take(mark[3]);
    }
    return Map.of("ns", (double) (end - start) * threads / iterations);
  }
}
