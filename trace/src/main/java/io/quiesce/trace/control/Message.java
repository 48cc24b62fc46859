package io.quiesce.trace.control;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A line of the protocol: a word, then keys with values, all separated by tabs. Tabs, line ends and
 * backslashes in values are escaped by a backslash.
 *
 * @param word what it is
 * @param values in order
 */
public record Message(String word, Map<String, String> values) {
  /** A message that says how the work went. */
  public static final String OK = "ok";

  /** A message that holds the reason why it did not go. */
  public static final String ERROR = "error";

  /** The last message of an answer; without it the answer was cut off. */
  public static final String END = "end";

  /** The key of a reason. */
  public static final String REASON = "reason";

  /** Takes the word and pairs of key and value. */
  public static Message of(String word, Object... pairs) {
    Map<String, String> values = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      values.put(String.valueOf(pairs[i]), String.valueOf(pairs[i + 1]));
    }
    return new Message(word, values);
  }

  /** The value of a key, or an empty one. */
  public String get(String key) {
    @Nullable String value = values.get(key);
    return value == null ? "" : value;
  }

  /** Takes a line apart. What has no equals sign is left out. */
  static Message parse(String line) {
    String[] parts = line.split("\t", -1);
    Map<String, String> values = new LinkedHashMap<>();
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      if (equals > 0) {
        values.put(parts[i].substring(0, equals), unescape(parts[i].substring(equals + 1)));
      }
    }
    return new Message(parts[0], values);
  }

  /** The line with its end. */
  String line() {
    StringBuilder line = new StringBuilder(word);
    values.forEach(
        (key, value) -> {
          line.append('\t').append(key).append('=');
          escape(line, value);
        });
    return line.append('\n').toString();
  }

  private static void escape(StringBuilder line, String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> line.append("\\\\");
        case '\t' -> line.append("\\t");
        case '\n' -> line.append("\\n");
        case '\r' -> line.append("\\r");
        default -> line.append(c);
      }
    }
  }

  private static String unescape(String text) {
    StringBuilder value = new StringBuilder(text.length());
    boolean escaped = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (!escaped && c == '\\') {
        escaped = true;
      } else {
        value.append(escaped ? meant(c) : c);
        escaped = false;
      }
    }
    return value.toString();
  }

  private static char meant(char escaped) {
    return switch (escaped) {
      case 't' -> '\t';
      case 'n' -> '\n';
      case 'r' -> '\r';
      default -> escaped;
    };
  }
}
