/**
 * The Common Trace Format, version 1.8 or 2, as LTTng-UST writes it: what a trace folder holds,
 * byte by byte. No buffers, no threads, no tracepoints.
 *
 * <pre>
 *   folder/metadata           text: trace, clock, environment, event types       Metadata
 *   folder/channel0_CPU       packets, one after the other                       StreamFile
 *   folder/index/channel0_CPU.idx   one entry of 72 bytes for each packet        StreamFile
 *
 *   packet: [ header 32 | context 52 | event | event | ... | zeros to a multiple of 8 ]   PacketLayout
 *   event:  [ header 4 or 13 | context fields | fields ]                            EventHeader, Values
 * </pre>
 *
 * <ul>
 *   <li>{@link io.quiesce.trace.ctf.EventType}, {@link io.quiesce.trace.ctf.Field}: what an event
 *       is.
 *   <li>{@link io.quiesce.trace.ctf.TraceDescription}: what all events share: clock, environment,
 *       context.
 *   <li>{@link io.quiesce.trace.ctf.Metadata}: the file that tells it to readers.
 *   <li>{@link io.quiesce.trace.ctf.PacketWriter}: events into one packet.
 *   <li>{@link io.quiesce.trace.ctf.StreamFile}: packets into the file of one CPU, and its index.
 * </ul>
 *
 * <p>The order that readers need: an event type is in the metadata before a packet that holds such
 * an event is in its file. Choices and limits: {@code docs/trace-format.md}.
 */
@NullMarked
package io.quiesce.trace.ctf;

import org.jspecify.annotations.NullMarked;
