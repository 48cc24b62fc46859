package io.quiesce.trace.reader;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Events as lines of text, as babeltrace2's text sink prints them by default.
 *
 * <pre>
 *   [10:32:05.000123456] (+0.000000210) host:java:(70) app:order: { cpu_id = 3 }, { vtid = 71 }, { qty = 5 }
 * </pre>
 *
 * <p>Time of day, step from the event printed before, what the environment has of host name,
 * process name and process id, the event's name, the CPU, contexts that are not empty, fields. Text
 * is quoted; quotes, backslashes, control characters and what ends a line are escaped, so that an
 * event is one line whatever it holds. Two things differ from there: real numbers have all the
 * digits that tell them apart, and numbers in base 8 only the bits that they have.
 *
 * <p>Not thread-safe, because of the step.
 */
public final class TraceText {
  private static final long NANOS = 1_000_000_000L;
  private static final long NONE = Long.MIN_VALUE;
  private static final HexFormat HEX = HexFormat.of();

  private final ZoneId zone;
  private final boolean steps;
  private long last = NONE;

  /** The hour for which the zone was asked last: it changes its offset by the quarter at most. */
  private long quarter = NONE;

  private long offsetSeconds;

  /** In the machine's time zone, without the steps of time. */
  public TraceText() {
    this(ZoneId.systemDefault(), false);
  }

  /**
   * A printer.
   *
   * @param zone of the times of day
   * @param steps whether each line has the step of time from the one before
   */
  public TraceText(ZoneId zone, boolean steps) {
    this.zone = zone;
    this.steps = steps;
  }

  /** An event as one line, without what ends it. */
  public String line(Event event) {
    StringBuilder line = new StringBuilder(200);
    append(line, event);
    return line.toString();
  }

  /** Appends an event as one line, without what ends it. */
  public void append(StringBuilder to, Event event) {
    long nanos = event.timeNanos();
    to.append('[');
    time(to, nanos);
    to.append("] ");
    if (steps) {
      to.append("(+");
      if (last == NONE) {
        to.append("?.?????????");
      } else {
        long step = nanos - last;
        to.append(Long.divideUnsigned(step, NANOS)).append('.');
        digits(to, Long.remainderUnsigned(step, NANOS), 9);
      }
      to.append(") ");
      last = nanos;
    }
    origin(to, event.stream().trace().schema().environment());
    plain(to, event.name());
    to.append(": ");
    if (event.cpu() >= 0) {
      to.append("{ cpu_id = ").append(event.cpu()).append(" }, ");
    }
    context(to, event.streamContext());
    context(to, event.context());
    append(to, event.fields());
  }

  private static void context(StringBuilder to, Value context) {
    if (context.size() > 0) {
      append(to, context);
      to.append(", ");
    }
  }

  private void time(StringBuilder to, long nanos) {
    long seconds = Math.floorDiv(nanos, NANOS);
    long now = Math.floorDiv(seconds, 900);
    if (now != quarter) {
      quarter = now;
      offsetSeconds = zone.getRules().getOffset(Instant.ofEpochSecond(seconds)).getTotalSeconds();
    }
    long ofDay = Math.floorMod(seconds + offsetSeconds, 86_400L);
    digits(to, ofDay / 3600, 2);
    to.append(':');
    digits(to, ofDay / 60 % 60, 2);
    to.append(':');
    digits(to, ofDay % 60, 2);
    to.append('.');
    digits(to, Math.floorMod(nanos, NANOS), 9);
  }

  /** A moment with its date, such as {@code 2026-12-02 10:32:05.000123456}. */
  public String dateTime(long nanos) {
    long seconds = Math.floorDiv(nanos, NANOS);
    ZonedDateTime moment =
        ZonedDateTime.ofInstant(Instant.ofEpochSecond(seconds), ZoneOffset.UTC)
            .withZoneSameInstant(zone);
    StringBuilder text = new StringBuilder(32).append(moment.toLocalDate()).append(' ');
    time(text, nanos);
    return text.toString();
  }

  private static void origin(StringBuilder to, Map<String, Object> environment) {
    int before = to.length();
    for (String key : List.of("hostname", "procname", "vpid")) {
      Object value = environment.get(key);
      if (value != null) {
        if (to.length() > before) {
          to.append(':');
        }
        boolean process = key.equals("vpid");
        to.append(process ? "(" : "");
        plain(to, value.toString());
        to.append(process ? ")" : "");
      }
    }
    if (to.length() > before) {
      to.append(' ');
    }
  }

  private static void digits(StringBuilder to, long number, int width) {
    String digits = Long.toString(number);
    for (int i = digits.length(); i < width; i++) {
      to.append('0');
    }
    to.append(digits);
  }

  /** Appends a value: what stands behind the {@code =}. */
  public static void append(StringBuilder to, Value value) {
    boolean choice = value.type() instanceof Type.Variant;
    if (!choice && value.isText()) {
      quote(to, value.asText());
      return;
    }
    switch (value.type()) {
      case Type.Int type -> integer(to, type, value.asLong());
      case Type.Real type -> real(to, type, value.asDouble());
      case Type.Enumeration type -> enumeration(to, type, value);
      case Type.Text _ -> quote(to, value.asText());
      case Type.Listing _ -> list(to, value);
      case Type.Struct type -> {
        to.append("{ ");
        for (int i = 0; i < type.fields().size(); i++) {
          to.append(i == 0 ? "" : ", ").append(type.fields().get(i).name()).append(" = ");
          append(to, value.at(i));
        }
        to.append(type.fields().isEmpty() ? "}" : " }");
      }
      case Type.Variant _ -> {
        to.append("{ ");
        append(to, value.chosen());
        to.append(" }");
      }
    }
  }

  private static void list(StringBuilder to, Value list) {
    to.append("[ ");
    for (int i = 0; i < list.size(); i++) {
      to.append(i == 0 ? "[" : ", [").append(i).append("] = ");
      append(to, list.at(i));
    }
    to.append(list.size() == 0 ? "]" : " ]");
  }

  private static void enumeration(StringBuilder to, Type.Enumeration type, Value value) {
    List<String> labels = value.labels();
    to.append("( ");
    if (labels.isEmpty()) {
      to.append("<unknown>");
    }
    for (int i = 0; i < labels.size(); i++) {
      to.append(i == 0 ? "" : ", ");
      quote(to, labels.get(i));
    }
    to.append(" : container = ");
    integer(to, type.container(), value.asLong());
    to.append(" )");
  }

  /** Appends an integer in the base of its type. */
  static void integer(StringBuilder to, Type.Int type, long value) {
    long own = type.bits() == Long.SIZE ? value : value & ((1L << type.bits()) - 1);
    switch (type.base()) {
      case 2 -> {
        String digits = Long.toBinaryString(own);
        to.append("0b").repeat('0', type.bits() - digits.length()).append(digits);
      }
      case 8 -> to.append('0').append(Long.toOctalString(own));
      case 16 -> to.append("0x").append(Long.toHexString(own).toUpperCase(java.util.Locale.ROOT));
      default -> to.append(type.signed() ? Long.toString(value) : Long.toUnsignedString(value));
    }
  }

  private static void real(StringBuilder to, Type.Real type, double value) {
    if (Double.isNaN(value)) {
      to.append("nan");
    } else if (Double.isInfinite(value)) {
      to.append(value < 0 ? "-inf" : "inf");
    } else {
      String digits =
          type.bits() == Integer.SIZE ? Float.toString((float) value) : Double.toString(value);
      to.append(digits.endsWith(".0") ? digits.substring(0, digits.length() - 2) : digits);
    }
  }

  private static void quote(StringBuilder to, String text) {
    to.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        to.append('\\').append(c);
      } else if (isControl(c)) {
        escape(to, c);
      } else {
        to.append(c);
      }
    }
    to.append('"');
  }

  /** Names have no quotes around them, but no terminal is to be controlled by them either. */
  private static void plain(StringBuilder to, @Nullable String text) {
    for (int i = 0; text != null && i < text.length(); i++) {
      char c = text.charAt(i);
      if (isControl(c)) {
        escape(to, c);
      } else {
        to.append(c);
      }
    }
  }

  /** Control characters, and the two that end a line without being such. */
  private static boolean isControl(char c) {
    return Character.isISOControl(c) || c == '\u2028' || c == '\u2029';
  }

  private static void escape(StringBuilder to, char c) {
    int which = "\u0007\b\u001b\f\n\r\t\u000b".indexOf(c);
    if (which >= 0) {
      to.append('\\').append("abefnrtv".charAt(which));
      return;
    }
    for (byte b : String.valueOf(c).getBytes(StandardCharsets.UTF_8)) {
      to.append("\\x").append(HEX.toHexDigits(b));
    }
  }
}
