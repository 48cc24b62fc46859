package io.quiesce.rcu;

import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waiting for what must come in the end, on a machine that may be busy. */
public final class Waiting {
  private static final long LIMIT_SECONDS = 100;

  private Waiting() {}

  public static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - until > 0) {
        throw new AssertionError("still not: " + what);
      }
      Thread.sleep(1);
    }
  }

  /** For callbacks and other places that may not throw. */
  static void forLatch(CountDownLatch latch) {
    try {
      if (!latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("nobody counted down");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public static void join(Thread thread) throws InterruptedException {
    thread.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
    if (thread.isAlive()) {
      StringBuilder text = new StringBuilder(thread + " hangs");
      for (StackTraceElement frame : thread.getStackTrace()) {
        text.append("\n  at ").append(frame);
      }
      throw new AssertionError(text);
    }
  }

  /** Processor time of a live platform thread over an interval, as a share of it. */
  static double load(Thread thread, long millis) throws InterruptedException {
    var bean = ManagementFactory.getThreadMXBean();
    long begun = System.nanoTime();
    long before = bean.getThreadCpuTime(thread.threadId());
    Thread.sleep(millis);
    long burnt = bean.getThreadCpuTime(thread.threadId()) - before;
    return (double) burnt / (System.nanoTime() - begun);
  }

  /** Whether this JVM runs the suite for the second time, its native access refused. */
  public static boolean isRefusedRun() {
    return ManagementFactory.getRuntimeMXBean()
        .getInputArguments()
        .contains("--illegal-native-access=deny");
  }
}
