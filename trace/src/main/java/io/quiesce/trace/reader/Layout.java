package io.quiesce.trace.reader;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes the values that a type consists of, once, so that events are decoded into them without
 * garbage; and finds what lengths and choices refer to.
 *
 * <p>A path such as {@code id} or {@code v.id} is sought in the structure around, among the fields
 * before, then in the one around that; {@code stream.event.header.id} and the like name their part.
 * An instance is one structure that is being laid out, with those around it.
 */
final class Layout {
  private static final Bits NOTHING = new Bits(MemorySegment.NULL, 0);

  /** Makes the exception for what cannot be laid out. */
  @FunctionalInterface
  interface Wrong {
    TraceFormatException because(String what);
  }

  /** The parts of a trace that paths can name, in the order in which they are read. */
  enum Part {
    PACKET_HEADER("trace.packet.header.", false),
    PACKET_CONTEXT("stream.packet.context.", false),
    EVENT_HEADER("stream.event.header.", true),
    STREAM_CONTEXT("stream.event.context.", true),
    EVENT_CONTEXT("event.context.", true),
    FIELDS("event.fields.", true);

    private final String prefix;

    /** Whether its times move the clock; a packet's end must not. */
    private final boolean clocked;

    Part(String prefix, boolean clocked) {
      this.prefix = prefix;
      this.clocked = clocked;
    }
  }

  private final @Nullable Layout outer;
  private final @Nullable StructValue struct;
  private final EnumMap<Part, StructValue> parts;
  private final boolean clocked;
  private final boolean header;

  private Layout(
      @Nullable Layout outer,
      @Nullable StructValue struct,
      EnumMap<Part, StructValue> parts,
      boolean clocked,
      boolean header) {
    this.outer = outer;
    this.struct = struct;
    this.parts = parts;
    this.clocked = clocked;
    this.header = header;
  }

  /** Lays out a part and enters it into the table, which holds those before. */
  static StructValue part(
      Part part, Type.Struct type, EnumMap<Part, StructValue> parts, Wrong wrong)
      throws TraceFormatException {
    Layout top = new Layout(null, null, parts, part.clocked, part == Part.EVENT_HEADER);
    StructValue value = new StructValue(type);
    parts.put(part, value);
    top.fill(value, wrong);
    return value;
  }

  /** Lays out all that the metadata describes, to see that it can be. */
  static void check(TraceSchema schema, StreamClass stream, Wrong wrong)
      throws TraceFormatException {
    EnumMap<Part, StructValue> parts = new EnumMap<>(Part.class);
    part(Part.PACKET_HEADER, schema.packetHeader(), parts, wrong);
    part(Part.PACKET_CONTEXT, stream.packetContext(), parts, wrong);
    part(Part.EVENT_HEADER, stream.eventHeader(), parts, wrong);
    part(Part.STREAM_CONTEXT, stream.eventContext(), parts, wrong);
    for (EventClass event : stream.events().values()) {
      Wrong inEvent = what -> wrong.because("event \"" + event.name() + "\": " + what);
      part(Part.EVENT_CONTEXT, event.context(), parts, inEvent);
      part(Part.FIELDS, event.fields(), parts, inEvent);
    }
  }

  private void fill(StructValue value, Wrong wrong) throws TraceFormatException {
    Layout inner = new Layout(this, value, parts, clocked, header);
    for (Type.Field field : value.type().fields()) {
      value.add(inner.value(field.type(), field.name(), wrong));
    }
  }

  /** Another element of a list in this structure. */
  Value element(Type.Listing type, Wrong wrong) throws TraceFormatException {
    return value(type.element(), "", wrong);
  }

  private Value value(Type type, String name, Wrong wrong) throws TraceFormatException {
    return switch (type) {
      case Type.Int integer -> {
        // Old metadata does not say what clock the header's time is of.
        boolean time = integer.clock() != null || (header && name.equals("timestamp"));
        yield new NumberValue(integer, clocked && time);
      }
      case Type.Scalar scalar -> new NumberValue(scalar, false);
      case Type.Text _ -> new TextValue(NOTHING);
      case Type.Struct inner -> {
        StructValue value = new StructValue(inner);
        fill(value, wrong);
        yield value;
      }
      case Type.Listing list -> {
        NumberValue length =
            list instanceof Type.Sequence sequence ? integer(sequence.length(), wrong) : null;
        yield list.element() instanceof Type.Scalar scalar
            ? new NumberListValue(list, scalar, length, NOTHING)
            : new ValueListValue(list, length, element(list, wrong), this);
      }
      case Type.Variant variant -> variant(variant, wrong);
    };
  }

  private Value variant(Type.Variant type, Wrong wrong) throws TraceFormatException {
    String path = type.tag();
    if (path == null) {
      throw wrong.because("a variant has no tag that chooses");
    }
    NumberValue tag = integer(path, wrong);
    if (!(tag.type() instanceof Type.Enumeration labels)) {
      throw wrong.because("the tag \"" + path + "\" of a variant is an enumeration");
    }
    Value[] options = new Value[type.options().size()];
    for (int i = 0; i < options.length; i++) {
      options[i] = value(type.options().get(i).type(), type.options().get(i).name(), wrong);
    }
    return new VariantValue(type, tag, labels, options);
  }

  private NumberValue integer(String path, Wrong wrong) throws TraceFormatException {
    if (find(path) instanceof NumberValue number && !(number.type() instanceof Type.Real)) {
      return number;
    }
    throw wrong.because("no integer \"" + path + "\" comes before what refers to it");
  }

  private @Nullable Value find(String path) {
    for (Part part : Part.values()) {
      StructValue value = parts.get(part);
      if (value != null && path.startsWith(part.prefix)) {
        return below(value, path.substring(part.prefix.length()));
      }
    }
    for (Layout layout = this; layout != null; layout = layout.outer) {
      Value value = layout.struct == null ? null : below(layout.struct, path);
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  private static @Nullable Value below(StructValue struct, String path) {
    Value value = struct;
    for (String name : path.split("\\.", -1)) {
      value = value instanceof StructValue inner ? inner.written(name) : null;
    }
    return value;
  }
}
