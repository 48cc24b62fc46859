package io.quiesce.trace;

import java.io.IOException;
import java.nio.file.Path;

/** Recovers a trace, and says what came of it. */
final class RecoveringProgram {
  private RecoveringProgram() {}

  /** Argument: the trace. */
  public static void main(String[] args) {
    try {
      System.out.println(TraceSession.recover(Path.of(args[0])));
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
  }
}
