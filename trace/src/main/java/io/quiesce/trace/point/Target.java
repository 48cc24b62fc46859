package io.quiesce.trace.point;

import io.quiesce.trace.ring.RingBuffers;
import org.jspecify.annotations.Nullable;

/**
 * Where a tracepoint's events go: one session's rings, with the id that the session gave it.
 * Immutable, so that it may be published by any kind of store; the sessions that want the same
 * tracepoint form a list.
 */
public final class Target {
  private final RingBuffers ring;
  private final int id;
  private final EventFilter filter;
  private final EventContext context;
  private final Object session;
  private final @Nullable Target next;

  Target(
      Object session,
      RingBuffers ring,
      int id,
      EventFilter filter,
      EventContext context,
      @Nullable Target next) {
    this.session = session;
    this.ring = ring;
    this.id = id;
    this.filter = filter;
    this.context = context;
    this.next = next;
  }

  /** Whose it is. */
  Object session() {
    return session;
  }

  /** The rings. */
  public RingBuffers ring() {
    return ring;
  }

  /** The event type's number. */
  public int id() {
    return id;
  }

  /** Which events are wanted; {@link EventFilter#ALL} if all are. */
  public EventFilter filter() {
    return filter;
  }

  /** What stands before the event's own fields; {@link EventContext#NONE} if nothing does. */
  public EventContext context() {
    return context;
  }

  /** The next session's, or null. */
  public @Nullable Target next() {
    return next;
  }

  Target with(@Nullable Target other) {
    return new Target(session, ring, id, filter, context, other);
  }
}
