package io.quiesce.trace.ctf;

/**
 * JSON on one line, value by value. A line end and a record separator are in it escaped or not at
 * all. Not thread-safe.
 */
final class JsonText {
  private final StringBuilder text = new StringBuilder(256);

  /** The name of the next value. */
  JsonText name(String name) {
    string(name);
    text.append(':');
    return this;
  }

  JsonText string(String value) {
    comma();
    text.append('"');
    String whole = Utf8.wellFormed(value);
    for (int i = 0; i < whole.length(); i++) {
      char c = whole.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ') {
        text.append(String.format(java.util.Locale.ROOT, "\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
    return this;
  }

  JsonText number(long value) {
    comma();
    text.append(value);
    return this;
  }

  JsonText unsigned(long value) {
    comma();
    text.append(Long.toUnsignedString(value));
    return this;
  }

  /** What is JSON already. */
  JsonText raw(String json) {
    comma();
    text.append(json);
    return this;
  }

  JsonText begin() {
    comma();
    text.append('{');
    return this;
  }

  JsonText end() {
    text.append('}');
    return this;
  }

  JsonText beginList() {
    comma();
    text.append('[');
    return this;
  }

  JsonText endList() {
    text.append(']');
    return this;
  }

  /** Between two values of a list or an object; a string's last character is a quote. */
  private void comma() {
    char last = text.isEmpty() ? '{' : text.charAt(text.length() - 1);
    if (last != '{' && last != '[' && last != ':') {
      text.append(',');
    }
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
