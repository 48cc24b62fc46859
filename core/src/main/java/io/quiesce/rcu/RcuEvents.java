package io.quiesce.rcu;

import io.quiesce.internal.Facilities;

/** The way to JFR, closed where it is absent and until somebody records. */
final class RcuEvents {
  private RcuEvents() {}

  static void gracePeriod(String domain, long begunNanos, int waitedFor, boolean expedited) {
    if (Facilities.isRecording()) {
      JfrEvents.gracePeriod(domain, begunNanos, waitedFor, expedited);
    }
  }

  static void stall(String domain, long elapsedNanos, String report) {
    if (Facilities.isRecording()) {
      JfrEvents.stall(domain, elapsedNanos, report);
    }
  }

  static void batch(String domain, String worker, long callbacks, long bytes, long begunNanos) {
    if (Facilities.isRecording()) {
      JfrEvents.batch(domain, worker, callbacks, bytes, begunNanos);
    }
  }
}
