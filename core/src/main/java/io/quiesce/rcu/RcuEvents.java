package io.quiesce.rcu;

import io.quiesce.internal.Facilities;
import io.quiesce.internal.Listeners;

/**
 * The ways to listeners and to JFR; the latter is closed where it is absent and until somebody
 * records. A listener's failure never gets here, one of JFR may.
 */
final class RcuEvents {
  private RcuEvents() {}

  static void gracePeriodBegun(Rcu rcu) {
    if (Listeners.isAnybody()) {
      String flavour = rcu.flavour().name();
      Listeners.tell(listener -> listener.gracePeriodBegun(rcu.name(), flavour));
    }
  }

  static void gracePeriod(Rcu rcu, long begunNanos, int waitedFor, boolean expedited) {
    if (Listeners.isAnybody()) {
      long nanos = System.nanoTime() - begunNanos;
      String flavour = rcu.flavour().name();
      Listeners.tell(
          listener ->
              listener.gracePeriodEnded(
                  rcu.name(), flavour, begunNanos, nanos, waitedFor, expedited));
    }
    if (Facilities.isRecording()) {
      JfrEvents.gracePeriod(rcu.name(), begunNanos, waitedFor, expedited);
    }
  }

  static void stall(String domain, long elapsedNanos, String report) {
    if (Listeners.isAnybody()) {
      Listeners.tell(listener -> listener.gracePeriodStalled(domain, elapsedNanos, report));
    }
    if (Facilities.isRecording()) {
      JfrEvents.stall(domain, elapsedNanos, report);
    }
  }

  static void batch(String domain, String worker, long callbacks, long bytes, long begunNanos) {
    if (Listeners.isAnybody()) {
      long nanos = System.nanoTime() - begunNanos;
      Listeners.tell(
          listener -> listener.callbacksRun(domain, worker, callbacks, bytes, begunNanos, nanos));
    }
    if (Facilities.isRecording()) {
      JfrEvents.batch(domain, worker, callbacks, bytes, begunNanos);
    }
  }
}
