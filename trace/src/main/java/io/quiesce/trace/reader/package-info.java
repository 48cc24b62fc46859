/**
 * Reads traces of the Common Trace Format, versions 1.8 and 2: those of Quiesce, of LTTng-UST, and
 * what else keeps to the format.
 *
 * <pre>
 *   TraceReader      opens folders, merges the streams by time, is a cursor over events
 *     TraceStream    the events of one CPU, and what was lost of them
 *       PacketFile   the packets of a file, one in memory at a time
 *         Decoder, Bits   where in a packet the reading stands; integers of any bits at any bit
 *     Event, Value   what an event holds: a view that is used again and again, or a copy
 *
 *   TraceSchema      what the metadata says: clocks, environment, streams, event types, Type
 *     SchemaParser, TypeParser, Attributes, Lexer, Scope   the language it is written in
 *     MetadataText   its packets, if it comes in such
 *   Layout           from Type to Value: made once, decoded into for each event
 *
 *   TraceText        an event as a line of text, in babeltrace2's manner
 *   TraceStatistics  events by type, thread and CPU, rate and losses
 * </pre>
 *
 * <p>Start with {@link io.quiesce.trace.reader.TraceReader}. Whatever a file holds, it yields
 * events or a {@link io.quiesce.trace.reader.TraceFormatException} that names the byte. Choices and
 * limits: the section on reading in {@code docs/trace-format.md}.
 */
@NullMarked
package io.quiesce.trace.reader;

import org.jspecify.annotations.NullMarked;
