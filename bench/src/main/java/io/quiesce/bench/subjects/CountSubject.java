package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** {@code percpu.add}: threads that increment one counter. {@code ns} as {@link Marks} says. */
public final class CountSubject implements Subject {
  private CountWay way = CountWay.of("atomic");
  private Object counter = new Object();
  private Marks marks = new Marks(0);
  private Team team = Team.ofPlatformThreads(0, index -> {});
  private long counted;

  /** For the host. */
  public CountSubject() {}

  @Override
  public void setUp(Params params) {
    int threads = params.get("threads", 1);
    way = CountWay.of(params.get("counter", ""));
    counter = way.make();
    marks = new Marks(threads);
    team = Team.ofPlatformThreads(threads, this::count);
  }

  private void count(int index) {
    CountWay own = way;
    Object shared = counter;
    long batches = 0;
    long start = System.nanoTime();
    do {
      own.increment(shared, Team.BATCH);
      batches++;
    } while (!team.stopped());
    marks.set(index, start, System.nanoTime(), batches * Team.BATCH);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    long until = System.nanoTime() + time.toNanos();
    team.begin();
    for (long left = time.toNanos(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    team.end();
    counted += marks.operations();
    long sum = way.sum(counter);
    if (sum != counted) {
      throw new IllegalStateException("the counter says " + sum + " instead of " + counted);
    }
    return Map.of("ns", marks.ns());
  }
}
