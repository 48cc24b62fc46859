package io.quiesce.trace.reader;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An event of a trace: a view of the event on which the reader stands, or a copy, which stays.
 *
 * <p>A view is not thread-safe and holds until the reader moves; a copy is immutable.
 */
public final class Event {
  /** The value of {@link #cpu}, {@link #vpid} and {@link #vtid} when a trace does not tell. */
  public static final int UNKNOWN = -1;

  /** The values that belong to an event. */
  record Parts(
      StructValue packetContext,
      StructValue streamContext,
      StructValue context,
      StructValue fields) {
    Parts copy(Bits packet, Bits source) {
      return new Parts(
          packetContext.copy(packet),
          streamContext.copy(source),
          context.copy(source),
          fields.copy(source));
    }
  }

  private final TraceStream stream;
  private @Nullable EventClass type;
  private @Nullable Parts parts;
  private @Nullable Packet packet;
  private @Nullable Decoder decoder;
  private @Nullable NumberValue process;
  private @Nullable NumberValue thread;
  private long ticks;
  private long nanos;
  private long start;
  private long headBits;

  Event(TraceStream stream) {
    this.stream = stream;
  }

  void set(
      EventClass type,
      long ticks,
      long start,
      Decoder decoder,
      Parts parts,
      @Nullable NumberValue process,
      @Nullable NumberValue thread) {
    this.type = type;
    this.ticks = ticks;
    this.nanos = stream.clock().nanosOf(ticks);
    this.start = start;
    this.decoder = decoder;
    this.parts = parts;
    this.process = process;
    this.thread = thread;
    this.packet = stream.packet();
    this.headBits = stream.headBits();
  }

  private static <T> T there(@Nullable T part) {
    return Objects.requireNonNull(part, "The reader stands on no event");
  }

  /** Nanoseconds since 1970; see {@link TraceClock#nanosOf}. */
  public long timeNanos() {
    return nanos;
  }

  /** The time as the trace has it, in ticks of its clock. */
  public long ticks() {
    return ticks;
  }

  /** The CPU on which it happened, or {@link #UNKNOWN}. */
  public int cpu() {
    return packet().cpu();
  }

  /** The whole name, such as {@code provider:name}. */
  public String name() {
    return type().name();
  }

  /** LTTng's scale, from 0 (emergency) to 14 (debug), or {@link EventClass#NO_LEVEL}. */
  public int level() {
    return type().level();
  }

  /** The process, if the trace has a context field {@code vpid} or {@code pid}. */
  public long vpid() {
    return process == null ? UNKNOWN : process.asLong();
  }

  /** The thread, if the trace has a context field {@code vtid} or {@code tid}. */
  public long vtid() {
    return thread == null ? UNKNOWN : thread.asLong();
  }

  /** What events of its kind are. */
  public EventClass type() {
    return there(type);
  }

  /** Where it is from, and what is known of that stream so far. */
  public TraceStream stream() {
    return stream;
  }

  /** The packet that holds it. */
  public Packet packet() {
    return there(packet);
  }

  /** What the packet tells of itself, field by field. */
  public Value packetContext() {
    return there(parts).packetContext;
  }

  /** The context that all events of the stream have; a structure, often empty. */
  public Value streamContext() {
    return there(parts).streamContext;
  }

  /** The context that events of its kind alone have; a structure, often empty. */
  public Value context() {
    return there(parts).context;
  }

  /** Its own fields, a structure. */
  public Value fields() {
    return there(parts).fields;
  }

  /** A field by its name for people; else a context field; else null. */
  public @Nullable Value field(String name) {
    Parts all = there(parts);
    Value value = all.fields.field(name);
    if (value == null) {
      value = all.context.field(name);
    }
    return value == null ? all.streamContext.field(name) : value;
  }

  private Value required(String name) {
    Value value = field(name);
    if (value == null) {
      throw new IllegalArgumentException(name() + " has no field " + name);
    }
    return value;
  }

  /**
   * The field's {@link Value#asLong}.
   *
   * @throws IllegalArgumentException if there is no such field
   */
  public long getLong(String name) {
    return required(name).asLong();
  }

  /**
   * The field's {@link Value#asDouble}.
   *
   * @throws IllegalArgumentException if there is no such field
   */
  public double getDouble(String name) {
    return required(name).asDouble();
  }

  /**
   * The field's {@link Value#asText}.
   *
   * @throws IllegalArgumentException if there is no such field
   */
  public String getText(String name) {
    return required(name).asText();
  }

  /** A copy that stays when the reader moves. Its size is that of the event and some objects. */
  public Event copy() {
    Event copy = new Event(stream);
    copy.type = type();
    copy.ticks = ticks;
    copy.nanos = nanos;
    copy.packet = packet;
    copy.process = process == null ? null : process.copy();
    copy.thread = thread == null ? null : thread.copy();
    if (decoder != null) {
      Bits bits = decoder.bits;
      copy.parts = there(parts).copy(bits.copy(0, headBits), bits.copy(start, decoder.at));
    } else {
      copy.parts = parts;
    }
    return copy;
  }

  /** As {@link TraceText} prints it, without the step of time. */
  @Override
  public String toString() {
    return type == null ? "no event" : new TraceText().line(this);
  }
}
