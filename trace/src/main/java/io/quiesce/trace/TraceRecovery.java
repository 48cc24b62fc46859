package io.quiesce.trace;

/**
 * What a recovery found in the buffers of a program that was killed. Immutable.
 *
 * @param packets that were added to the trace
 * @param events in them
 * @param uncommitted events that were being stored at that moment, and are lost
 * @param unknown events whose type never reached the disk, and are lost
 */
public record TraceRecovery(long packets, long events, long uncommitted, long unknown) {
  /** The trace was whole. */
  static final TraceRecovery NOTHING = new TraceRecovery(0, 0, 0, 0);
}
