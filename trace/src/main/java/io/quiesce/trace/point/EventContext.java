package io.quiesce.trace.point;

import io.quiesce.trace.ctf.Field;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * What a session adds to each event: thread numbers, names. Sized first and then stored, as fields
 * are; both calls come from the traced thread. Thread-safe.
 */
public interface EventContext {
  /** Nothing; compared by identity, so that it costs no call. */
  EventContext NONE =
      new EventContext() {
        @Override
        public List<Field> fields() {
          return List.of();
        }

        @Override
        public long bytes() {
          return 0;
        }

        @Override
        public long store(MemorySegment memory, long at, long end) {
          return at;
        }
      };

  /** The fields, in order. */
  List<Field> fields();

  /** How many bytes they take now. */
  long bytes();

  /**
   * Stores them.
   *
   * @param memory what {@link io.quiesce.trace.ring.Store} wants
   * @param at the place of the first byte
   * @param end the place behind the last one that {@link #bytes} asked for
   * @return the place behind them
   */
  long store(MemorySegment memory, long at, long end);
}
