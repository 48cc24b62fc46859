/**
 * Where events come from without a tracepoint in the program: logging, Quiesce's own core, garbage
 * collections.
 *
 * <p>{@link io.quiesce.trace.source.Sources} puts them in place when the first session begins;
 * {@link io.quiesce.trace.source.Emitter} stores events of a few strings and numbers. Each source
 * does nothing but look at one field while nobody wants its events.
 */
@NullMarked
package io.quiesce.trace.source;

import org.jspecify.annotations.NullMarked;
