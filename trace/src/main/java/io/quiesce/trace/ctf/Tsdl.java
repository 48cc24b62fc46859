package io.quiesce.trace.ctf;

import java.util.List;
import java.util.StringJoiner;
import java.util.UUID;

/**
 * The text of the metadata, in the trace stream description language of CTF 1.8.
 *
 * <p>Made of blocks: each begins at the start of a line and ends with {@link #END}, which is found
 * nowhere else, since what is inside a block is indented and no literal holds a line break. So a
 * file that was cut in mid-block can be cut back to whole ones.
 */
final class Tsdl {
  /** What each block ends with. */
  static final String END = "\n};\n";

  private static final String INTEGERS =
      """
      typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
      typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
      typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
      typealias integer { size = 5; align = 1; signed = false; } := uint5_t;

      """;

  private static final String CLOCKED =
      """
      typealias integer {
      \tsize = 27; align = 1; signed = false;
      \tmap = clock.monotonic.value;
      } := uint27_clock_monotonic_t;

      typealias integer {
      \tsize = 64; align = 8; signed = false;
      \tmap = clock.monotonic.value;
      } := uint64_clock_monotonic_t;

      struct packet_context {
      \tuint64_clock_monotonic_t timestamp_begin;
      \tuint64_clock_monotonic_t timestamp_end;
      \tuint64_t content_size;
      \tuint64_t packet_size;
      \tuint64_t packet_seq_num;
      \tuint64_t events_discarded;
      \tuint32_t cpu_id;
      };

      struct event_header_compact {
      \tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;
      \tvariant <id> {
      \t\tstruct {
      \t\t\tuint27_clock_monotonic_t timestamp;
      \t\t} compact;
      \t\tstruct {
      \t\t\tuint32_t id;
      \t\t\tuint64_clock_monotonic_t timestamp;
      \t\t} extended;
      \t} v;
      } align(8);

      """;

  private Tsdl() {}

  /** All that comes before the first event type. */
  static String preamble(TraceDescription trace) {
    StringBuilder text = new StringBuilder("/* CTF 1.8 */\n\n").append(INTEGERS);
    text.append("trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = ").append(quoted(trace.uuid()));
    text.append(";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n");
    text.append("\t\tuint8_t  uuid[16];\n\t\tuint32_t stream_id;\n");
    text.append("\t\tuint64_t stream_instance_id;\n\t};").append(END);
    environment(text, trace);
    clock(text, trace.clock());
    text.append(CLOCKED);
    text.append("stream {\n\tid = 0;\n\tevent.header := struct event_header_compact;\n");
    text.append("\tpacket.context := struct packet_context;");
    if (!trace.context().isEmpty()) {
      text.append("\n\tevent.context := ");
      struct(text, trace.context());
    }
    return text.append(END).append('\n').toString();
  }

  private static String quoted(UUID uuid) {
    return "\"" + uuid + "\"";
  }

  private static void environment(StringBuilder text, TraceDescription trace) {
    if (trace.environment().isEmpty()) {
      return;
    }
    Names names = new Names();
    text.append("\nenv {");
    trace
        .environment()
        .forEach(
            (key, value) -> {
              String shown = value instanceof String s ? Names.literal(s) : value.toString();
              text.append("\n\t").append(names.key(key)).append(" = ").append(shown).append(';');
            });
    text.append(END);
  }

  private static void clock(StringBuilder text, Clock clock) {
    text.append("\nclock {\n\tname = \"monotonic\";\n");
    if (clock.uuid() != null) {
      text.append("\tuuid = ").append(quoted(clock.uuid())).append(";\n");
    }
    text.append("\tdescription = \"Monotonic Clock\";\n\tfreq = ").append(clock.frequency());
    text.append(";\n\toffset_s = ").append(clock.offsetSeconds());
    text.append(";\n\toffset = ").append(clock.offsetTicks()).append(';').append(END).append('\n');
  }

  /** One event type. */
  static String event(EventType type) {
    StringBuilder text = new StringBuilder(256);
    text.append("event {\n\tname = ").append(Names.literal(type.fullName()));
    text.append(";\n\tid = ").append(type.id()).append(";\n\tstream_id = 0;\n\tloglevel = ");
    text.append(type.level()).append(";\n\tfields := ");
    struct(text, type.fields());
    return text.append(END).append('\n').toString();
  }

  private static void struct(StringBuilder text, List<Field> fields) {
    Names names = new Names();
    text.append("struct {\n");
    for (Field field : fields) {
      declare(text, field, names);
    }
    text.append("\t};");
  }

  private static void declare(StringBuilder text, Field field, Names names) {
    String name = names.field(field.name());
    text.append("\t\t");
    switch (field.type()) {
      case FieldType.Numeric number -> text.append(number(number)).append(' ').append(name);
      case FieldType.Text _ -> text.append("string ").append(name);
      case FieldType.Enumeration e -> text.append(enumeration(e)).append(' ').append(name);
      case FieldType.Array array ->
          text.append(number(array.element()))
              .append(' ')
              .append(name)
              .append("[ ")
              .append(array.length())
              .append(" ]");
      case FieldType.Sequence sequence -> {
        // LTTng's name for it; the reader's view has one underscore.
        String length = names.field(name + "_length");
        text.append("uint32_t ").append(length).append(";\n\t\t");
        text.append(number(sequence.element())).append(' ').append(name);
        text.append("[ ").append(length).append(" ]");
      }
    }
    text.append(";\n");
  }

  private static String number(FieldType.Numeric number) {
    return switch (number) {
      case FieldType.Int i ->
          "integer { size = "
              + i.bits()
              + "; align = 8; signed = "
              + (i.signed() ? 1 : 0)
              + "; encoding = none; base = "
              + i.base()
              + "; }";
      case FieldType.Real r ->
          "floating_point { exp_dig = "
              + (r.bits() == 32 ? 8 : 11)
              + "; mant_dig = "
              + (r.bits() == 32 ? 24 : 53)
              + "; align = 8; }";
    };
  }

  private static String enumeration(FieldType.Enumeration type) {
    StringJoiner labels = new StringJoiner(", ", " { ", " }");
    for (FieldType.Label label : type.labels()) {
      boolean signed = type.container().signed();
      String low = signed ? Long.toString(label.low()) : Long.toUnsignedString(label.low());
      String high = signed ? Long.toString(label.high()) : Long.toUnsignedString(label.high());
      labels.add(Names.literal(label.text()) + " = " + low + " ... " + high);
    }
    return "enum : " + number(type.container()) + labels;
  }
}
