package io.quiesce.trace.ctf;

import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;

/**
 * Any text as a name that the metadata language accepts, which has C's identifiers and C's
 * literals.
 *
 * <p>Identifiers begin with an underscore, as LTTng's do: no keyword begins so (but {@code _Bool}
 * and two more), and readers take it away. An ASCII character that cannot be in an identifier
 * becomes an underscore, any other character {@code _u} and its number in base 16, four digits or
 * six; an empty name becomes {@code unnamed}. What is then equal to an earlier name of the same
 * event gets a number. Not thread-safe: one instance serves one list of fields.
 */
final class Names {
  /** Longer names are cut: nobody reads them, and C promises less. */
  static final int MAX_LENGTH = 255;

  private static final Set<String> KEYWORDS =
      Set.of(
          ("align callsite char clock const double enum env event float floating_point int integer"
                  + " long short signed stream string struct trace typealias typedef unsigned"
                  + " variant void _Bool _Complex _Imaginary")
              .split(" "));

  private final Set<String> taken = new HashSet<>();

  /** An identifier with the leading underscore, different from all that this instance returned. */
  String field(String name) {
    String wanted = '_' + (name.isEmpty() ? "unnamed" : word(name));
    if (KEYWORDS.contains(wanted)) {
      wanted += '_';
    }
    return unique(wanted);
  }

  /** An identifier for a key of the environment, which has no underscore before it. */
  String key(String name) {
    String wanted = word(name);
    boolean fits = !wanted.isEmpty() && !isDigit(wanted.charAt(0)) && !KEYWORDS.contains(wanted);
    return unique(fits ? wanted : '_' + wanted);
  }

  /**
   * The name itself, for CTF 2, where any text is one: only what {@link #plain} and the limit
   * change, and a number behind what is there already.
   */
  String verbatim(String name) {
    String wanted = plain(name);
    if (wanted.codePointCount(0, wanted.length()) > MAX_LENGTH) {
      wanted = wanted.substring(0, wanted.offsetByCodePoints(0, MAX_LENGTH));
    }
    String unique = wanted;
    for (int n = 2; !taken.add(unique); n++) {
      unique = wanted + '_' + n;
    }
    return unique;
  }

  private String unique(String wanted) {
    String name = wanted;
    for (int n = 2; taken.contains(name); n++) {
      name = wanted + '_' + n;
    }
    taken.add(name);
    // babeltrace2 2.0 compares a name with the earlier ones as it shows them: _x after __x is a
    // duplicate to it.
    taken.add(name.substring(1));
    return name;
  }

  private static String word(String name) {
    StringBuilder word = new StringBuilder(name.length() + 16);
    name.codePoints()
        .limit(MAX_LENGTH)
        .forEach(
            c -> {
              if (c > 0x7f) {
                word.append("_u").append(HexFormat.of().toHexDigits(c, c > 0xffff ? 6 : 4));
              } else {
                word.append(isLetter(c) || isDigit(c) ? (char) c : '_');
              }
            });
    return word.length() <= MAX_LENGTH ? word.toString() : word.substring(0, MAX_LENGTH);
  }

  private static boolean isLetter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /** A literal in quotes: {@link #plain} text, in which quotes and backslashes are escaped. */
  static String literal(String text) {
    return '"' + plain(text).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /**
   * What would end a line, other control characters and lone surrogates become {@link
   * Utf8#REPLACEMENT}, since readers print names as they are.
   */
  static String plain(String text) {
    StringBuilder plain = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              if (Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE) {
                plain.append(Utf8.REPLACEMENT);
              } else {
                plain.appendCodePoint(c);
              }
            });
    return plain.toString();
  }
}
