package io.quiesce.trace.reader;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object of CTF 2: what it may hold, and its properties by type. What is wrong becomes an
 * exception that names the place.
 */
final class JsonObject implements Json {
  private static final Set<String> EVERYWHERE = Set.of("attributes", "extensions");

  private final MetadataText text;
  private final Map<String, Json> members;
  private final int place;

  JsonObject(MetadataText text, Map<String, Json> members, int place) {
    this.text = text;
    this.members = members;
    this.place = place;
  }

  @Override
  public int place() {
    return place;
  }

  Map<String, Json> members() {
    return members;
  }

  @Nullable Json get(String name) {
    return members.get(name);
  }

  TraceFormatException wrong(String what) {
    return text.damaged(place, what);
  }

  static TraceFormatException wrong(MetadataText text, Json where, String what) {
    return text.damaged(where.place(), what);
  }

  private TraceFormatException wrong(Json where, String what) {
    return wrong(text, where, what);
  }

  /**
   * Refuses properties that the format does not have, and extensions: they may change what bytes
   * mean. Attributes are anybody's.
   */
  JsonObject only(Set<String> names) throws TraceFormatException {
    for (Map.Entry<String, Json> member : members.entrySet()) {
      if (!names.contains(member.getKey()) && !EVERYWHERE.contains(member.getKey())) {
        throw wrong(member.getValue(), "there is no property \"" + member.getKey() + "\" here");
      }
    }
    object("attributes");
    JsonObject extensions = object("extensions");
    if (extensions != null) {
      for (Map.Entry<String, Json> namespace : extensions.members.entrySet()) {
        if (!(namespace.getValue() instanceof JsonObject names2)) {
          throw wrong(namespace.getValue(), "the extensions of a namespace are an object");
        }
        if (!names2.members.isEmpty()) {
          throw wrong(
              namespace.getValue(),
              "the extension \""
                  + names2.members.keySet().iterator().next()
                  + "\" of \""
                  + namespace.getKey()
                  + "\" is not known");
        }
      }
    }
    return this;
  }

  Json required(String name) throws TraceFormatException {
    Json value = members.get(name);
    if (value == null) {
      throw wrong("the property \"" + name + "\" is missing");
    }
    return value;
  }

  @Nullable JsonObject object(String name) throws TraceFormatException {
    Json value = members.get(name);
    if (value == null || value instanceof JsonObject) {
      return (JsonObject) value;
    }
    throw wrong(value, "\"" + name + "\" is an object");
  }

  /** The elements of an array; none if there is no such property. */
  List<Json> items(String name) throws TraceFormatException {
    Json value = members.get(name);
    if (value == null) {
      return List.of();
    }
    if (value instanceof Items items) {
      return items.elements();
    }
    throw wrong(value, "\"" + name + "\" is an array");
  }

  String string(String name) throws TraceFormatException {
    if (required(name) instanceof Text string) {
      return string.value();
    }
    throw wrong(required(name), "\"" + name + "\" is a string");
  }

  @Nullable String optionalString(String name) throws TraceFormatException {
    return members.containsKey(name) ? string(name) : null;
  }

  BigInteger whole(String name) throws TraceFormatException {
    return whole(text, required(name));
  }

  static BigInteger whole(MetadataText text, Json value) throws TraceFormatException {
    if (value instanceof Whole whole) {
      return whole.value();
    }
    throw wrong(text, value, "an integer is expected");
  }

  /** A number within bounds. */
  long number(String name, long least, long most) throws TraceFormatException {
    BigInteger value = whole(name);
    if (value.compareTo(BigInteger.valueOf(least)) < 0
        || value.compareTo(BigInteger.valueOf(most)) > 0) {
      throw wrong(
          required(name), "\"" + name + "\" is a number from " + least + " to " + most + " here");
    }
    return value.longValue();
  }

  long number(String name, long least, long most, long otherwise) throws TraceFormatException {
    return members.containsKey(name) ? number(name, least, most) : otherwise;
  }

  /** A numeric id: 64 bits, unsigned. */
  long id(String name) throws TraceFormatException {
    if (!members.containsKey(name)) {
      return 0;
    }
    BigInteger value = whole(name);
    if (value.signum() < 0 || value.bitLength() > Long.SIZE) {
      throw wrong(required(name), "\"" + name + "\" is a number of 64 bits");
    }
    return value.longValue();
  }

  /** A power of two, 1 if there is none. */
  int alignment(String name) throws TraceFormatException {
    long align = number(name, 1, TypeParser.MAX_ALIGN, 1);
    if (Long.bitCount(align) != 1) {
      throw wrong(required(name), "an alignment is a power of two");
    }
    return (int) align;
  }
}
