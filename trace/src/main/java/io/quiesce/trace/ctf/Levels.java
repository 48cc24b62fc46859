package io.quiesce.trace.ctf;

import io.quiesce.trace.TraceLevel;
import java.util.Locale;

/** The names of levels, as babeltrace2 has them in CTF 2: {@code debug:line}. */
public final class Levels {
  private Levels() {}

  /** The name of a level from 0 to {@link EventType#MAX_LEVEL}. */
  static String nameOf(int number) {
    for (TraceLevel level : TraceLevel.values()) {
      if (level.number() == number) {
        return nameOf(level);
      }
    }
    throw new IllegalArgumentException("There is no level " + number);
  }

  private static String nameOf(TraceLevel level) {
    return level.name().toLowerCase(Locale.ROOT).replace('_', ':');
  }

  /** The level of that name, or -1. */
  public static int numberOf(String name) {
    for (TraceLevel level : TraceLevel.values()) {
      if (nameOf(level).equals(name)) {
        return level.number();
      }
    }
    return -1;
  }
}
