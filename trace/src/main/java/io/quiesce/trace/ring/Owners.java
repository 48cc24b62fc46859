package io.quiesce.trace.ring;

import java.util.Map;

/** Who reserved a record and never committed it. */
final class Owners {
  /** A virtual thread cannot be found by its number: it is given up after so many looks. */
  private static final int MOST_LOOKS = 10_000;

  private static final String TRACER = "io.quiesce.trace.";

  private Owners() {}

  /**
   * Whether the owner of a pending record has died, or has left the tracer without committing it.
   * Needs a safepoint and some milliseconds.
   *
   * @param owner the low bits of the thread's number
   * @param looks how often the record was seen pending
   */
  static boolean isGone(int owner, int looks) {
    for (Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
      if ((int) entry.getKey().threadId() == owner) {
        for (StackTraceElement frame : entry.getValue()) {
          if (frame.getClassName().startsWith(TRACER)) {
            return false;
          }
        }
        return true;
      }
    }
    return looks >= MOST_LOOKS;
  }
}
