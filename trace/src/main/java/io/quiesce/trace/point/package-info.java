/**
 * Tracepoints: what they are called, who wants their events, how an event is stored.
 *
 * <p>{@link io.quiesce.trace.point.Point} is what a traced program calls; {@link
 * io.quiesce.trace.point.Points} joins tracepoints and sessions; {@link
 * io.quiesce.trace.point.Target} is what a session leaves at a tracepoint that it wants.
 */
@NullMarked
package io.quiesce.trace.point;

import org.jspecify.annotations.NullMarked;
