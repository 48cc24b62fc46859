package io.quiesce.trace.reader;

import java.nio.file.Path;

/**
 * What a packet tells of itself. Immutable.
 *
 * @param file where it is
 * @param offset in bytes from the file's start
 * @param bytes its size
 * @param cpu the CPU whose events it holds, or -1
 * @param begin nanoseconds since 1970, not after its first event
 * @param end nanoseconds since 1970, not before its last event
 * @param sequence its number in the stream, or -1
 * @param discarded events of the stream that were lost up to its end; -1 if it does not say
 * @param lostEvents of these, since the end of the packet before; 0 in the first one
 * @param lostPackets how many are missing between it and the packet before
 */
public record Packet(
    Path file,
    long offset,
    long bytes,
    int cpu,
    long begin,
    long end,
    long sequence,
    long discarded,
    long lostEvents,
    long lostPackets) {}
