package io.quiesce.rcu;

import jdk.jfr.FlightRecorder;

/**
 * The way to JFR, closed where the module {@code jdk.jfr} is absent and until somebody records: the
 * first event class starts JFR, which takes a good part of a second that no grace period should
 * pay. A recording that names the events before they exist gets them all the same.
 */
final class RcuEvents {
  private static final boolean PRESENT =
      ModuleLayer.boot().findModule("jdk.jfr").isPresent()
          && (RcuEvents.class.getModule().getLayer() == null
              || RcuEvents.class
                  .getModule()
                  .canRead(ModuleLayer.boot().findModule("jdk.jfr").orElseThrow()));

  private RcuEvents() {}

  /** Apart, so that nothing of JFR is loaded where it is absent. */
  private static final class Recorder {
    static boolean isUsed() {
      return FlightRecorder.isInitialized();
    }
  }

  static void gracePeriod(String domain, long begunNanos, int waitedFor, boolean expedited) {
    if (PRESENT && Recorder.isUsed()) {
      JfrEvents.gracePeriod(domain, begunNanos, waitedFor, expedited);
    }
  }

  static void stall(String domain, long elapsedNanos, String report) {
    if (PRESENT && Recorder.isUsed()) {
      JfrEvents.stall(domain, elapsedNanos, report);
    }
  }

  static void batch(String domain, String worker, long callbacks, long bytes, long begunNanos) {
    if (PRESENT && Recorder.isUsed()) {
      JfrEvents.batch(domain, worker, callbacks, bytes, begunNanos);
    }
  }
}
