package io.quiesce.trace.point;

/** Chooses events by the values of their fields. */
@FunctionalInterface
public interface EventFilter {
  /** All events; compared by identity, so that it costs no call. */
  EventFilter ALL = values -> true;

  /**
   * Whether an event is wanted. Must not throw, and must not keep the array.
   *
   * @param values of its fields, boxed, in order
   */
  boolean test(Object[] values);
}
