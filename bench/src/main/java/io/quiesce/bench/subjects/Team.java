package io.quiesce.bench.subjects;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Threads that are blocked between rounds; the Java twin of the team in bench/native. */
final class Team {
  /** Iterations between two looks at the stop flag, so that the look costs nothing each. */
  static final int BATCH = 1024;

  /** What a member does in a round. */
  @FunctionalInterface
  interface Body {
    void run(int index) throws Exception;
  }

  /** Alone on its cache lines. */
  private static final class Stop {
    long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, pa, pb, pc, pd, pe, pf;
    volatile boolean set;
    long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, qa, qb, qc, qd, qe, qf;
  }

  private final Stop stop = new Stop();
  private final int size;
  private final CyclicBarrier start;
  private final CyclicBarrier finish;
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
  private volatile CountDownLatch running = new CountDownLatch(0);

  Team(int size, ThreadFactory threads, Body body) {
    this.size = size;
    this.start = new CyclicBarrier(size + 1);
    this.finish = new CyclicBarrier(size + 1);
    for (int i = 0; i < size; i++) {
      int index = i;
      threads.newThread(() -> member(index, body)).start();
    }
  }

  static Team ofPlatformThreads(int size, Body body) {
    return new Team(size, Thread.ofPlatform().daemon().name("team-", 0).factory(), body);
  }

  private void member(int index, Body body) {
    try {
      while (true) {
        start.await();
        try {
          body.run(index);
        } catch (Exception e) {
          failure.compareAndSet(null, e);
        }
        finish.await();
      }
    } catch (InterruptedException | BrokenBarrierException e) {
      // The subject ends.
    }
  }

  boolean stopped() {
    return stop.set;
  }

  /** Lets the bodies go. */
  void begin() throws Exception {
    running = new CountDownLatch(size);
    stop.set = false;
    if (size > 0) {
      start.await();
    }
  }

  /** Said by a body that is in its loop. */
  void running() {
    running.countDown();
  }

  /** Waits until every body has said so. */
  void awaitRunning() throws InterruptedException {
    running.await();
  }

  /** Stops the bodies and waits for them. */
  void end() throws Exception {
    stop.set = true;
    if (size > 0) {
      finish.await();
    }
    Exception thrown = failure.getAndSet(null);
    if (thrown != null) {
      throw thrown;
    }
  }
}
