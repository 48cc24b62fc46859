package io.quiesce.trace.ctf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The text of the metadata in CTF 2: JSON objects, called fragments, each on a line of its own
 * behind a record separator.
 *
 * <p>A fragment holds no line end, so a file that was cut in one can be cut back to whole ones.
 * What is described is byte for byte what {@link Tsdl} describes.
 *
 * <p>Sources: CTF2-SPEC-2.0, diamon.org/ctf; RFC 7464 for the separators.
 */
final class Fragments {
  /** What each fragment begins with. */
  static final char BEGIN = '\u001e';

  /** What each fragment ends with, and no other place has. */
  static final String END = "}\n";

  /** How the fragment begins behind which the event types are. */
  static final String LAST_OF_PREAMBLE = BEGIN + "{\"type\":\"data-stream-class\",";

  /** How an event type begins, up to its id. */
  static final String EVENT = BEGIN + "{\"type\":\"event-record-class\",\"id\":";

  private static final String CLOCK = "monotonic";
  private static final String LITTLE = "little-endian";

  private static final String PACKET_HEADER =
      structure(
          member("magic", bits(32, 8, "packet-magic-number")),
          member(
              "uuid", "{'type':'static-length-blob','length':16,'roles':['metadata-stream-uuid']}"),
          member("stream_id", bits(32, 8, "data-stream-class-id")),
          member("stream_instance_id", bits(64, 8, "data-stream-id")));

  /** A CPU's number has no role: readers know it by its name. */
  private static final String PACKET_CONTEXT =
      structure(
          member("timestamp_begin", bits(64, 8, "default-clock-timestamp")),
          member("timestamp_end", bits(64, 8, "packet-end-default-clock-timestamp")),
          member("content_size", bits(64, 8, "packet-content-length")),
          member("packet_size", bits(64, 8, "packet-total-length")),
          member("packet_seq_num", bits(64, 8, "packet-sequence-number")),
          member("events_discarded", bits(64, 8, "discarded-event-record-counter-snapshot")),
          member("cpu_id", bits(32, 8, "")));

  private static final String EVENT_HEADER =
      aligned(
          member("id", bits(5, 1, "event-record-class-id")),
          member(
              "v",
              "{'type':'variant','selector-field-location':"
                  + "{'origin':'event-record-header','path':['id']},'options':["
                  + option(
                      "compact",
                      "[[0,30]]",
                      structure(member("timestamp", bits(27, 1, "default-clock-timestamp"))))
                  + ","
                  + option(
                      "extended",
                      "[[31,31]]",
                      structure(
                          member("id", bits(32, 8, "event-record-class-id")),
                          member("timestamp", bits(64, 8, "default-clock-timestamp"))))
                  + "]}"));

  private Fragments() {}

  private static String structure(String... members) {
    return "{'type':'structure','member-classes':[" + String.join(",", members) + "]}";
  }

  private static String aligned(String... members) {
    return "{'type':'structure','minimum-alignment':8,'member-classes':["
        + String.join(",", members)
        + "]}";
  }

  private static String member(String name, String type) {
    return "{'name':'" + name + "','field-class':" + type + "}";
  }

  private static String option(String name, String ranges, String type) {
    return "{'name':'"
        + name
        + "','selector-field-ranges':"
        + ranges
        + ",'field-class':"
        + type
        + "}";
  }

  private static String bits(int length, int alignment, String role) {
    return "{'type':'fixed-length-unsigned-integer','length':"
        + length
        + ",'byte-order':'"
        + LITTLE
        + "','alignment':"
        + alignment
        + (role.isEmpty() ? "}" : ",'roles':['" + role + "']}");
  }

  /** All that comes before the first event type. */
  static String preamble(TraceDescription trace) {
    JsonText first = fragment("preamble").name("version").number(2).name("uuid").beginList();
    for (int i = 0; i < 2 * Long.BYTES; i++) {
      first.number(byteOf(trace.uuid(), i));
    }
    first.endList();
    JsonText whole = fragment("trace-class").name("uid").string(trace.uuid().toString());
    environment(whole.name("environment").begin(), trace);
    whole.name("packet-header-field-class").raw(PACKET_HEADER.replace('\'', '"'));
    JsonText stream = fragment("data-stream-class").name("id").number(0);
    stream.name("default-clock-class-id").string(CLOCK);
    stream.name("packet-context-field-class").raw(PACKET_CONTEXT.replace('\'', '"'));
    stream.name("event-record-header-field-class").raw(EVENT_HEADER.replace('\'', '"'));
    if (!trace.context().isEmpty()) {
      stream.name("event-record-common-context-field-class");
      struct(stream, trace.context(), "event-record-common-context");
    }
    return line(first) + line(whole) + line(clock(trace.clock())) + line(stream);
  }

  private static long byteOf(UUID uuid, int index) {
    long half = index < Long.BYTES ? uuid.getMostSignificantBits() : uuid.getLeastSignificantBits();
    return half >>> (Long.SIZE - Byte.SIZE * (1 + index % Long.BYTES)) & 0xff;
  }

  private static JsonText fragment(String type) {
    return new JsonText().begin().name("type").string(type);
  }

  private static String line(JsonText fragment) {
    return BEGIN + fragment.end().toString() + "\n";
  }

  private static void environment(JsonText json, TraceDescription trace) {
    Names names = new Names();
    trace
        .environment()
        .forEach(
            (key, value) -> {
              json.name(names.verbatim(key));
              if (value instanceof String text) {
                json.string(Names.plain(text));
              } else {
                json.number(((Number) value).longValue());
              }
            });
    json.end();
  }

  /**
   * Its precision is left out, which says that it is unknown: two clocks of one name and uid, such
   * as LTTng's of this host, have to claim the same.
   */
  private static JsonText clock(Clock clock) {
    JsonText json = fragment("clock-class").name("id").string(CLOCK).name("name").string(CLOCK);
    if (clock.uuid() != null) {
      json.name("uid").string(clock.uuid().toString());
    }
    json.name("description").string("Monotonic Clock");
    json.name("frequency").number(clock.frequency()).name("origin").string("unix-epoch");
    json.name("offset-from-origin").begin();
    json.name("seconds").number(clock.offsetSeconds());
    return json.name("cycles").number(clock.offsetTicks()).end();
  }

  /** One event type. */
  static String event(EventType type) {
    JsonText json = fragment("event-record-class").name("id").number(type.id());
    json.name("data-stream-class-id").number(0).name("name").string(Names.plain(type.fullName()));
    // Levels are no part of the format; babeltrace2 takes them from here.
    json.name("attributes").begin().name("babeltrace.org,2020").begin();
    json.name("log-level").string(Levels.nameOf(type.level())).end().end();
    struct(json.name("payload-field-class"), type.fields(), "event-record-payload");
    return line(json);
  }

  private static void struct(JsonText json, List<Field> fields, String origin) {
    Names names = new Names();
    json.begin().name("type").string("structure").name("member-classes").beginList();
    for (Field field : fields) {
      String name = names.verbatim(field.name());
      String length = "";
      if (field.type() instanceof FieldType.Sequence) {
        length = names.verbatim('_' + name + "_length"); // LTTng's name for it, as readers show it
        json.begin().name("name").string(length).name("field-class");
        number(json, new FieldType.Int(Integer.SIZE, false, 10));
        json.end().end();
      }
      json.begin().name("name").string(name).name("field-class");
      type(json, field.type(), origin, length);
      json.end();
    }
    json.endList().end();
  }

  private static void type(JsonText json, FieldType type, String origin, String length) {
    switch (type) {
      case FieldType.Numeric number -> number(json, number).end();
      case FieldType.Text _ ->
          json.begin()
              .name("type")
              .string("null-terminated-string")
              .name("encoding")
              .string("utf-8")
              .end();
      case FieldType.Enumeration e -> {
        number(json, e.container()).name("mappings");
        mappings(json, e);
        json.end();
      }
      case FieldType.Array array -> {
        json.begin().name("type").string("static-length-array");
        json.name("length").number(array.length()).name("element-field-class");
        number(json, array.element()).end().end();
      }
      case FieldType.Sequence sequence -> {
        json.begin().name("type").string("dynamic-length-array").name("length-field-location");
        json.begin().name("origin").string(origin);
        json.name("path").beginList().string(length).endList().end();
        json.name("element-field-class");
        number(json, sequence.element()).end().end();
      }
    }
  }

  /** All of it but its end. */
  private static JsonText number(JsonText json, FieldType.Numeric number) {
    json.begin().name("type");
    switch (number) {
      case FieldType.Int i ->
          json.string(i.signed() ? "fixed-length-signed-integer" : "fixed-length-unsigned-integer")
              .name("preferred-display-base")
              .number(i.base());
      case FieldType.Real _ -> json.string("fixed-length-floating-point-number");
    }
    json.name("length").number((long) number.bytes() * Byte.SIZE);
    return json.name("byte-order").string(LITTLE).name("alignment").number(Byte.SIZE);
  }

  /** Labels are the keys of an object, so those of one text become one of several ranges. */
  private static void mappings(JsonText json, FieldType.Enumeration type) {
    Map<String, List<FieldType.Label>> ranges = new LinkedHashMap<>();
    for (FieldType.Label label : type.labels()) {
      ranges.computeIfAbsent(Names.plain(label.text()), _ -> new ArrayList<>()).add(label);
    }
    json.begin();
    ranges.forEach(
        (text, labels) -> {
          json.name(text).beginList();
          for (FieldType.Label label : labels) {
            json.beginList();
            if (type.container().signed()) {
              json.number(label.low()).number(label.high());
            } else {
              json.unsigned(label.low()).unsigned(label.high());
            }
            json.endList();
          }
          json.endList();
        });
    json.end();
  }
}
