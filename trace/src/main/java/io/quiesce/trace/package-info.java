/**
 * A tracer whose events cost about as much as reading the clock.
 *
 * <ul>
 *   <li>{@link io.quiesce.trace.Tracepoints}: what a program traces, as methods of an interface.
 * </ul>
 *
 * <p>Traces are in the Common Trace Format, for babeltrace2 and Trace Compass.
 */
@NullMarked
package io.quiesce.trace;

import org.jspecify.annotations.NullMarked;
