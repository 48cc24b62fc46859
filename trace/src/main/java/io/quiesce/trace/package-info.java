/**
 * A tracer whose events cost about as much as reading the clock.
 *
 * <ul>
 *   <li>{@link io.quiesce.trace.TraceSession}: start here; a trace that is being recorded.
 *   <li>{@link io.quiesce.trace.Tracepoints}: what a program traces, as methods of an interface.
 *   <li>{@link io.quiesce.trace.Tracing}: a line of text as an event.
 * </ul>
 *
 * <p>Traces are in the Common Trace Format, for babeltrace2 and Trace Compass; {@code ./quiesce
 * trace --help} records, prints and repairs them.
 */
@NullMarked
package io.quiesce.trace;

import org.jspecify.annotations.NullMarked;
