package io.quiesce.trace.reader;

import io.quiesce.trace.ctf.Levels;
import java.math.BigInteger;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of CTF 2: JSON objects, called fragments, each behind a record separator; and what
 * they say as a whole.
 *
 * <p>Source: CTF2-SPEC-2.0, diamon.org/ctf.
 */
final class FragmentParser {
  private static final String TYPE = "type";
  private static final String NAME = "name";
  private static final int UUID_BYTES = 16;

  /** A data stream class, whose events come behind it. */
  private record Stream(
      long id,
      Type.Struct packetContext,
      Type.Struct eventHeader,
      Type.Struct eventContext,
      Map<Long, EventClass> events,
      int place) {}

  private final MetadataText text;
  private final FieldClasses types;
  private final Map<String, Object> environment = new LinkedHashMap<>();
  private final Map<String, TraceClock> clocks = new LinkedHashMap<>();
  private final Map<Long, Stream> streams = new LinkedHashMap<>();
  private final Set<String> once = new HashSet<>();
  private Type.Struct packetHeader = TypeParser.nothing();
  private @Nullable UUID uuid;
  private long nodes;

  private FragmentParser(MetadataText text) {
    this.text = text;
    this.types = new FieldClasses(text);
  }

  /**
   * Reads metadata.
   *
   * @param damage if it returns, the fragments before the damage count
   * @throws TraceFormatException if it throws, or if not even one stream's class is sound
   */
  static TraceSchema parse(MetadataText text, Damage damage) throws TraceFormatException {
    FragmentParser parser = new FragmentParser(text);
    byte[] bytes = text.bytes();
    try {
      int from = 1;
      for (int at = 1; at <= bytes.length; at++) {
        if (at == bytes.length || bytes[at] == MetadataText.RECORD_SEPARATOR) {
          if (!isBlank(bytes, from, at)) {
            parser.fragment(JsonParser.parse(text, from, at));
          }
          from = at + 1;
        }
      }
    } catch (TraceFormatException e) {
      damage.found(e);
    }
    return parser.schema();
  }

  /** Separators may follow one another. */
  private static boolean isBlank(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && bytes[at] >= 0 && bytes[at] <= ' ') {
      at++;
    }
    return at == to;
  }

  private void fragment(Json json) throws TraceFormatException {
    if (!(json instanceof JsonObject fragment)) {
      throw JsonObject.wrong(text, json, "a fragment is an object");
    }
    String type = fragment.string(TYPE);
    if (type.equals("preamble") != once.isEmpty()) {
      throw fragment.wrong("the preamble is the first fragment, and the only one of its kind");
    }
    switch (type) {
      case "preamble" -> preamble(fragment);
      case "field-class-alias" -> types.alias(fragment);
      case "trace-class" -> trace(fragment);
      case "clock-class" -> clock(fragment);
      case "data-stream-class" -> stream(fragment);
      case "event-record-class" -> event(fragment);
      default -> throw fragment.wrong("there is no fragment \"" + type + "\"");
    }
    once.add(type);
  }

  private void preamble(JsonObject fragment) throws TraceFormatException {
    fragment.only(Set.of(TYPE, "version", "uuid"));
    if (!fragment.whole("version").equals(BigInteger.TWO)) {
      throw fragment.wrong("versions 1.8 and 2 of the format are read, and no others");
    }
    if (fragment.get("uuid") != null) {
      List<Json> bytes = fragment.items("uuid");
      if (bytes.size() != UUID_BYTES) {
        throw fragment.wrong("the trace's uuid is none");
      }
      long[] halves = new long[2];
      for (int i = 0; i < UUID_BYTES; i++) {
        BigInteger value = JsonObject.whole(text, bytes.get(i));
        if (value.signum() < 0 || value.bitLength() > Byte.SIZE) {
          throw fragment.wrong("the trace's uuid is none");
        }
        halves[i / Long.BYTES] = halves[i / Long.BYTES] << Byte.SIZE | value.longValue();
      }
      uuid = new UUID(halves[0], halves[1]);
    }
  }

  private static void identity(JsonObject fragment) throws TraceFormatException {
    for (String name : List.of("namespace", NAME, "uid")) {
      fragment.optionalString(name);
    }
  }

  private void trace(JsonObject fragment) throws TraceFormatException {
    fragment.only(
        Set.of(TYPE, "namespace", NAME, "uid", "environment", "packet-header-field-class"));
    if (once.contains("trace-class") || !streams.isEmpty()) {
      throw fragment.wrong("one trace class comes before the data streams'");
    }
    identity(fragment);
    JsonObject entries = fragment.object("environment");
    if (entries != null) {
      for (Map.Entry<String, Json> entry : entries.members().entrySet()) {
        environment.put(entry.getKey(), setting(entry.getValue()));
      }
    }
    packetHeader = types.struct(fragment, "packet-header-field-class", Roles.packetHeader());
  }

  private Object setting(Json value) throws TraceFormatException {
    if (value instanceof Json.Text string) {
      return string.value();
    }
    if (value instanceof Json.Whole whole && whole.value().bitLength() <= Long.SIZE) {
      return whole.value().longValue();
    }
    throw JsonObject.wrong(text, value, "the environment holds text and integers of 64 bits");
  }

  private void clock(JsonObject fragment) throws TraceFormatException {
    fragment.only(
        Set.of(
            TYPE,
            "id",
            "namespace",
            NAME,
            "uid",
            "frequency",
            "origin",
            "offset-from-origin",
            "precision",
            "accuracy",
            "description"));
    identity(fragment);
    long frequency = fragment.number("frequency", 1, Long.MAX_VALUE);
    fragment.number("precision", 0, Long.MAX_VALUE, 0);
    fragment.number("accuracy", 0, Long.MAX_VALUE, 0);
    origin(fragment);
    JsonObject offset = fragment.object("offset-from-origin");
    long seconds = 0;
    long cycles = 0;
    if (offset != null) {
      offset.only(Set.of("seconds", "cycles"));
      seconds = offset.number("seconds", Long.MIN_VALUE, Long.MAX_VALUE, 0);
      cycles = offset.number("cycles", 0, frequency - 1, 0);
    }
    String name = fragment.optionalString(NAME);
    String description = fragment.optionalString("description");
    TraceClock clock =
        new TraceClock(
            name == null ? "" : name,
            fragment.optionalString("uid"),
            description == null ? "" : description,
            frequency,
            seconds,
            cycles);
    if (clocks.putIfAbsent(fragment.string("id"), clock) != null) {
      throw fragment.wrong("a clock of this id is there already");
    }
  }

  /** Times count from the origin, whatever it is. */
  private void origin(JsonObject fragment) throws TraceFormatException {
    Json origin = fragment.get("origin");
    boolean epoch = origin instanceof Json.Text name && name.value().equals("unix-epoch");
    if (origin instanceof JsonObject own) {
      own.only(Set.of("namespace", NAME, "uid"));
      own.optionalString("namespace");
      own.string(NAME);
      own.string("uid");
    } else if (origin != null && !epoch) {
      throw JsonObject.wrong(text, origin, "an origin is \"unix-epoch\" or an object");
    }
  }

  private void stream(JsonObject fragment) throws TraceFormatException {
    fragment.only(
        Set.of(
            TYPE,
            "id",
            "namespace",
            NAME,
            "uid",
            "default-clock-class-id",
            "packet-context-field-class",
            "event-record-header-field-class",
            "event-record-common-context-field-class"));
    identity(fragment);
    String clock = fragment.optionalString("default-clock-class-id");
    if (clock != null && !clocks.containsKey(clock)) {
      throw fragment.wrong("there is no clock \"" + clock + "\"");
    }
    long id = fragment.id("id");
    Stream stream =
        new Stream(
            id,
            types.struct(fragment, "packet-context-field-class", Roles.packetContext(clock)),
            types.struct(fragment, "event-record-header-field-class", Roles.eventHeader(clock)),
            types.struct(fragment, "event-record-common-context-field-class", Roles.NONE),
            new LinkedHashMap<>(),
            fragment.place());
    if (streams.putIfAbsent(id, stream) != null) {
      throw fragment.wrong("a data stream class of this id is there already");
    }
  }

  private void event(JsonObject fragment) throws TraceFormatException {
    fragment.only(
        Set.of(
            TYPE,
            "id",
            "data-stream-class-id",
            "namespace",
            NAME,
            "uid",
            "specific-context-field-class",
            "payload-field-class"));
    identity(fragment);
    Stream stream = streams.get(fragment.id("data-stream-class-id"));
    if (stream == null) {
      throw fragment.wrong("an event comes before its data stream class");
    }
    long id = fragment.id("id");
    String name = fragment.optionalString(NAME);
    EventClass event =
        new EventClass(
            id,
            stream.id,
            name == null ? "unnamed" : name,
            level(fragment),
            types.struct(fragment, "specific-context-field-class", Roles.NONE),
            types.struct(fragment, "payload-field-class", Roles.NONE));
    nodes += event.context().nodes() + (long) event.fields().nodes();
    if (nodes > SchemaParser.MAX_NODES) {
      throw fragment.wrong("so many fields in all events together are not read");
    }
    if (stream.events.putIfAbsent(id, event) != null) {
      throw fragment.wrong("another event than \"" + event.name() + "\" has the id " + id);
    }
  }

  /** An attribute of babeltrace2 or LTTng; what is none is no level, and no damage. */
  private static int level(JsonObject fragment) {
    for (String namespace : List.of("babeltrace.org,2020", "lttng.org,2009")) {
      Json value =
          fragment.get("attributes") instanceof JsonObject attributes
                  && attributes.get(namespace) instanceof JsonObject own
              ? own.get("log-level")
              : null;
      if (value instanceof Json.Text level) {
        return Levels.numberOf(level.value());
      }
      if (value instanceof Json.Whole level && level.value().bitLength() < Byte.SIZE) {
        return level.value().intValue();
      }
    }
    return EventClass.NO_LEVEL;
  }

  private TraceSchema schema() throws TraceFormatException {
    if (streams.isEmpty()) {
      throw text.damaged(0, "no whole data stream class is in the metadata");
    }
    Map<Long, StreamClass> classes = new LinkedHashMap<>();
    for (Stream each : streams.values()) {
      classes.put(
          each.id,
          new StreamClass(
              each.id, each.packetContext, each.eventHeader, each.eventContext, each.events));
    }
    TraceSchema schema = new TraceSchema(uuid, environment, clocks, packetHeader, classes);
    for (StreamClass stream : schema.streams().values()) {
      Stream described = streams.get(stream.id());
      int place = described == null ? 0 : described.place;
      Layout.check(schema, stream, what -> text.damaged(place, what));
    }
    return schema;
  }
}
