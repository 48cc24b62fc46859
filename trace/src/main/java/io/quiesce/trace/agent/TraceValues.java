package io.quiesce.trace.agent;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Levels and sizes as people write them. */
public final class TraceValues {
  /** The highest level: all events. */
  public static final int ALL_LEVELS = 14;

  /** In order, from 0; what lies between information and debug has no name here. */
  private static final List<String> LEVELS =
      List.of("emergency", "alert", "critical", "error", "warning", "notice", "info");

  private static final Pattern SIZE = Pattern.compile("(\\d{1,12})([KMG]?)(i?B)?");

  private TraceValues() {}

  /**
   * A level on LTTng's scale.
   *
   * @param text 0 to 14, or emergency, alert, critical, error, warning, notice, info, debug
   * @throws IllegalArgumentException in one sentence if it is neither
   */
  public static int level(String text) {
    String word = text.toLowerCase(Locale.ROOT);
    if (word.equals("debug")) {
      return ALL_LEVELS;
    }
    int named = LEVELS.indexOf(word);
    if (named >= 0) {
      return named;
    }
    if (word.matches("\\d{1,2}") && Integer.parseInt(word) <= ALL_LEVELS) {
      return Integer.parseInt(word);
    }
    throw new IllegalArgumentException(
        "a level is 0 to 14, or one of " + String.join(", ", LEVELS) + ", debug, not " + text);
  }

  /**
   * A number of bytes.
   *
   * @param text a number, with K, M or G behind it for 1,024, its square or its cube
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
