package io.quiesce.trace.ring;

/**
 * What a recovery found in the buffers.
 *
 * @param packets added to the trace
 * @param events in them
 * @param uncommitted events that were being stored when the program died, and are lost
 * @param unknown events whose type never came into the metadata, and are lost
 */
public record RecoveryReport(long packets, long events, long uncommitted, long unknown) {}
