package io.quiesce.cli;

import java.util.logging.Handler;
import java.util.logging.Logger;

/** A program that knows nothing of Quiesce: logs, says that it is ready, and ends somehow. */
final class LoggedProgram {
  private static final Logger LOG = Logger.getLogger("program");

  private LoggedProgram() {}

  /** How it ends, and how many records it logs before. */
  public static void main(String[] args) throws InterruptedException {
    for (Handler each : Logger.getLogger("").getHandlers()) {
      if (each instanceof java.util.logging.ConsoleHandler) {
        Logger.getLogger("").removeHandler(each);
      }
    }
    int count = Integer.parseInt(args[1]);
    for (int i = 0; i < count; i++) {
      LOG.info("item " + i + ".");
    }
    System.out.println("ready " + ProcessHandle.current().pid());
    switch (args[0]) {
      case "exit" -> System.exit(7);
      case "halt" -> Runtime.getRuntime().halt(3);
      case "levels" -> levels();
      case "throw" -> throw new IllegalStateException("on purpose");
      case "tick" -> tick(count);
      default -> {}
    }
  }

  private static void levels() {
    System.out.println("level " + Logger.getLogger("").getLevel());
    LOG.fine("fine.");
    System.getLogger("other").log(System.Logger.Level.DEBUG, "debug.");
    LOG.finest("finest.");
  }

  @SuppressWarnings("InfiniteLoop") // A signal ends it.
  private static void tick(int from) throws InterruptedException {
    for (int i = from; ; i++) {
      LOG.info("item " + i + ".");
      Thread.sleep(2);
    }
  }
}
