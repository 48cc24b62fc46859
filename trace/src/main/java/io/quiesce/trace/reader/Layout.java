package io.quiesce.trace.reader;

import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the values that a type consists of, once, so that events are decoded into them without
 * garbage; and finds what lengths and choices refer to.
 *
 * <p>A path such as {@code id} or {@code v.id} is sought in the structure around, among the fields
 * before, then in the one around that; {@code stream.event.header.id} and the like name their part.
 * A path of CTF 2 says where it begins: {@link #STEP}, a part's name or nothing, and its steps. An
 * instance is one structure that is being laid out, with those around it.
 */
final class Layout {
  /** Before each step of a CTF 2 path; no name has it. */
  static final String STEP = "\u001e";

  /** The step to the structure around. */
  static final String UP = "\u0000";

  private static final Bits NOTHING = new Bits(MemorySegment.NULL, 0);

  /** Makes the exception for what cannot be laid out. */
  @FunctionalInterface
  interface Wrong {
    TraceFormatException because(String what);
  }

  /** The parts of a trace that paths can name, in the order in which they are read. */
  enum Part {
    PACKET_HEADER("trace.packet.header.", "packet-header", false),
    PACKET_CONTEXT("stream.packet.context.", "packet-context", false),
    EVENT_HEADER("stream.event.header.", "event-record-header", true),
    STREAM_CONTEXT("stream.event.context.", "event-record-common-context", true),
    EVENT_CONTEXT("event.context.", "event-record-specific-context", true),
    FIELDS("event.fields.", "event-record-payload", true);

    private final String prefix;
    private final String origin;

    /** Whether its times move the clock; a packet's end must not. */
    private final boolean clocked;

    Part(String prefix, String origin, boolean clocked) {
      this.prefix = prefix;
      this.origin = origin;
      this.clocked = clocked;
    }

    /** The part that CTF 2 calls so, or null. */
    static @Nullable Part ofOrigin(String origin) {
      for (Part part : values()) {
        if (part.origin.equals(origin)) {
          return part;
        }
      }
      return null;
    }
  }

  private final @Nullable Layout outer;
  private final @Nullable StructValue struct;

  /** Which field of the structure is being laid out, by its name in the metadata. */
  private final String member;

  private final EnumMap<Part, StructValue> parts;
  private final boolean clocked;
  private final boolean header;

  private Layout(
      @Nullable Layout outer,
      @Nullable StructValue struct,
      String member,
      EnumMap<Part, StructValue> parts,
      boolean clocked,
      boolean header) {
    this.outer = outer;
    this.struct = struct;
    this.member = member;
    this.parts = parts;
    this.clocked = clocked;
    this.header = header;
  }

  /** Lays out a part and enters it into the table, which holds those before. */
  static StructValue part(
      Part part, Type.Struct type, EnumMap<Part, StructValue> parts, Wrong wrong)
      throws TraceFormatException {
    Layout top = new Layout(null, null, "", parts, part.clocked, part == Part.EVENT_HEADER);
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
    for (Type.Field field : value.type().fields()) {
      Layout inner = new Layout(this, value, field.written(), parts, clocked, header);
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
    Type.Enumeration labels = labels(type, tag);
    if (labels == null) {
      throw wrong.because("the tag \"" + path + "\" of a variant is an enumeration");
    }
    Value[] options = new Value[type.options().size()];
    for (int i = 0; i < options.length; i++) {
      options[i] = value(type.options().get(i).type(), type.options().get(i).name(), wrong);
    }
    return new VariantValue(type, tag, labels, options);
  }

  /** What of the tag chooses; the labels' texts are the options' names. */
  private static Type.@Nullable Enumeration labels(Type.Variant type, NumberValue tag) {
    List<Type.Choice> choices = type.choices();
    if (choices == null) {
      return tag.type() instanceof Type.Enumeration labels ? labels : null;
    }
    Type.Int container =
        switch (tag.type()) {
          case Type.Int integer -> integer;
          case Type.Enumeration enumeration -> enumeration.container();
          case Type.Real _ -> throw new IllegalStateException("integer() gives none");
        };
    List<Type.Label> labels = new ArrayList<>();
    for (Type.Choice choice : choices) {
      String name = type.options().get(choice.option()).written();
      Type.Label label = Type.Label.within(name, choice.low(), choice.high(), container.signed());
      if (label != null) {
        labels.add(label);
      }
    }
    return new Type.Enumeration(container, labels);
  }

  private NumberValue integer(String path, Wrong wrong) throws TraceFormatException {
    if (find(path) instanceof NumberValue number && !(number.type() instanceof Type.Real)) {
      return number;
    }
    throw wrong.because("no integer \"" + path + "\" comes before what refers to it");
  }

  private @Nullable Value find(String path) {
    if (path.startsWith(STEP)) {
      return locate(path.split(STEP, -1));
    }
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

  /**
   * A place of CTF 2. The structures around are known, those in which they lie too, and through
   * which member; so a path may lead down again into what is being laid out.
   *
   * @param steps nothing, the origin or nothing, then names or {@link #UP}
   */
  private @Nullable Value locate(String[] steps) {
    List<Layout> around = new ArrayList<>();
    for (Layout layout = this; layout != null && layout.struct != null; layout = layout.outer) {
      around.addFirst(layout);
    }
    List<StructValue> way = new ArrayList<>();
    if (steps[1].isEmpty()) {
      around.forEach(layout -> way.add(requireNonNull(layout.struct)));
    } else {
      StructValue origin = parts.get(Part.valueOf(steps[1]));
      if (origin != null) {
        way.add(origin);
      }
    }
    Value found = null;
    for (int i = 2; i < steps.length; i++) {
      if (way.isEmpty()) {
        return null;
      }
      if (steps[i].equals(UP)) {
        way.removeLast();
        continue;
      }
      int depth = way.size() - 1;
      boolean within =
          depth + 1 < around.size()
              && around.get(depth).struct == way.getLast()
              && around.get(depth).member.equals(steps[i]);
      found = within ? around.get(depth + 1).struct : way.getLast().written(steps[i]);
      if (found instanceof StructValue struct) {
        way.add(struct);
      } else if (i < steps.length - 1) {
        return null;
      }
    }
    return found;
  }

  private static @Nullable Value below(StructValue struct, String path) {
    Value value = struct;
    for (String name : path.split("\\.", -1)) {
      value = value instanceof StructValue inner ? inner.written(name) : null;
    }
    return value;
  }
}
