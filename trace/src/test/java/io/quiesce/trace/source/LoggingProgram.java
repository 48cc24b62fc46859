package io.quiesce.trace.source;

import io.quiesce.trace.TraceSession;
import java.lang.System.Logger.Level;
import java.nio.file.Path;

/** Logs by {@code System.Logger}; run with a {@code LoggerFinder} of choice. */
final class LoggingProgram {
  private LoggingProgram() {}

  public static void main(String[] args) throws Exception {
    System.Logger logger = System.getLogger("program");
    logger.log(Level.INFO, "before");
    try (TraceSession _ = TraceSession.record(Path.of(args[0])).enable("log:*").start()) {
      logger.log(Level.INFO, "number {0}", 5);
      logger.log(Level.TRACE, () -> "supplied ü");
      logger.log(Level.ERROR, "thrown", new IllegalStateException("why"));
    }
    logger.log(Level.WARNING, "after");
  }
}
