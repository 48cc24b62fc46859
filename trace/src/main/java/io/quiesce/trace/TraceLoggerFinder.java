package io.quiesce.trace;

import io.quiesce.trace.source.TraceLogger;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Makes {@link System#getLogger} write to the tracer: events {@code log:error}, {@code
 * log:warning}, {@code log:info}, {@code log:debug} and {@code log:trace}, with the fields {@code
 * msg}, {@code logger_name}, {@code class_name}, {@code method_name}, {@code thrown} and {@code
 * int_threadid}. A level that nobody records costs one look.
 *
 * <p>Nothing selects it by default, since it takes the place of the program's own logging for
 * {@code System.Logger}; without it such messages go to {@code java.util.logging}, where {@link
 * TraceHandler} gets them. A program on the class path selects it by a file {@code
 * META-INF/services/java.lang.System$LoggerFinder} with the line {@code
 * io.quiesce.trace.TraceLoggerFinder}; a module by {@code provides System.LoggerFinder with} a
 * subclass of its own.
 *
 * <p>A file of events is not where one looks for errors, so messages from {@code WARNING} up are
 * also written to the console (standard error), recorded or not; {@code -Dquiesce.trace.console=}
 * takes another level or {@code OFF}. With {@code -Dquiesce.trace.caller=true} events name the
 * class and method that logged, which costs several times as much as all the rest.
 *
 * <p>Thread-safe.
 */
public class TraceLoggerFinder extends System.LoggerFinder {
  private final Level console;
  private final boolean caller;

  /**
   * A finder as the two properties say.
   *
   * @throws IllegalArgumentException if one is wrong
   */
  public TraceLoggerFinder() {
    String level = System.getProperty("quiesce.trace.console", "WARNING");
    try {
      this.console = Level.valueOf(level);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "-Dquiesce.trace.console="
              + level
              + " is no level; use TRACE, DEBUG, INFO, WARNING, ERROR or OFF",
          e);
    }
    this.caller = Boolean.getBoolean("quiesce.trace.caller");
  }

  @Override
  public Logger getLogger(String name, Module module) {
    return new TraceLogger(name, console, caller);
  }
}
