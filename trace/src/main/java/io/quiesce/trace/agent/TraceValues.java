package io.quiesce.trace.agent;

import io.quiesce.trace.ContextField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Levels and sizes as people write them. */
public final class TraceValues {
  /** The highest level: all events. */
  public static final int ALL_LEVELS = 14;

  /** In order, from 0. */
  private static final List<String> LEVELS =
      List.of("emergency", "alert", "critical", "error", "warning", "notice", "info");

  /** Of java.util.logging, as its tracepoints have them; the others of its names are above. */
  private static final Map<String, Integer> LOGGED =
      Map.of("severe", 3, "config", 7, "fine", 10, "finer", 12, "finest", 14);

  private static final Pattern SIZE = Pattern.compile("(\\d{1,12})([KMG]?)(i?B)?");

  private TraceValues() {}

  /**
   * A level on LTTng's scale.
   *
   * @param text 0 to 14, or emergency, alert, critical, error, warning, notice, info, debug, or a
   *     name of java.util.logging
   * @return the number
   * @throws IllegalArgumentException in one sentence if it is neither
   */
  public static int level(String text) {
    String word = text.toLowerCase(Locale.ROOT);
    if (word.equals("debug")) {
      return ALL_LEVELS;
    }
    Integer logged = LOGGED.get(word);
    if (logged != null) {
      return logged;
    }
    int named = LEVELS.indexOf(word);
    if (named >= 0) {
      return named;
    }
    if (word.matches("\\d{1,2}") && Integer.parseInt(word) <= ALL_LEVELS) {
      return Integer.parseInt(word);
    }
    throw new IllegalArgumentException(
        "a level is 0 to 14, or one of "
            + String.join(", ", LEVELS)
            + ", severe, config, fine, finer, finest, debug, not "
            + text);
  }

  /**
   * Fields of every event.
   *
   * @param text names of {@link ContextField} in lower case with dashes, separated by commas or
   *     semicolons
   * @return the fields, each once
   * @throws IllegalArgumentException in one sentence if one is unknown
   */
  public static List<ContextField> context(String text) {
    List<ContextField> fields = new ArrayList<>();
    for (String each : text.split("[,;]", -1)) {
      ContextField field = field(each.strip());
      if (!fields.contains(field)) {
        fields.add(field);
      }
    }
    return List.copyOf(fields);
  }

  private static ContextField field(String name) {
    for (ContextField each : ContextField.values()) {
      if (name(each).equals(name)) {
        return each;
      }
    }
    throw new IllegalArgumentException(
        "a field of the context is one of " + fieldNames() + ", not '" + name + "'");
  }

  /**
   * All fields as they are written here.
   *
   * @return names, separated by commas
   */
  public static String fieldNames() {
    return Arrays.stream(ContextField.values())
        .map(TraceValues::name)
        .collect(Collectors.joining(", "));
  }

  /**
   * As it is written here.
   *
   * @param field any
   * @return lower case with dashes
   */
  public static String name(ContextField field) {
    return field.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * A number of bytes.
   *
   * @param text a number, with K, M or G behind it for 1,024, its square or its cube
   * @return bytes
   * @throws IllegalArgumentException in one sentence if it is none, or 0
   */
  public static long bytes(String text) {
    Matcher size = SIZE.matcher(text.strip().toUpperCase(Locale.ROOT).replace("IB", "iB"));
    if (size.matches()) {
      int shift = 10 * " KMG".indexOf(size.group(2).isEmpty() ? " " : size.group(2));
      long number = Long.parseLong(size.group(1));
      if (number > 0 && number <= Long.MAX_VALUE >> shift) {
        return number << shift;
      }
    }
    throw new IllegalArgumentException("a size is a number such as 32M, not " + text);
  }
}
