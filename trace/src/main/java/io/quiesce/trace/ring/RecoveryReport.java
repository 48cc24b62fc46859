package io.quiesce.trace.ring;

/**
 * What a recovery found in the buffers.
 *
 * @param packets added to the trace
 * @param events in them
 * @param uncommitted events that were being stored when the program died, and are lost; with them
 *     the records that a thread had abandoned before and that no consumer had counted
 * @param unknown events whose type never came into the metadata, and are lost
 * @param lost what the producers had counted as lost, by cause; its {@code events} and {@code
 *     failures} are 0
 */
public record RecoveryReport(
    long packets, long events, long uncommitted, long unknown, RingStatistics lost) {}
