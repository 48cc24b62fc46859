package io.quiesce.rcu;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The JFR events of RCU; reached through {@link RcuEvents} only. */
final class JfrEvents {
  private JfrEvents() {}

  @Name("io.quiesce.GracePeriod")
  @Label("RCU grace period")
  @Description("One grace period, from its beginning to its end")
  @Category({"Quiesce", "RCU"})
  @StackTrace(false)
  static final class GracePeriodEvent extends Event {
    @Label("Domain")
    String domain = "";

    @Label("Length")
    @Timespan
    long length;

    @Label("Readers waited for")
    int waitedFor;

    @Label("Expedited")
    boolean expedited;
  }

  @Name("io.quiesce.Stall")
  @Label("RCU stall")
  @Description("A grace period that lasts longer than the domain's stall limit")
  @Category({"Quiesce", "RCU"})
  @StackTrace(false)
  static final class StallEvent extends Event {
    @Label("Domain")
    String domain = "";

    @Label("Waited so far")
    @Timespan
    long waited;

    @Label("Report")
    String report = "";
  }

  @Name("io.quiesce.CallbackBatch")
  @Label("RCU callback batch")
  @Description("Callbacks and retired blocks that one worker ran after one grace period")
  @Category({"Quiesce", "RCU"})
  @StackTrace(false)
  static final class CallbackBatchEvent extends Event {
    @Label("Domain")
    String domain = "";

    @Label("Worker")
    String worker = "";

    @Label("Callbacks and blocks")
    long callbacks;

    @Label("Bytes retired")
    @DataAmount
    long bytes;

    @Label("Length")
    @Timespan
    long length;
  }

  static void gracePeriod(String domain, long begunNanos, int waitedFor, boolean expedited) {
    GracePeriodEvent event = new GracePeriodEvent();
    if (event.shouldCommit()) {
      event.domain = domain;
      event.length = System.nanoTime() - begunNanos;
      event.waitedFor = waitedFor;
      event.expedited = expedited;
      event.commit();
    }
  }

  static void stall(String domain, long elapsedNanos, String report) {
    StallEvent event = new StallEvent();
    if (event.shouldCommit()) {
      event.domain = domain;
      event.waited = elapsedNanos;
      event.report = report;
      event.commit();
    }
  }

  static void batch(String domain, String worker, long callbacks, long bytes, long begunNanos) {
    CallbackBatchEvent event = new CallbackBatchEvent();
    if (event.shouldCommit()) {
      event.domain = domain;
      event.worker = worker;
      event.callbacks = callbacks;
      event.bytes = bytes;
      event.length = System.nanoTime() - begunNanos;
      event.commit();
    }
  }
}
