package io.quiesce.trace.ctf;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Parses the values that babeltrace2 prints: integers to {@link BigInteger}, reals to {@link
 * Double}, text to {@link String}, arrays to lists, structures to maps.
 */
final class PrettyParser {
  private final String text;
  private int at;

  PrettyParser(String text, int from) {
    this.text = text;
    this.at = from;
  }

  /** Structures with commas between them, up to the end. */
  List<Map<String, Object>> scopes() {
    List<Map<String, Object>> scopes = new ArrayList<>();
    do {
      scopes.add(structure());
    } while (skip(", "));
    if (at != text.length()) {
      throw wrong("the end");
    }
    return scopes;
  }

  private Map<String, Object> structure() {
    Map<String, Object> fields = new LinkedHashMap<>();
    expect("{ ");
    if (skip("}")) {
      return fields;
    }
    do {
      int equals = text.indexOf(" = ", at);
      String name = text.substring(at, equals);
      at = equals + 3;
      if (fields.put(name, value()) != null) {
        throw wrong("another name than " + name);
      }
    } while (skip(", "));
    expect(" }");
    return fields;
  }

  private Object value() {
    return switch (text.charAt(at)) {
      case '"' -> string();
      case '[' -> list();
      case '(' -> labelled();
      default -> number();
    };
  }

  private List<Object> list() {
    List<Object> elements = new ArrayList<>();
    expect("[ ");
    if (skip("]")) {
      return elements;
    }
    do {
      expect("[" + elements.size() + "] = ");
      elements.add(value());
    } while (skip(", "));
    expect(" ]");
    return elements;
  }

  private Babeltrace.Labelled labelled() {
    List<String> labels = new ArrayList<>();
    expect("( ");
    if (!skip("<unknown>")) {
      do {
        labels.add(string());
      } while (skip(", "));
    }
    expect(" : container = ");
    BigInteger value = (BigInteger) number();
    expect(" )");
    return new Babeltrace.Labelled(labels, value);
  }

  private Object number() {
    int end = at;
    while (end < text.length() && ", }])".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    String word = text.substring(at, end);
    at = end;
    if (word.startsWith("0x")) {
      return new BigInteger(word.substring(2), 16);
    }
    if (word.startsWith("0b")) {
      return new BigInteger(word.substring(2), 2);
    }
    if (word.matches("0[0-7]+")) {
      return new BigInteger(word, 8);
    }
    if (word.matches("-?\\d+")) {
      return new BigInteger(word);
    }
    return switch (word) {
      case "nan", "-nan" -> Double.NaN;
      case "inf" -> Double.POSITIVE_INFINITY;
      case "-inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(word);
    };
  }

  private String string() {
    expect("\"");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int plain = at;
    while (text.charAt(at) != '"') {
      if (text.charAt(at) != '\\') {
        at++;
        continue;
      }
      bytes.writeBytes(text.substring(plain, at).getBytes(StandardCharsets.UTF_8));
      char escaped = text.charAt(at + 1);
      at += 2;
      if (escaped == 'x') {
        bytes.write(Integer.parseInt(text.substring(at, at + 2), 16));
        at += 2;
      } else {
        int which = "abefnrtv".indexOf(escaped);
        bytes.write(which < 0 ? escaped : "\u0007\b\u001b\f\n\r\t\u000b".charAt(which));
      }
      plain = at;
    }
    bytes.writeBytes(text.substring(plain, at++).getBytes(StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private boolean skip(String expected) {
    boolean there = text.startsWith(expected, at);
    if (there) {
      at += expected.length();
    }
    return there;
  }

  private void expect(String expected) {
    if (!skip(expected)) {
      throw wrong(expected);
    }
  }

  private AssertionError wrong(String expected) {
    return new AssertionError("expected " + expected + " at " + at + " of " + text);
  }
}
