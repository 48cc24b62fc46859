package io.quiesce.cli;

import io.quiesce.bench.Json;
import io.quiesce.trace.reader.TraceReader;
import io.quiesce.trace.reader.TraceStatistics;
import io.quiesce.trace.reader.TraceText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
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

/** {@code quiesce trace stats}: how many events of what, and how many were lost. */
@Command(
    name = "stats",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Count the events of a trace, by type, thread and CPU, and what was lost. What is damaged is"
          + " told, and the rest is counted (status 1).",
    })
final class TraceStatsCommand implements Callable<Integer> {
  private static final double NANOS = 1e9;

  @Spec private CommandSpec spec;

  @Parameters(arity = "1..*", paramLabel = "DIR", description = "Folders of traces, one by one.")
  private List<Path> folders = new ArrayList<>();

  @Option(names = "--json", paramLabel = "FILE", description = "Write the counts as JSON.")
  private @Nullable Path json;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceStatsCommand() {}

  @Override
  public Integer call() throws Failure {
    if (json != null) {
      Home.checkWritable(spec.commandLine(), "--json", json);
    }
    int status = Main.FINE;
    List<Map<String, Object>> all = new ArrayList<>();
    for (Path folder : folders) {
      try (TraceReader reader = TraceReader.openLenient(folder)) {
        TraceStatistics statistics = TraceStatistics.of(reader);
        status = Math.max(status, TracePrintCommand.tell(reader, spec.commandLine().getErr()));
        print(folder, statistics, spec.commandLine().getOut());
        all.add(map(folder, statistics));
      } catch (IOException e) {
        throw new Failure(String.valueOf(e.getMessage()), e);
      }
    }
    if (json != null) {
      Home.write(json, Json.write(Map.of("schema", Json.SCHEMA, "traces", all)));
    }
    return status;
  }

  private static void print(Path folder, TraceStatistics s, PrintWriter out) {
    out.println(Home.display(folder));
    out.printf(
        Locale.ROOT,
        "  events  %,d in %,d packets, %,.0f a second for %.3f s%n",
        s.events(),
        s.packets(),
        s.rate(),
        s.duration() / NANOS);
    if (s.events() > 0) {
      out.println("  from    " + new TraceText().dateTime(s.first()));
    }
    out.printf(
        Locale.ROOT,
        "  lost    %,d events, %,d before or in the first packets, %,d packets missing%n",
        s.lostEvents(),
        s.lostBefore(),
        s.lostPackets());
    s.types().forEach(each -> line(out, "type", each.name(), each.events()));
    s.threads()
        .forEach(
            each -> line(out, "thread", (each.vtid() + " " + each.name()).strip(), each.events()));
    s.cpus().forEach(each -> line(out, "CPU", Integer.toString(each.cpu()), each.events()));
  }

  private static void line(PrintWriter out, String kind, String name, long events) {
    out.printf(Locale.ROOT, "  %-6s  %,12d  %s%n", kind, events, name);
  }

  private static Map<String, Object> map(Path folder, TraceStatistics s) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("folder", folder.toString());
    map.put("events", s.events());
    map.put("first", s.first());
    map.put("last", s.last());
    map.put("rate", s.rate());
    map.put("packets", s.packets());
    map.put("lost_events", s.lostEvents());
    map.put("lost_before", s.lostBefore());
    map.put("lost_packets", s.lostPackets());
    map.put(
        "types",
        s.types().stream().map(t -> Map.of("name", t.name(), "events", t.events())).toList());
    map.put(
        "threads",
        s.threads().stream()
            .map(t -> Map.of("vtid", t.vtid(), "name", t.name(), "events", t.events()))
            .toList());
    map.put(
        "cpus",
        s.cpus().stream()
            .map(
                c ->
                    Map.of(
                        "cpu",
                        c.cpu(),
                        "events",
                        c.events(),
                        "lost_events",
                        c.lostEvents(),
                        "lost_before",
                        c.lostBefore(),
                        "lost_packets",
                        c.lostPackets()))
            .toList());
    return map;
  }
}
