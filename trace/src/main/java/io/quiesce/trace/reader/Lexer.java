package io.quiesce.trace.reader;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Splits metadata into words, numbers, literals and signs. One token at a time; it can go back. */
final class Lexer {

  /** What a token is. */
  enum Kind {
    /** A name or a keyword. */
    WORD,
    /** A number without sign. */
    NUMBER,
    /** A text in quotes. */
    LITERAL,
    /** Punctuation of one to three characters. */
    SIGN,
    /** There is no more. */
    END
  }

  private static final int MAX_LITERAL = 1 << 20;

  private final MetadataText text;
  private final byte[] bytes;
  private int next;

  private Kind kind = Kind.END;
  private int start;
  private String value = "";
  private long number;

  Lexer(MetadataText text) throws TraceFormatException {
    this.text = text;
    this.bytes = text.bytes();
    advance();
  }

  Kind kind() {
    return kind;
  }

  /** Where the token begins in the text. */
  int place() {
    return start;
  }

  /** A word, a literal's content, or a sign. */
  String value() {
    return value;
  }

  /** A number's 64 bits. */
  long number() {
    return number;
  }

  /** Whether the token is this sign or word; literals are neither. */
  boolean is(String expected) {
    return (kind == Kind.SIGN || kind == Kind.WORD) && value.equals(expected);
  }

  /** Goes past the token if it is this sign or word. */
  boolean skip(String expected) throws TraceFormatException {
    if (is(expected)) {
      advance();
      return true;
    }
    return false;
  }

  void expect(String expected) throws TraceFormatException {
    if (!skip(expected)) {
      throw unexpected("\"" + expected + "\"");
    }
  }

  String word() throws TraceFormatException {
    if (kind != Kind.WORD) {
      throw unexpected("a name");
    }
    String word = value;
    advance();
    return word;
  }

  /** Goes back to a token that began there. */
  void back(int place) throws TraceFormatException {
    next = place;
    advance();
  }

  TraceFormatException unexpected(String wanted) {
    String found =
        switch (kind) {
          case END -> "the end";
          case NUMBER -> Long.toUnsignedString(number);
          case LITERAL -> "a literal";
          default -> "\"" + (value.length() > 40 ? value.substring(0, 40) : value) + "\"";
        };
    return text.damaged(start, wanted + " is expected, not " + found);
  }

  TraceFormatException damaged(int place, String what) {
    return text.damaged(place, what);
  }

  void advance() throws TraceFormatException {
    skipBlank();
    start = next;
    value = "";
    if (next >= bytes.length) {
      kind = Kind.END;
    } else if (isWord(bytes[next])) {
      if (isDigit(bytes[next])) {
        scanNumber();
        return;
      }
      kind = Kind.WORD;
      while (next < bytes.length && isWord(bytes[next])) {
        next++;
      }
      value = new String(bytes, start, next - start, StandardCharsets.US_ASCII);
    } else if (bytes[next] == '"' || bytes[next] == '\'') {
      scanLiteral(bytes[next]);
    } else {
      kind = Kind.SIGN;
      next += follows("...") ? 3 : follows(":=") || follows("->") ? 2 : 1;
      value = new String(bytes, start, next - start, StandardCharsets.ISO_8859_1);
    }
  }

  private boolean follows(String sign) {
    if (bytes.length - next < sign.length()) {
      return false;
    }
    for (int i = 0; i < sign.length(); i++) {
      if (bytes[next + i] != sign.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private void skipBlank() throws TraceFormatException {
    while (next < bytes.length) {
      if (bytes[next] <= ' ' && bytes[next] >= 0) {
        next++;
      } else if (follows("//")) {
        while (next < bytes.length && bytes[next] != '\n') {
          next++;
        }
      } else if (follows("/*")) {
        int begin = next;
        next += 2;
        while (!follows("*/")) {
          if (++next >= bytes.length) {
            throw text.damaged(begin, "a comment has no end");
          }
        }
        next += 2;
      } else {
        return;
      }
    }
  }

  private void scanNumber() throws TraceFormatException {
    while (next < bytes.length && isWord(bytes[next])) {
      next++;
    }
    String digits = new String(bytes, start, next - start, StandardCharsets.US_ASCII);
    String plain = digits.replaceFirst("(?i)(?<=[0-9a-f])[ul]+$", "");
    try {
      if (plain.startsWith("0x") || plain.startsWith("0X")) {
        number = Long.parseUnsignedLong(plain, 2, plain.length(), 16);
      } else if (plain.length() > 1 && plain.charAt(0) == '0') {
        number = Long.parseUnsignedLong(plain, 1, plain.length(), 8);
      } else {
        number = Long.parseUnsignedLong(plain, 10);
      }
    } catch (NumberFormatException _) {
      String shown = digits.length() > 40 ? digits.substring(0, 40) : digits;
      throw text.damaged(start, shown + " is no number of 64 bits");
    }
    kind = Kind.NUMBER;
  }

  private void scanLiteral(byte quote) throws TraceFormatException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    next++;
    while (true) {
      if (next >= bytes.length || bytes[next] == '\n' || content.size() > MAX_LITERAL) {
        throw text.damaged(start, "a literal has no end");
      }
      byte b = bytes[next++];
      if (b == quote) {
        break;
      }
      content.write(b == '\\' ? escaped() : b);
    }
    value = content.toString(StandardCharsets.UTF_8);
    kind = Kind.LITERAL;
  }

  private int escaped() {
    if (next >= bytes.length) {
      return '\\';
    }
    byte b = bytes[next++];
    if (b == 'x') {
      return digits(16, 2);
    }
    if (b >= '0' && b <= '7') {
      next--;
      return digits(8, 3);
    }
    int which = "abefnrtv".indexOf(b);
    return which < 0 ? b : "\u0007\b\u001b\f\n\r\t\u000b".charAt(which);
  }

  private int digits(int base, int most) {
    int code = 0;
    for (int i = 0; i < most && next < bytes.length; i++) {
      int digit = Character.digit(bytes[next], base);
      if (digit < 0) {
        break;
      }
      code = code * base + digit;
      next++;
    }
    return code;
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  private static boolean isWord(byte b) {
    return isDigit(b) || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b == '_';
  }
}
