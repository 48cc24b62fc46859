package io.quiesce.trace;

import io.quiesce.trace.source.JulEvents;
import io.quiesce.trace.source.LogCapture;
import io.quiesce.trace.source.LogText;
import java.util.Objects;
import java.util.logging.ErrorManager;
import java.util.logging.Filter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;

/**
 * Log records of {@code java.util.logging} as events {@code jul:severe}, {@code jul:warning},
 * {@code jul:info}, {@code jul:config}, {@code jul:fine}, {@code jul:finer}, {@code jul:finest}. A
 * level of the program's own goes with the next one below.
 *
 * <p>Fields: {@code msg} (with its parameters, from its resource bundle), {@code logger_name},
 * {@code class_name} and {@code method_name} (empty without {@link #setCallerLookup}), {@code
 * thrown} (with the stack trace; empty if there is none), {@code long_millis} (since 1970), {@code
 * int_threadid} (of Java), {@code int_loglevel} (the level's number).
 *
 * <p>While nobody records a level, a record of it costs one look. Loggers decide first: what is
 * below a logger's level never gets here. {@link #install} puts a handler at the root; or name the
 * class in {@code logging.properties}:
 *
 * <pre>
 * handlers = java.util.logging.ConsoleHandler, io.quiesce.trace.TraceHandler
 * io.quiesce.trace.TraceHandler.level = ALL
 * io.quiesce.trace.TraceHandler.filter = (the name of a class; optional)
 * io.quiesce.trace.TraceHandler.caller = false
 * </pre>
 *
 * <p>Thread-safe, takes no lock, and is never held up by a session. Closing it does nothing: what
 * ends the events is to remove it from its loggers.
 */
public class TraceHandler extends Handler {
  private static final String NAME = TraceHandler.class.getName();

  private volatile boolean callerLookup;

  /** A handler as {@code logging.properties} says; by default of all levels. */
  @SuppressWarnings("this-escape") // The setters of Handler.
  public TraceHandler() {
    LogManager manager = LogManager.getLogManager();
    String caller = manager.getProperty(NAME + ".caller");
    callerLookup =
        caller == null ? Boolean.getBoolean("quiesce.trace.caller") : Boolean.parseBoolean(caller);
    String level = manager.getProperty(NAME + ".level");
    String filter = manager.getProperty(NAME + ".filter");
    try {
      setLevel(level == null ? Level.ALL : Level.parse(level.strip()));
      if (filter != null) {
        setFilter(filter(filter.strip()));
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      reportError("The properties of " + NAME + " make no sense", e, ErrorManager.OPEN_FAILURE);
    }
  }

  private static Filter filter(String name) throws ReflectiveOperationException {
    return Class.forName(name, true, ClassLoader.getSystemClassLoader())
        .asSubclass(Filter.class)
        .getDeclaredConstructor()
        .newInstance();
  }

  /**
   * Whether events name the class and method that logged. Off by default: to find them, the JVM
   * walks the stack, which costs several times as much as all the rest. Also off are names that the
   * program passes to {@code logp}, since they cannot be told from such that have to be found.
   *
   * @param wanted true to have them; the default is the property {@code quiesce.trace.caller}
   */
  public void setCallerLookup(boolean wanted) {
    this.callerLookup = wanted;
  }

  @Override
  public boolean isLoggable(@Nullable LogRecord record) {
    return record != null
        && JulEvents.isOn(record.getLevel().intValue())
        && super.isLoggable(record);
  }

  @Override
  public void publish(@Nullable LogRecord record) {
    if (record == null || !isLoggable(record)) {
      return;
    }
    try {
      emit(record);
    } catch (RuntimeException e) {
      reportError("A log record could not be traced", e, ErrorManager.WRITE_FAILURE);
    }
  }

  private void emit(LogRecord record) {
    boolean caller = callerLookup;
    JulEvents.emit(
        LogText.message(record.getMessage(), record.getResourceBundle(), record.getParameters()),
        Objects.requireNonNullElse(record.getLoggerName(), ""),
        caller ? Objects.requireNonNullElse(record.getSourceClassName(), "") : "",
        caller ? Objects.requireNonNullElse(record.getSourceMethodName(), "") : "",
        LogText.thrown(record.getThrown()),
        record.getMillis(),
        record.getLongThreadID(),
        record.getLevel().intValue());
  }

  /** Does nothing: events need no flush. */
  @Override
  public void flush() {}

  /** Does nothing. */
  @Override
  public void close() {}

  /**
   * Puts a handler at the root logger, and keeps it there when the program reads its logging
   * configuration anew. Again does nothing. Levels and other handlers stay as they are.
   */
  public static void install() {
    LogCapture.install();
  }

  /**
   * As {@link #install()}, and lowers the levels of the root logger, and of those loggers that have
   * a level of their own, where they are above this one. Handlers that have no level of their own,
   * such as {@code FileHandler}, get the additional records too.
   *
   * @param level the highest that may be left
   */
  public static void install(Level level) {
    LogCapture.install(level);
  }

  /** Takes that handler away, and sets levels back that were lowered and not changed since. */
  public static void uninstall() {
    LogCapture.uninstall();
  }
}
