package io.quiesce.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes maps, lists, strings, numbers, booleans and nulls as JSON; and reports as such maps. */
public final class Json {
  private Json() {}

  /** The version of the shape of {@link #of(Report)}. */
  public static final int SCHEMA = 1;

  /**
   * A report in the shape that {@code --json} promises: {@code schema}, {@code machine}, {@code
   * results}, {@code comparisons}. A row without figures has nulls, zero runs and a note; one whose
   * subject told more than the figure has the medians of that as {@code extra}.
   *
   * @param report what was found
   * @return maps and lists
   */
  public static Map<String, Object> of(Report report) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", SCHEMA);
    all.put("machine", report.machine().facts());
    all.put("results", report.rows().stream().map(Json::row).toList());
    all.put("comparisons", report.comparisons().stream().map(Json::comparison).toList());
    return all;
  }

  private static Map<String, @Nullable Object> row(Report.Row row) {
    Statistics figure = row.figure();
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("experiment", row.experiment());
    map.put("subject", row.subject());
    map.put("kind", row.kind().label());
    map.put("params", params(row.params()));
    map.put("unit", row.measure().unit());
    map.put("better", row.measure().better());
    map.put("median", figure == null ? null : (Object) figure.median());
    map.put("min", figure == null ? null : (Object) figure.min());
    map.put("max", figure == null ? null : (Object) figure.max());
    map.put("runs", figure == null ? 0 : figure.runs());
    if (!row.others().isEmpty()) {
      map.put("extra", new LinkedHashMap<>(row.others()));
    }
    if (!row.note().isEmpty()) {
      map.put("note", row.note());
    }
    return map;
  }

  private static Map<String, @Nullable Object> comparison(Report.Comparison comparison) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("experiment", comparison.experiment());
    map.put("params", params(comparison.params()));
    map.put("subject", comparison.subject());
    map.put("against", comparison.against());
    map.put("gain_median", comparison.gain().median());
    map.put("gain_min", comparison.gain().min());
    map.put("gain_max", comparison.gain().max());
    return map;
  }

  private static Map<String, @Nullable Object> params(Params params) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    params
        .values()
        .forEach((k, v) -> map.put(k, v.matches("-?[0-9]{1,9}") ? (Object) Integer.valueOf(v) : v));
    return map;
  }

  /**
   * Writes a value.
   *
   * @param value maps with string keys, lists, strings, numbers, booleans, null
   * @return the text, indented, with a final line feed
   * @throws IllegalArgumentException for anything else, and for numbers that JSON does not know
   */
  public static String write(@Nullable Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out, 0);
    return out.append('\n').toString();
  }

  private static void write(@Nullable Object value, StringBuilder out, int depth) {
    switch (value) {
      case null -> out.append("null");
      case Map<?, ?> map -> {
        String separator = "{";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          out.append(separator);
          indent(out, depth + 1);
          quote(String.valueOf(entry.getKey()), out);
          out.append(": ");
          write(entry.getValue(), out, depth + 1);
          separator = ",";
        }
        end(map.isEmpty(), "{", "}", out, depth);
      }
      case List<?> list -> {
        String separator = "[";
        for (Object element : list) {
          out.append(separator);
          indent(out, depth + 1);
          write(element, out, depth + 1);
          separator = ",";
        }
        end(list.isEmpty(), "[", "]", out, depth);
      }
      case String text -> quote(text, out);
      case Boolean flag -> out.append(flag);
      case Integer number -> out.append(number);
      case Long number -> out.append(number);
      case Double number -> out.append(number(number));
      default -> throw new IllegalArgumentException("not JSON: " + value.getClass());
    }
  }

  /** Six significant digits: no measurement here has more. */
  private static String number(double value) {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException("not JSON: " + value);
    }
    if (Math.abs(value) >= 1e6) {
      return String.format(Locale.ROOT, "%.1f", value);
    }
    return new java.math.BigDecimal(value, new java.math.MathContext(6))
        .stripTrailingZeros()
        .toPlainString();
  }

  private static void end(boolean empty, String open, String close, StringBuilder out, int depth) {
    if (empty) {
      out.append(open);
    } else {
      indent(out, depth);
    }
    out.append(close);
  }

  private static void indent(StringBuilder out, int depth) {
    out.append('\n').append("  ".repeat(depth));
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        default -> {
          if (c < 0x20 || c == '<' || c == 0x2028 || c == 0x2029) { // '<': safe inside a script
            out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
