package io.quiesce.trace.reader;

import io.quiesce.trace.ctf.Utf8;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses one JSON text, by recursive descent and to the letter: what RFC 8259 does not allow is
 * refused, and so are two members of one name. Depth and number of values are limited, as memory
 * is. Half a surrogate pair becomes U+FFFD.
 */
final class JsonParser {
  /** Types may be nested as deep as {@link Type#DEPTH}, with four values for each. */
  private static final int MAX_DEPTH = 5 * Type.DEPTH;

  private static final int MAX_VALUES = 1 << 20;

  /** Longer numbers are no integers of metadata, and take time in the square of their length. */
  private static final int MAX_DIGITS = 40;

  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?");

  private final MetadataText text;
  private final byte[] bytes;
  private final int end;
  private int at;
  private int depth;
  private int values;

  private JsonParser(MetadataText text, int from, int to) {
    this.text = text;
    this.bytes = text.bytes();
    this.at = from;
    this.end = to;
  }

  /** Parses a part of the text, which holds one value and white space. */
  static Json parse(MetadataText text, int from, int to) throws TraceFormatException {
    JsonParser parser = new JsonParser(text, from, to);
    Json value = parser.value();
    if (parser.peek() >= 0) {
      throw parser.wrong("something follows a JSON value");
    }
    return value;
  }

  private TraceFormatException wrong(String what) {
    return text.damaged(at, what);
  }

  /** The next byte that is no white space, or -1 at the end. */
  private int peek() {
    while (at < end
        && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\t' || bytes[at] == '\r')) {
      at++;
    }
    return at < end ? bytes[at] & 0xff : -1;
  }

  private void expect(char sign) throws TraceFormatException {
    if (peek() != sign) {
      throw wrong("\"" + sign + "\" is expected in a JSON value");
    }
    at++;
  }

  private boolean skip(char sign) {
    if (peek() != sign) {
      return false;
    }
    at++;
    return true;
  }

  private Json value() throws TraceFormatException {
    int next = peek();
    if (++values > MAX_VALUES) {
      throw wrong("a fragment of so many values is not read");
    }
    if (++depth > MAX_DEPTH) {
      throw wrong("JSON is nested too deeply");
    }
    Json value =
        switch (next) {
          case '{' -> object();
          case '[' -> items();
          case '"' -> {
            int place = at;
            yield new Json.Text(string(), place);
          }
          case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number();
          case 't' -> word("true");
          case 'f' -> word("false");
          case 'n' -> word("null");
          default -> throw wrong("a JSON value is expected");
        };
    depth--;
    return value;
  }

  private JsonObject object() throws TraceFormatException {
    int place = at++;
    Map<String, Json> members = new LinkedHashMap<>();
    if (!skip('}')) {
      do {
        if (peek() != '"') {
          throw wrong("the name of a property is expected");
        }
        int where = at;
        String name = string();
        expect(':');
        if (members.putIfAbsent(name, value()) != null) {
          throw text.damaged(where, "a property of this name is there already");
        }
      } while (skip(','));
      expect('}');
    }
    return new JsonObject(text, members, place);
  }

  private Json items() throws TraceFormatException {
    int place = at++;
    List<Json> elements = new ArrayList<>();
    if (!skip(']')) {
      do {
        elements.add(value());
      } while (skip(','));
      expect(']');
    }
    return new Json.Items(elements, place);
  }

  private Json word(String word) throws TraceFormatException {
    int place = at;
    for (int i = 0; i < word.length(); i++, at++) {
      if (at >= end || bytes[at] != word.charAt(i)) {
        throw wrong("\"" + word + "\" is expected");
      }
    }
    return new Json.Other(word, place);
  }

  private Json number() throws TraceFormatException {
    int place = at;
    while (at < end && "+-.eE0123456789".indexOf(bytes[at]) >= 0) {
      at++;
    }
    String shown = new String(bytes, place, at - place, StandardCharsets.US_ASCII);
    Matcher matcher = NUMBER.matcher(shown);
    if (!matcher.matches()) {
      throw text.damaged(place, "this is no JSON number");
    }
    boolean whole = matcher.group(1) == null && matcher.group(2) == null;
    return whole && shown.length() <= MAX_DIGITS
        ? new Json.Whole(new BigInteger(shown), place)
        : new Json.Other("number", place);
  }

  private String string() throws TraceFormatException {
    int place = at++;
    StringBuilder value = new StringBuilder();
    while (true) {
      int from = at;
      while (at < end && bytes[at] != '"' && bytes[at] != '\\' && (bytes[at] & 0xff) >= ' ') {
        at++;
      }
      value.append(utf8(from));
      if (at >= end) {
        throw text.damaged(place, "a JSON string does not end");
      }
      byte stop = bytes[at++];
      if (stop == '"') {
        return Utf8.wellFormed(value);
      }
      if (stop != '\\') {
        at--;
        throw wrong("a control character is in a JSON string");
      }
      value.append(escaped());
    }
  }

  private CharSequence utf8(int from) throws TraceFormatException {
    int plain = from;
    while (plain < at && bytes[plain] >= 0) {
      plain++;
    }
    if (plain == at) {
      return new String(bytes, from, at - from, StandardCharsets.US_ASCII);
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, at - from));
    } catch (CharacterCodingException _) {
      throw text.damaged(from, "a JSON string is not in UTF-8");
    }
  }

  private char escaped() throws TraceFormatException {
    int sign = at < end ? bytes[at] : -1;
    int which = "\"\\/bfnrt".indexOf(sign);
    if (which >= 0) {
      at++;
      return "\"\\/\b\f\n\r\t".charAt(which);
    }
    if (sign != 'u' || end - at < 5) {
      throw wrong("a JSON string has an unknown escape");
    }
    int unit = 0;
    for (int i = 1; i <= 4; i++) {
      int digit = Character.digit(bytes[at + i], 16);
      if (digit < 0) {
        throw wrong("a JSON string has an unknown escape");
      }
      unit = unit << 4 | digit;
    }
    at += 5;
    return (char) unit;
  }
}
