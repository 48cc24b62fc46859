package io.quiesce.bench.subjects;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicIntegerArray;
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

  /** The stop flag is the middle element, alone on its cache lines. */
  private static final int STOP = 32;

  private final AtomicIntegerArray stop = new AtomicIntegerArray(2 * STOP);
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
    return stop.getOpaque(STOP) != 0;
  }

  /** Lets the bodies go. */
  void begin() throws Exception {
    running = new CountDownLatch(size);
    stop.set(STOP, 0);
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
    stop.set(STOP, 1);
    if (size > 0) {
      finish.await();
    }
    Exception thrown = failure.getAndSet(null);
    if (thrown != null) {
      throw thrown;
    }
  }
}
