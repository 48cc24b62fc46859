package io.quiesce.cli;

import io.quiesce.trace.TraceCounts;
import io.quiesce.trace.TraceRecovery;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.reader.TraceReader;
import io.quiesce.trace.reader.TraceStatistics;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A program that is recorded: started, waited for, and its trace looked after. */
final class Recording {
  /** Files whose names begin with a dot are none of a trace's. */
  private static final String OPTIONS = ".agent";

  private static final String RESULT = ".result";
  private static final String RUNNING = ".quiesce";
  private static final int KILLED_BY_INT = 130;

  private final Path folder;
  private final List<String> options;
  private final TracedCommand command;
  private final boolean overwrite;
  private @Nullable Process process;
  private boolean interrupted;

  Recording(Path folder, List<String> options, TracedCommand command, boolean overwrite) {
    this.folder = folder;
    this.options = options;
    this.command = command;
    this.overwrite = overwrite;
  }

  /** Runs the program; its status. */
  int run(PrintWriter err) throws Failure, InterruptedException {
    boolean made = !Files.exists(folder);
    Path file = folder.resolve(OPTIONS);
    int status;
    try (Signals _ = Signals.handle(this::pass)) {
      Home.write(file, String.join("\n", options) + "\n");
      status = start(file);
    } catch (Failure e) {
      delete(file);
      if (made) {
        delete(folder);
      }
      throw e;
    } finally {
      delete(file);
    }
    boolean traced = report(err);
    if (!traced && made) {
      delete(folder); // if it is empty
    }
    return !traced && status == Main.FINE ? Main.FAILED : status;
  }

  private int start(Path file) throws Failure, InterruptedException {
    ProcessBuilder builder = command.withAgent(AgentJar.find(), file).inheritIO();
    Process started;
    synchronized (this) {
      if (interrupted) {
        return KILLED_BY_INT;
      }
      try {
        started = builder.start();
      } catch (IOException e) {
        throw new Failure(
            "Cannot start " + command.command().get(0) + " (" + e.getMessage() + ")", e);
      }
      process = started;
    }
    return started.waitFor();
  }

  /**
   * Passes a signal on. A Ctrl-C reaches every process in the terminal's foreground: the program
   * has its own already, and a second one would tell many programs to hurry.
   */
  private synchronized void pass(String signal) {
    interrupted = true;
    Process running = process;
    if (running == null || !running.isAlive()) {
      return;
    }
    if (!signal.equals("INT")) {
      running.destroy();
    } else if (!isForeground()) {
      kill(signal, running.pid());
    }
  }

  private static void kill(String signal, long pid) {
    try {
      new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + pid).inheritIO().start();
    } catch (IOException _) {
      // The next signal tries again.
    }
  }

  /** By the kernel: whether our process group is the terminal's. */
  private static boolean isForeground() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return fields[2].equals(fields[5]); // pgrp, tpgid
    } catch (IOException | RuntimeException _) {
      return false; // twice is better than never
    }
  }

  /** Says what there is; whether there is anything. */
  private boolean report(PrintWriter err) throws Failure {
    List<Path> traces = traces();
    Totals totals = new Totals();
    for (Path trace : traces) {
      if (Files.exists(trace.resolve(RUNNING))) {
        recover(trace, totals, err);
        continue;
      }
      Path result = trace.resolve(RESULT);
      totals.add(
          number(result, "events="),
          number(result, "full="),
          number(result, "wrap="),
          number(result, "big="),
          number(result, "other="));
      delete(result);
    }
    if (traces.isEmpty()) {
      err.println(
          command.isJava()
              ? "quiesce: Nothing was traced."
              : "quiesce: Nothing was traced: the command started no JVM that it let run.");
      return false;
    }
    Path where = overwrite && traces.size() == 1 ? exit(traces.get(0)) : folder;
    if (totals.isEmpty()) {
      err.println(
          "quiesce: No event came: the program logged nothing that its loggers let through, and"
              + " reached no tracepoint that --enable, --level and --filter let through.");
    }
    err.println("quiesce: " + totals.text() + "; the trace is in " + Home.display(where));
    return true;
  }

  /** Of all JVMs. */
  private static final class Totals {
    private static final List<String> CAUSES =
        List.of(
            "buffers full", "an event in the way", "too large", "no space", "killed while stored");

    private long events;
    private final long[] lost = new long[CAUSES.size()];

    /** The events that are in a trace, and those that are not, in the order of the causes. */
    void add(long kept, long... gone) {
      events += kept;
      for (int i = 0; i < gone.length; i++) {
        lost[i] += gone[i];
      }
    }

    boolean isEmpty() {
      return events == 0 && Arrays.stream(lost).sum() == 0;
    }

    String text() {
      List<String> causes = new ArrayList<>();
      for (int i = 0; i < lost.length; i++) {
        if (lost[i] != 0) {
          causes.add(String.format(Locale.ROOT, "%s %,d", CAUSES.get(i), lost[i]));
        }
      }
      return String.format(Locale.ROOT, "%,d events, %,d lost", events, Arrays.stream(lost).sum())
          + (causes.isEmpty() ? "" : " (" + String.join(", ", causes) + ")");
    }
  }

  private static Path exit(Path trace) {
    Path exit = trace.resolve("exit");
    return Files.exists(exit) ? exit : trace;
  }

  /** One, or those of each JVM. */
  private List<Path> traces() {
    List<Path> traces = new ArrayList<>();
    if (Files.exists(folder.resolve("metadata"))) {
      traces.add(folder);
    } else if (!command.isJava()) {
      try (DirectoryStream<Path> inside = Files.newDirectoryStream(folder, Files::isDirectory)) {
        for (Path each : inside) {
          if (Files.exists(each.resolve("metadata"))) {
            traces.add(each);
          }
        }
      } catch (IOException _) {
        // As if there were none.
      }
    }
    return traces;
  }

  /** A program that was killed, or called halt, has left its last events in the buffers. */
  private static void recover(Path trace, Totals totals, PrintWriter err) {
    try {
      TraceRecovery found = TraceSession.recover(trace);
      err.printf(
          Locale.ROOT,
          "quiesce: The program was killed; %,d events were still in its buffers, and are in the"
              + " trace now.%n",
          found.events());
      TraceCounts lost = found.lost();
      totals.add(
          count(trace),
          lost.full(),
          lost.wrap(),
          lost.big(),
          lost.other(),
          found.uncommitted() + found.unknown());
    } catch (IOException e) {
      err.println(
          "quiesce: "
              + e.getMessage()
              + "; later 'quiesce trace recover "
              + Home.display(trace)
              + "' finishes the trace.");
    }
  }

  /** All events: those that the consumer wrote have left no other count. */
  private static long count(Path trace) throws IOException {
    try (TraceReader reader = TraceReader.openLenient(trace)) {
      return TraceStatistics.of(reader).events();
    }
  }

  private static long number(Path file, String key) {
    try {
      for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
        if (line.startsWith(key)) {
          return Long.parseLong(line.substring(key.length()));
        }
      }
    } catch (IOException | NumberFormatException _) {
      // The program did not end well.
    }
    return 0;
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException _) {
      // It harms nobody.
    }
  }
}
