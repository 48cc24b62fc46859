package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code percpu.list}: threads that put an element on a list and take one, in turn; an operation is
 * both. {@code ns} as {@link Marks} says.
 */
public final class ListSubject implements Subject {
  /** Elements of each thread that lie on the list, so that it is not empty in between. */
  private static final int SPARE = 16;

  private final List<ListWay.Hand> hands = new ArrayList<>();
  private ListWay way = ListWay.of("queue");
  private Marks marks = new Marks(0);
  private Team team = Team.ofPlatformThreads(0, index -> {});

  /** For the host. */
  public ListSubject() {}

  @Override
  public void setUp(Params params) {
    int threads = params.get("threads", 1);
    way = ListWay.of(params.get("list", ""));
    marks = new Marks(threads);
    for (int i = 0; i < threads; i++) {
      hands.add(way.hand(SPARE));
    }
    team = Team.ofPlatformThreads(threads, this::exchange);
  }

  private void exchange(int index) {
    ListWay.Hand hand = hands.get(index);
    long sum = 0;
    long batches = 0;
    long start = System.nanoTime();
    do {
      sum += hand.batch();
      batches++;
    } while (!team.stopped());
    marks.set(index, start, System.nanoTime(), batches * Team.BATCH);
    Sink.take(sum);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    long until = System.nanoTime() + time.toNanos();
    team.begin();
    for (long left = time.toNanos(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    team.end();
    long sum = way.drain();
    if (sum != way.made()) {
      throw new IllegalStateException(
          "the elements add up to " + sum + " instead of " + way.made() + ": some were lost");
    }
    return Map.of("ns", marks.ns());
  }
}
