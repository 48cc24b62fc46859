/**
 * The ring buffers between the threads that trace and the one that writes: lock-free, one for each
 * CPU, in a mapped file that survives the program.
 *
 * <ul>
 *   <li>{@link io.quiesce.trace.ring.RingBuffers}: start here; a record's and a sub-buffer's life.
 *   <li>{@code RingLayout}: the words in the file. {@code RingMemory}: the file.
 *   <li>{@code HotPath} and its three forms: how a record is reserved.
 *   <li>{@code SubBufferWalk}: how records are found again.
 *   <li>{@code Stamps}, {@code Anchors}: the clock.
 *   <li>{@code Consumer}, {@code Snapshot}, {@code Recovery}: from the rings into a trace.
 * </ul>
 *
 * <p>docs/trace.md argues the design; verify/spin has the model of it.
 */
@NullMarked
package io.quiesce.trace.ring;

import org.jspecify.annotations.NullMarked;
