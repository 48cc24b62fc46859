package io.quiesce.rcu;

/**
 * The way to JFR, closed where the module {@code jdk.jfr} is absent: the event classes are loaded
 * only behind {@link #PRESENT}.
 */
final class RcuEvents {
  private static final boolean PRESENT =
      ModuleLayer.boot().findModule("jdk.jfr").isPresent()
          && (RcuEvents.class.getModule().getLayer() == null
              || RcuEvents.class
                  .getModule()
                  .canRead(ModuleLayer.boot().findModule("jdk.jfr").orElseThrow()));

  private RcuEvents() {}

  static void gracePeriod(String domain, long begunNanos, int waitedFor, boolean expedited) {
    if (PRESENT) {
      JfrEvents.gracePeriod(domain, begunNanos, waitedFor, expedited);
    }
  }

  static void stall(String domain, long elapsedNanos, String report) {
    if (PRESENT) {
      JfrEvents.stall(domain, elapsedNanos, report);
    }
  }

  static void batch(String domain, String worker, long callbacks, long bytes, long begunNanos) {
    if (PRESENT) {
      JfrEvents.batch(domain, worker, callbacks, bytes, begunNanos);
    }
  }
}
