package io.quiesce.trace.ring;

import java.util.Map;
import java.util.Set;

/** Who reserved a record and never committed it. */
final class Owners {
  /** A virtual thread cannot be found by its number: it is given up after so many looks. */
  private static final int MOST_LOOKS = 10_000;

  private static final String TRACER = "io.quiesce.trace.";

  private Owners() {}

  /**
   * Whether the owners of pending records have all died, or have left the tracer without committing
   * them. Needs a safepoint and some milliseconds.
   *
   * @param owners the low bits of the threads' numbers; 0 for one that is not known, which may be
   *     any that is in the tracer
   * @param looks how often the records were seen pending
   */
  static boolean areGone(Set<Integer> owners, int looks) {
    int found = 0;
    for (Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
      Thread thread = entry.getKey();
      boolean owns = owners.contains((int) thread.threadId());
      boolean may = owns || (owners.contains(0) && thread != Thread.currentThread());
      if (may && isInTracer(entry.getValue())) {
        return false;
      }
      found += owns ? 1 : 0;
    }
    return found == owners.size() || looks >= MOST_LOOKS;
  }

  /** Whether a platform thread has died, or has left the tracer. As slow as {@link #areGone}. */
  static boolean isGone(int owner) {
    for (Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
      if ((int) entry.getKey().threadId() == owner && isInTracer(entry.getValue())) {
        return false;
      }
    }
    return true;
  }

  private static boolean isInTracer(StackTraceElement[] stack) {
    for (StackTraceElement frame : stack) {
      if (frame.getClassName().startsWith(TRACER)) {
        return true;
      }
    }
    return false;
  }
}
