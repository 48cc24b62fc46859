package io.quiesce.trace;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Traces numbered texts in some threads, and says what became of them. */
final class TextProgram {
  static final int THREADS = 3;
  static final int EVENTS = 2_000;

  private TextProgram() {}

  /** Argument: the trace. */
  public static void main(String[] args) throws Exception {
    TraceSession session =
        TraceSession.record(Path.of(args[0])).enable("quiesce:text").subBuffers(16, 65536).start();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      String start = t + " ";
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < EVENTS; i++) {
                      Tracing.text(start + i);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    session.close();
    System.out.println(session.counts().written() + " " + session.counts().lost());
  }
}
