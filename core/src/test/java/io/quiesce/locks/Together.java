package io.quiesce.locks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Threads of a test: all are joined, and what one throws fails the test. */
final class Together implements AutoCloseable {
  private static final long LIMIT_SECONDS = 60;

  private final List<Thread> threads = new ArrayList<>();
  private final List<Thread> stuck = new ArrayList<>();
  private @Nullable Throwable thrown;

  interface Body {
    void run() throws Exception;
  }

  Thread start(Body body) {
    return start(false, body);
  }

  Thread start(boolean virtual, Body body) {
    Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
    Thread thread =
        builder.unstarted(
            () -> {
              try {
                body.run();
              } catch (Throwable failure) {
                synchronized (this) {
                  thrown = thrown == null ? failure : thrown;
                }
              }
            });
    threads.add(thread);
    thread.start();
    return thread;
  }

  /** One that would wait for ever; also when the test fails. */
  Thread interruptAtEnd(Thread thread) {
    stuck.add(thread);
    return thread;
  }

  /** Until all have ended. */
  @Override
  public void close() {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    stuck.forEach(Thread::interrupt);
    for (Thread thread : threads) {
      long left = Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime()));
      try {
        thread.join(left);
      } catch (InterruptedException unexpected) {
        throw new AssertionError(unexpected);
      }
      if (thread.isAlive()) {
        StringBuilder text = new StringBuilder(thread + " hangs");
        for (StackTraceElement frame : thread.getStackTrace()) {
          text.append("\n  at ").append(frame);
        }
        throw new AssertionError(text.toString(), thrown);
      }
    }
    synchronized (this) {
      if (thrown != null) {
        throw new AssertionError(thrown);
      }
    }
  }

  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - until > 0) {
        throw new AssertionError("still not: " + what);
      }
      Thread.sleep(1);
    }
  }

  /** Until a thread sleeps or waits for good. */
  static void untilParked(Thread thread) throws InterruptedException {
    until(
        thread + " waits",
        () ->
            thread.getState() == Thread.State.WAITING
                || thread.getState() == Thread.State.TIMED_WAITING);
  }
}
