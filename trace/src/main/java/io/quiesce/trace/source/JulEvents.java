package io.quiesce.trace.source;

import java.util.List;

/**
 * The tracepoints of {@code java.util.logging}, one for each of its levels, so that a level that
 * nobody wants costs one look. Fields as LTTng's, and {@code thrown}. Needs no class of that
 * module. Thread-safe.
 */
public final class JulEvents {
  private static final List<String> STRINGS =
      List.of("msg", "logger_name", "class_name", "method_name", "thrown");
  private static final List<String> LONGS = List.of("long_millis", "int_threadid");
  private static final List<String> INTS = List.of("int_loglevel");

  private static final Emitter SEVERE = of("severe", 3);
  private static final Emitter WARNING = of("warning", 4);
  private static final Emitter INFO = of("info", 6);
  private static final Emitter CONFIG = of("config", 7);
  private static final Emitter FINE = of("fine", 10);
  private static final Emitter FINER = of("finer", 12);
  private static final Emitter FINEST = of("finest", 14);

  private JulEvents() {}

  private static Emitter of(String name, int level) {
    return Emitter.of("jul", name, level, STRINGS, LONGS, INTS);
  }

  /** Has the tracepoints made. */
  static void load() {
    // The class is initialised now.
  }

  /** Of a level's value; one of the program's own belongs to the next below. */
  private static Emitter emitter(int level) {
    if (level >= 900) {
      return level >= 1000 ? SEVERE : WARNING;
    }
    if (level >= 700) {
      return level >= 800 ? INFO : CONFIG;
    }
    if (level >= 400) {
      return level >= 500 ? FINE : FINER;
    }
    return FINEST;
  }

  /** The level of a record's tracepoint, on LTTng's scale. */
  static int traceLevel(int level) {
    return emitter(level).point().level();
  }

  /** Whether somebody wants records of a level. */
  public static boolean isOn(int level) {
    return emitter(level).isOn();
  }

  /** Writes an event, if somebody wants it. */
  @SuppressWarnings("TooManyParameters") // So that nothing is allocated.
  public static void emit(
      String message,
      String logger,
      String className,
      String method,
      String thrown,
      long millis,
      long thread,
      int level) {
    emitter(level).emit(message, logger, className, method, thrown, millis, thread, 0, 0, level);
  }
}
