package io.quiesce.trace.source;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tracepoints of {@code System.Logger}, one for each level. Thread-safe. */
public final class LogEvents {
  private static final List<String> STRINGS =
      List.of("msg", "logger_name", "class_name", "method_name", "thrown");

  private static final Emitter ERROR = of("error", 3);
  private static final Emitter WARNING = of("warning", 4);
  private static final Emitter INFO = of("info", 6);
  private static final Emitter DEBUG = of("debug", 10);
  private static final Emitter TRACE = of("trace", 12);

  private LogEvents() {}

  private static Emitter of(String name, int level) {
    return Emitter.of("log", name, level, STRINGS, List.of("int_threadid"), List.of());
  }

  /** Has the tracepoints made. */
  static void load() {
    // The class is initialised now.
  }

  private static @Nullable Emitter emitter(System.Logger.Level level) {
    return switch (level) {
      case ERROR -> ERROR;
      case WARNING -> WARNING;
      case INFO -> INFO;
      case DEBUG -> DEBUG;
      case TRACE, ALL -> TRACE;
      case OFF -> null;
    };
  }

  /** Whether somebody wants messages of a level; nobody wants {@code OFF}. */
  public static boolean isOn(System.Logger.Level level) {
    Emitter emitter = emitter(level);
    return emitter != null && emitter.isOn();
  }

  /** Writes an event, if somebody wants it. */
  public static void emit(
      System.Logger.Level level,
      String message,
      String logger,
      String className,
      String method,
      String thrown) {
    Emitter emitter = emitter(level);
    if (emitter != null) {
      long thread = Thread.currentThread().threadId();
      emitter.emit(message, logger, className, method, thrown, thread, 0, 0, 0, 0);
    }
  }
}
