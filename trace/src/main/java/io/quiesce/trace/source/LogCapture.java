package io.quiesce.trace.source;

import io.quiesce.trace.Tracing;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/** Makes an event of each record that reaches the root logger. Thread-safe. */
public final class LogCapture {
  private static @Nullable Object installed;

  private LogCapture() {}

  /** Begins; again does nothing, and nothing happens without the module java.logging. */
  public static synchronized void install() {
    if (installed == null && ModuleLayer.boot().findModule("java.logging").isPresent()) {
      installed = RootHandler.add();
    }
  }

  /** Ends; again does nothing. */
  public static synchronized void uninstall() {
    if (installed instanceof RootHandler handler) {
      Logger.getLogger("").removeHandler(handler);
    }
    installed = null;
  }

  private static final class RootHandler extends Handler {
    private static final Formatter FORMAT = new SimpleFormatter();

    static RootHandler add() {
      RootHandler handler = new RootHandler();
      Logger.getLogger("").addHandler(handler);
      return handler;
    }

    @Override
    public void publish(LogRecord entry) {
      if (isLoggable(entry)) {
        Tracing.text(entry.getLoggerName() + ": " + FORMAT.formatMessage(entry));
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
