package io.quiesce.trace;

/**
 * What a recovery found in the buffers of a program that was killed. Immutable.
 *
 * @param packets that were added to the trace
 * @param events in them
 * @param uncommitted events that were being stored at that moment or were given up in the middle,
 *     and are lost; {@code lost} does not have them
 * @param unknown events whose type never reached the disk, and are lost
 * @param lost what the program itself had counted as lost, by cause; {@code written} and {@code
 *     failures} are 0
 */
public record TraceRecovery(
    long packets, long events, long uncommitted, long unknown, TraceCounts lost) {
  /** The trace was whole. */
  static final TraceRecovery NOTHING =
      new TraceRecovery(0, 0, 0, 0, new TraceCounts(0, 0, 0, 0, 0, 0));
}
