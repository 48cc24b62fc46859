package io.quiesce.cli;

import io.quiesce.bench.Json;
import io.quiesce.trace.control.ControlClient;
import io.quiesce.trace.control.Message;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quiesce trace list}: which processes trace, and what. */
@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "List the processes of this user that trace, with their sessions; with a PID also the"
          + " tracepoints of that process, and which are on.",
    })
final class TraceListCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "PID",
      converter = TraceConverters.Pid.class,
      description = "Number of a process.")
  private @Nullable Long pid;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the list as JSON.")
  private @Nullable Path json;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceListCommand() {}

  @Override
  public Integer call() throws Failure {
    if (json != null) {
      Home.checkWritable(spec.commandLine(), "--json", json);
    }
    PrintWriter out = spec.commandLine().getOut();
    List<Map<String, Object>> found = new ArrayList<>();
    if (pid != null) {
      found.add(show(pid, ask(pid, true), out));
    } else {
      for (long each : ControlClient.processes()) {
        try {
          found.add(show(each, ask(each, false), out));
        } catch (Failure e) {
          spec.commandLine().getErr().println("quiesce: " + e.getMessage() + ".");
        }
      }
      if (found.isEmpty()) {
        out.println(nobody());
      }
    }
    if (json != null) {
      Home.write(json, Json.write(Map.of("schema", Json.SCHEMA, "processes", found)));
    }
    return Main.FINE;
  }

  private static List<Message> ask(long pid, boolean points) throws Failure {
    return TraceControl.ask(pid, Message.of("list", "points", points), PATIENCE);
  }

  private static String nobody() {
    String obstacle = ControlClient.obstacle();
    return obstacle.isEmpty()
        ? "No process of this user traces."
        : "No process of this user can be asked: "
            + obstacle
            + "; -Dquiesce.trace.control=FOLDER, for the program and in QUIESCE_OPTS, names one that"
            + " can be written.";
  }

  private static Map<String, Object> show(long pid, List<Message> answer, PrintWriter out) {
    List<Map<String, Object>> sessions = new ArrayList<>();
    List<Map<String, Object>> points = new ArrayList<>();
    String program = "";
    for (Message each : answer) {
      switch (each.word()) {
        case "process" -> {
          program = each.get("program");
          out.printf(Locale.ROOT, "%d  %s%n", pid, program);
        }
        case "session" -> {
          sessions.add(session(each));
          out.printf(
              Locale.ROOT,
              "  session %s  %s  %s events, %s lost  %s%n",
              each.get("name"),
              each.get("mode"),
              each.get("events"),
              each.get("lost"),
              each.get("folder"));
        }
        case "point" -> {
          points.add(point(each));
          out.printf(
              Locale.ROOT,
              "  %-3s  %s  level %s%n",
              each.get("on").isEmpty() ? "off" : "on",
              each.get("name"),
              each.get("level"));
        }
        default -> {} // from a newer version
      }
    }
    Map<String, Object> process = new LinkedHashMap<>();
    process.put("pid", pid);
    process.put("program", program);
    process.put("sessions", sessions);
    process.put("tracepoints", points);
    return process;
  }

  private static Map<String, Object> session(Message each) {
    Map<String, Object> session = new LinkedHashMap<>();
    session.put("name", each.get("name"));
    session.put("mode", each.get("mode"));
    session.put("events", number(each.get("events")));
    session.put("lost", number(each.get("lost")));
    session.put("folder", each.get("folder"));
    return session;
  }

  private static Map<String, Object> point(Message each) {
    Map<String, Object> point = new LinkedHashMap<>();
    point.put("name", each.get("name"));
    point.put("level", number(each.get("level")));
    point.put("on", each.get("on").isEmpty() ? List.of() : List.of(each.get("on").split(",", -1)));
    return point;
  }

  private static long number(String text) {
    return text.matches("-?\\d{1,18}") ? Long.parseLong(text) : 0;
  }
}
