package io.quiesce.trace.agent;

import io.quiesce.trace.ContextField;
import io.quiesce.trace.TraceCounts;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.TraceSessionBuilder;
import io.quiesce.trace.source.LogCapture;
import io.quiesce.trace.source.Sources;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The session of an unmodified program, from before {@code main} to the end of the JVM.
 *
 * <p>At the end a flight recorder first writes what it holds to the folder {@link #EXIT}. What the
 * program logged before it ended is in the trace: a record is an event before the call that logs it
 * returns, and the end of the session writes all events. What other shutdown hooks log may come too
 * late, as it may for the handlers of java.util.logging, whose own hook takes them away then.
 */
final class AgentSession {
  /** A flight recorder's last snapshot. */
  static final String EXIT = "exit";

  /** What a thread that ended by an exception left, with a number from 1. */
  static final String EXCEPTION = "exception-";

  /** A program whose threads die without end must not fill the disk. */
  private static final int MOST_EXCEPTIONS = 10;

  /** Read by {@code quiesce trace record}. */
  private static final String RESULT = ".result";

  private final AgentOptions options;
  private final Path folder;
  private final TraceSession session;
  private final AtomicInteger exceptions = new AtomicInteger();

  private AgentSession(AgentOptions options, Path folder, TraceSession session) {
    this.options = options;
    this.folder = folder;
    this.session = session;
  }

  static void begin(AgentOptions options) throws AgentException {
    Path folder =
        options.perProcess()
            ? options.output().resolve(Long.toString(ProcessHandle.current().pid()))
            : options.output();
    try {
      AgentSession begun = new AgentSession(options, folder, start(options, folder));
      begun.endAtExit();
      if (options.snapshotOnException()) {
        begun.watchExceptions();
      }
    } catch (IOException | IllegalArgumentException e) {
      throw new AgentException(String.valueOf(e.getMessage()), e);
    }
    if (Sources.isReadable("java.logging")) {
      if (options.lowering()) {
        LogCapture.install(LogCapture.level(options.level()));
      } else {
        LogCapture.install();
      }
    }
  }

  private static TraceSession start(AgentOptions options, Path folder) throws IOException {
    TraceSessionBuilder builder =
        options.overwrite() ? TraceSession.flightRecorder(folder) : TraceSession.record(folder);
    builder
        .name(options.name())
        .closeAtExit(false)
        .format(options.format())
        .context(options.context().toArray(ContextField[]::new));
    for (String pattern : options.patterns()) {
      builder.enable(pattern, options.level(), options.filter());
    }
    if (options.buffers() != null) {
      builder.buffersIn(options.buffers());
    }
    if (options.budget() > 0) {
      builder.bufferBudget(options.budget());
    }
    return builder.start();
  }

  private void endAtExit() throws IOException {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(this::end, "quiesce-trace-exit"));
    } catch (IllegalStateException _) {
      session.close(); // the JVM ends before it has begun
    }
  }

  private void end() {
    long kept = 0;
    try {
      if (options.overwrite()) {
        kept = session.snapshot(folder.resolve(EXIT));
      }
    } catch (IOException | RuntimeException e) {
      TraceAgent.say("The last snapshot could not be written: " + e.getMessage());
    }
    try {
      session.close();
    } catch (IOException | RuntimeException e) {
      TraceAgent.say(
          e.getMessage() + "; 'quiesce trace recover " + folder + "' finishes the trace");
    }
    if (options.lowering() && Sources.isReadable("java.logging")) {
      LogCapture.uninstall(); // hooks that still log do it as the program wanted
    }
    if (options.result()) {
      writeResult(kept);
    }
  }

  private void writeResult(long kept) {
    TraceCounts counts = session.counts();
    long events = options.overwrite() ? kept : counts.written();
    try {
      Files.write(
          folder.resolve(RESULT),
          List.of(
              "events=" + events,
              "full=" + counts.full(),
              "wrap=" + counts.wrap(),
              "big=" + counts.big(),
              "other=" + counts.other()),
          StandardCharsets.UTF_8);
    } catch (IOException e) {
      TraceAgent.say("The result of the trace could not be written: " + e);
    }
  }

  private void watchExceptions() {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, e) -> uncaught(before, thread, e));
  }

  /** The snapshot first: what the handler before does may end the JVM. */
  @SuppressWarnings({"CatchingUnchecked", "SystemOut"}) // What the JVM itself does.
  private void uncaught(
      Thread.@Nullable UncaughtExceptionHandler before, Thread thread, Throwable e) {
    int number = exceptions.incrementAndGet();
    if (number <= MOST_EXCEPTIONS) {
      try {
        session.snapshot(folder.resolve(EXCEPTION + number));
      } catch (IOException | RuntimeException | Error failure) {
        TraceAgent.say("The snapshot at an exception failed: " + failure.getMessage());
      }
    }
    if (before != null) {
      before.uncaughtException(thread, e);
    } else {
      System.err.print("Exception in thread \"" + thread.getName() + "\" ");
      e.printStackTrace();
    }
  }
}
