package io.quiesce.trace.source;

import java.lang.StackWalker.StackFrame;
import java.util.Objects;
import java.util.Optional;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** A {@code System.Logger} whose messages are events, and text on the console from a level on. */
public final class TraceLogger implements System.Logger {
  /** Classes of the JDK that may stand between this and the program. */
  private static final String JDK_LOGGING = "sun.util.logging.";

  private final String name;
  private final Level console;
  private final boolean caller;

  /**
   * Makes one.
   *
   * @param console the lowest level that goes there; {@code OFF} for none
   */
  public TraceLogger(String name, Level console, boolean caller) {
    this.name = Objects.requireNonNull(name, "name");
    this.console = console;
    this.caller = caller;
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public boolean isLoggable(Level level) {
    return LogEvents.isOn(level) || isShown(level);
  }

  private boolean isShown(Level level) {
    return level != Level.OFF && level.getSeverity() >= console.getSeverity();
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String message,
      @Nullable Throwable thrown) {
    if (isLoggable(level)) {
      write(level, LogText.message(message, bundle, null), thrown);
    }
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String format,
      @Nullable Object @Nullable ... parameters) {
    if (isLoggable(level)) {
      write(level, LogText.message(format, bundle, parameters), null);
    }
  }

  private void write(Level level, String message, @Nullable Throwable thrown) {
    String trace = LogText.thrown(thrown);
    if (LogEvents.isOn(level)) {
      Optional<StackFrame> frame = caller ? caller() : Optional.empty();
      String className = frame.map(StackFrame::getClassName).orElse("");
      String method = frame.map(StackFrame::getMethodName).orElse("");
      LogEvents.emit(level, message, name, className, method, trace);
    }
    if (isShown(level)) {
      String end = trace.isEmpty() ? "" : System.lineSeparator() + trace.stripTrailing();
      System.err.println(level + " " + name + ": " + message + end);
    }
  }

  private static Optional<StackFrame> caller() {
    return StackWalker.getInstance()
        .walk(frames -> frames.dropWhile(frame -> isLogging(frame.getClassName())).findFirst());
  }

  private static boolean isLogging(String className) {
    return className.equals(TraceLogger.class.getName())
        || className.startsWith("java.lang.System$Logger")
        || className.startsWith(JDK_LOGGING)
        || className.startsWith("jdk.internal.logger.");
  }
}
