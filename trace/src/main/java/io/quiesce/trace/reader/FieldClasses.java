package io.quiesce.trace.reader;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The types of CTF 2, which it calls field classes, as types of the reader.
 *
 * <p>An alias is kept as it was written and read again at each use, since what a role means depends
 * on where the field is. A budget of parts keeps a few lines from describing endless types.
 */
final class FieldClasses {
  private static final String ROLES = "roles";
  private static final String TYPE = "type";
  private static final String LENGTH = "length";
  private static final Set<String> BITS =
      Set.of(TYPE, LENGTH, "byte-order", "bit-order", "alignment");
  private static final Set<String> INTEGER =
      Set.of(
          TYPE,
          LENGTH,
          "byte-order",
          "bit-order",
          "alignment",
          "preferred-display-base",
          "mappings",
          ROLES);
  private static final BigInteger MOST = BigInteger.ONE.shiftLeft(Long.SIZE);

  private final MetadataText text;
  private final Map<String, JsonObject> aliases = new HashMap<>();
  private long nodes;
  private int depth;

  FieldClasses(MetadataText text) {
    this.text = text;
  }

  /** Keeps an alias, after a look whether it is sound. */
  void alias(JsonObject fragment) throws TraceFormatException {
    fragment.only(Set.of(TYPE, "name", "field-class"));
    JsonObject type = object(fragment.required("field-class"));
    type(type, Roles.NONE);
    if (aliases.putIfAbsent(fragment.string("name"), type) != null) {
      throw fragment.wrong("a field class alias of this name is there already");
    }
  }

  /** The structure that a property of a fragment describes; an empty one if there is none. */
  Type.Struct struct(JsonObject fragment, String name, Roles roles) throws TraceFormatException {
    Json json = fragment.get(name);
    if (json == null) {
      return TypeParser.nothing();
    }
    if (type(object(json), roles) instanceof Type.Struct struct) {
      return struct;
    }
    throw JsonObject.wrong(text, json, "\"" + name + "\" is a structure");
  }

  private JsonObject object(Json json) throws TraceFormatException {
    if (json instanceof JsonObject object) {
      return object;
    }
    JsonObject known = json instanceof Json.Text name ? aliases.get(name.value()) : null;
    if (known == null) {
      throw JsonObject.wrong(
          text, json, "a field class, or the name of an earlier one, is expected");
    }
    return known;
  }

  private Type type(JsonObject json, Roles roles) throws TraceFormatException {
    if (++depth > Type.DEPTH) {
      throw json.wrong("types are nested too deeply");
    }
    if (++nodes > SchemaParser.MAX_NODES) {
      throw json.wrong("so many types are not read");
    }
    String kind = json.string(TYPE);
    Type type =
        switch (kind) {
          case "fixed-length-unsigned-integer" -> integer(json.only(INTEGER), false, roles);
          case "fixed-length-signed-integer" -> integer(json.only(INTEGER), true, roles);
          case "fixed-length-bit-array" -> bits(json.only(BITS), 16, false, null);
          case "fixed-length-bit-map" -> bitMap(json);
          case "fixed-length-boolean" -> flag(json.only(BITS));
          case "fixed-length-floating-point-number" -> real(json.only(BITS));
          case "null-terminated-string" -> {
            utf8(json.only(Set.of(TYPE, "encoding")));
            yield new Type.Text();
          }
          case "static-length-string" -> {
            utf8(json.only(Set.of(TYPE, "encoding", LENGTH)));
            yield new Type.Array(octet(true), length(json));
          }
          case "dynamic-length-string" -> {
            utf8(json.only(Set.of(TYPE, "encoding", "length-field-location")));
            yield new Type.Sequence(octet(true), path(json, "length-field-location"));
          }
          case "static-length-blob" -> {
            media(json.only(Set.of(TYPE, LENGTH, "media-type", ROLES)));
            yield new Type.Array(octet(false), length(json));
          }
          case "dynamic-length-blob" -> {
            media(json.only(Set.of(TYPE, "length-field-location", "media-type")));
            yield new Type.Sequence(octet(false), path(json, "length-field-location"));
          }
          case "structure" -> struct(json, roles);
          case "static-length-array" -> {
            json.only(Set.of(TYPE, "element-field-class", "minimum-alignment", LENGTH));
            Type element = type(object(json.required("element-field-class")), roles.deeper());
            yield new Type.Array(element, length(json), json.alignment("minimum-alignment"));
          }
          case "dynamic-length-array" -> {
            json.only(
                Set.of(TYPE, "element-field-class", "minimum-alignment", "length-field-location"));
            Type element = type(object(json.required("element-field-class")), roles.deeper());
            yield new Type.Sequence(
                element, path(json, "length-field-location"), json.alignment("minimum-alignment"));
          }
          case "optional" -> optional(json, roles);
          case "variant" -> variant(json, roles);
          case "variable-length-unsigned-integer", "variable-length-signed-integer" ->
              throw json.wrong("integers of variable length are not read");
          default -> throw json.wrong("there is no type \"" + kind + "\"");
        };
    depth--;
    if (type.nodes() > Type.LIMIT || type.depth() > Type.DEPTH) {
      throw json.wrong("a type of so many parts is not read");
    }
    return type;
  }

  private static long length(JsonObject json) throws TraceFormatException {
    return json.number(LENGTH, 0, Integer.MAX_VALUE);
  }

  private static Type.Int octet(boolean characters) {
    return new Type.Int(Byte.SIZE, Byte.SIZE, false, characters ? 10 : 16, false, characters, null);
  }

  private static void utf8(JsonObject json) throws TraceFormatException {
    String encoding = json.optionalString("encoding");
    if (encoding != null && !encoding.equals("utf-8")) {
      throw json.wrong("text in UTF-8 is read, and no other");
    }
  }

  private static void media(JsonObject json) throws TraceFormatException {
    json.optionalString("media-type");
  }

  private static boolean bigEndian(JsonObject json) throws TraceFormatException {
    String order = json.string("byte-order");
    boolean big = order.equals("big-endian");
    if (!big && !order.equals("little-endian")) {
      throw json.wrong("a byte order is big-endian or little-endian");
    }
    String bits = json.optionalString("bit-order");
    String natural = big ? "last-to-first" : "first-to-last";
    if (bits != null && !bits.equals(natural)) {
      throw json.wrong("a bit order against the byte order is not read");
    }
    return big;
  }

  private static Type.Int bits(JsonObject json, int base, boolean signed, @Nullable String clock)
      throws TraceFormatException {
    int length = (int) json.number(LENGTH, 1, Long.SIZE);
    boolean big = bigEndian(json);
    return new Type.Int(length, json.alignment("alignment"), signed, base, big, false, clock);
  }

  private static Type bitMap(JsonObject json) throws TraceFormatException {
    json.only(Set.of(TYPE, LENGTH, "byte-order", "bit-order", "alignment", "flags"));
    json.object("flags");
    return bits(json, 16, false, null);
  }

  private static Type flag(JsonObject json) throws TraceFormatException {
    List<Type.Label> labels = List.of(new Type.Label("false", 0, 0), new Type.Label("true", 1, -1));
    return new Type.Enumeration(bits(json, 10, false, null), labels);
  }

  private static Type real(JsonObject json) throws TraceFormatException {
    long length = json.number(LENGTH, 1, Integer.MAX_VALUE);
    if (length != Integer.SIZE && length != Long.SIZE) {
      throw json.wrong("real numbers of 32 or 64 bits are read, and no others");
    }
    return new Type.Real((int) length, json.alignment("alignment"), bigEndian(json));
  }

  private Type integer(JsonObject json, boolean signed, Roles roles) throws TraceFormatException {
    int base = (int) json.number("preferred-display-base", 2, 16, 10);
    if (base != 2 && base != 8 && base != 10 && base != 16) {
      throw json.wrong("a base is 2, 8, 10 or 16");
    }
    List<String> own = roles(json);
    if (signed && !own.isEmpty()) {
      throw json.wrong("what has a role is unsigned");
    }
    boolean time = roles.moveClock(own, json);
    Type.Int plain = bits(json, base, signed, time ? roles.clock() : null);
    List<Type.Label> labels = new ArrayList<>();
    JsonObject mappings = json.object("mappings");
    if (mappings != null && !time) {
      for (Map.Entry<String, Json> mapping : mappings.members().entrySet()) {
        for (BigInteger[] range : ranges(mapping.getValue())) {
          Type.Label label = Type.Label.within(mapping.getKey(), range[0], range[1], signed);
          if (label != null) {
            labels.add(label);
          }
        }
      }
    }
    return mappings == null || mappings.members().isEmpty() || time
        ? plain
        : new Type.Enumeration(plain, labels);
  }

  private List<BigInteger[]> ranges(Json json) throws TraceFormatException {
    List<BigInteger[]> ranges = new ArrayList<>();
    if (json instanceof Json.Items items) {
      for (Json each : items.elements()) {
        if (!(each instanceof Json.Items pair) || pair.elements().size() != 2) {
          throw JsonObject.wrong(text, each, "a range is a pair of integers");
        }
        BigInteger low = JsonObject.whole(text, pair.elements().get(0));
        BigInteger high = JsonObject.whole(text, pair.elements().get(1));
        if (low.compareTo(high) > 0) {
          throw JsonObject.wrong(text, each, "a range ends before it begins");
        }
        ranges.add(new BigInteger[] {low, high});
      }
    }
    if (ranges.isEmpty()) {
      throw JsonObject.wrong(text, json, "at least one range of integers is expected");
    }
    return ranges;
  }

  private List<String> roles(JsonObject json) throws TraceFormatException {
    List<String> roles = new ArrayList<>();
    for (Json role : json.items(ROLES)) {
      if (!(role instanceof Json.Text name)) {
        throw JsonObject.wrong(text, role, "a role is a string");
      }
      roles.add(name.value());
    }
    return roles;
  }

  private Type.Struct struct(JsonObject json, Roles roles) throws TraceFormatException {
    json.only(Set.of(TYPE, "member-classes", "minimum-alignment"));
    List<Type.Field> fields = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Json each : json.items("member-classes")) {
      if (!(each instanceof JsonObject member)) {
        throw JsonObject.wrong(text, each, "a member is an object");
      }
      member.only(Set.of("name", "field-class"));
      String name = clean(member.string("name"));
      if (!names.add(name)) {
        throw member.wrong("a member \"" + name + "\" is there already");
      }
      JsonObject type = object(member.required("field-class"));
      List<String> own = type.get(ROLES) == null ? List.of() : roles(type);
      fields.add(new Type.Field(name, roles.name(name, own, type), type(type, roles.inMember())));
      if (fields.size() > Type.LIMIT) {
        throw member.wrong("a type of so many parts is not read");
      }
    }
    return new Type.Struct(fields, json.alignment("minimum-alignment"));
  }

  /**
   * Control characters would end lines of what prints names, and {@link Layout} has its own use.
   */
  static String clean(String name) {
    StringBuilder clean = new StringBuilder(name);
    for (int i = 0; i < clean.length(); i++) {
      char c = clean.charAt(i);
      if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
        clean.setCharAt(i, '\ufffd');
      }
    }
    return clean.toString();
  }

  private String path(JsonObject json, String name) throws TraceFormatException {
    JsonObject location = json.object(name);
    if (location == null) {
      throw json.wrong("the property \"" + name + "\" is missing");
    }
    location.only(Set.of("origin", "path"));
    StringBuilder path = new StringBuilder(Layout.STEP);
    String origin = location.optionalString("origin");
    if (origin != null) {
      Layout.Part part = Layout.Part.ofOrigin(origin);
      if (part == null) {
        throw location.wrong("there is no origin \"" + origin + "\"");
      }
      path.append(part.name());
    }
    Json last = null;
    for (Json step : location.items("path")) {
      last = step;
      if (step instanceof Json.Text member) {
        path.append(Layout.STEP).append(clean(member.value()));
      } else if (step instanceof Json.Other other && other.isNull()) {
        path.append(Layout.STEP).append(Layout.UP);
      } else {
        throw JsonObject.wrong(text, step, "a step of a path is a name or null");
      }
    }
    if (!(last instanceof Json.Text)) {
      throw location.wrong("a path ends with a name");
    }
    return path.toString();
  }

  private Type optional(JsonObject json, Roles roles) throws TraceFormatException {
    json.only(Set.of(TYPE, "field-class", "selector-field-location", "selector-field-ranges"));
    Type type = type(object(json.required("field-class")), roles.deeper());
    List<Type.Choice> choices = new ArrayList<>();
    Json given = json.get("selector-field-ranges");
    if (given == null) {
      choices.add(new Type.Choice(0, BigInteger.ONE, MOST)); // a boolean that is true
    } else {
      for (BigInteger[] range : ranges(given)) {
        choices.add(new Type.Choice(0, range[0], range[1]));
      }
    }
    List<Type.Field> options =
        List.of(
            new Type.Field("present", "present", type),
            new Type.Field("absent", "absent", TypeParser.nothing()));
    return new Type.Variant(path(json, "selector-field-location"), options, choices, 1);
  }

  private Type variant(JsonObject json, Roles roles) throws TraceFormatException {
    json.only(Set.of(TYPE, "options", "selector-field-location"));
    List<Type.Field> options = new ArrayList<>();
    List<Type.Choice> choices = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Json each : json.items("options")) {
      if (!(each instanceof JsonObject option)) {
        throw JsonObject.wrong(text, each, "an option is an object");
      }
      option.only(Set.of("name", "field-class", "selector-field-ranges"));
      String given = option.optionalString("name");
      String name = given == null ? unnamed(options.size()) : clean(given);
      if (!names.add(name)) {
        throw option.wrong("an option \"" + name + "\" is there already");
      }
      for (BigInteger[] range : ranges(option.required("selector-field-ranges"))) {
        choices.add(new Type.Choice(options.size(), range[0], range[1]));
      }
      JsonObject type = object(option.required("field-class"));
      String shown = given == null ? Integer.toString(options.size()) : name;
      options.add(new Type.Field(name, shown, type(type, roles.inOption())));
    }
    if (options.isEmpty()) {
      throw json.wrong("a variant has options");
    }
    List<Type.Choice> sorted = new ArrayList<>(choices);
    sorted.sort(Comparator.comparing(Type.Choice::low));
    for (int i = 1; i < sorted.size(); i++) {
      Type.Choice before = sorted.get(i - 1);
      Type.Choice next = sorted.get(i);
      if (next.option() != before.option() && next.low().compareTo(before.high()) <= 0) {
        throw json.wrong("a value chooses two options of a variant");
      }
    }
    return new Type.Variant(path(json, "selector-field-location"), options, choices, -1);
  }

  /** No name of the metadata is like it, since those are clean. */
  private static String unnamed(int option) {
    return "\u0001" + option;
  }
}
