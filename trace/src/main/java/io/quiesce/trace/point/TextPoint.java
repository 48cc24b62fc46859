package io.quiesce.trace.point;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ctf.Utf8;
import io.quiesce.trace.ring.RingBuffers;
import java.lang.ref.Reference;
import java.util.List;

/**
 * The text event {@code quiesce:text}, written by hand: what generated encoders do, for one string.
 */
public final class TextPoint {
  private static final int LEVEL_INFO = 6;
  private static final Point POINT =
      Points.of("quiesce", "text", LEVEL_INFO, List.of(Field.text("message")));

  private TextPoint() {}

  /** Writes the event, if somebody wants it. */
  public static void emit(String message) {
    for (Target target = POINT.target(); target != null; target = target.next()) {
      if (target.filter() == EventFilter.ALL || target.filter().test(new Object[] {message})) {
        emit(target, message);
      }
    }
  }

  private static void emit(Target target, String message) {
    RingBuffers ring = target.ring();
    EventContext context = target.context();
    long shared = context == EventContext.NONE ? 0 : context.bytes();
    long bytes = shared + Utf8.size(message);
    long record = ring.reserve(bytes);
    if (record == 0) {
      return;
    }
    boolean stored = false;
    try {
      long at = RingBuffers.fields(record);
      if (shared > 0) {
        at = context.store(ring.memory(), at, at + shared);
      }
      Utf8Store.store(ring.memory(), at, message);
      ring.commit(record, bytes, target.id());
      stored = true;
    } finally {
      if (!stored) {
        ring.abandon(record, bytes);
      }
      Reference.reachabilityFence(ring);
    }
  }
}
