package io.quiesce.cli;

import io.quiesce.bench.Experiment;
import io.quiesce.bench.Experiments;
import io.quiesce.bench.Json;
import io.quiesce.bench.NativePeers;
import io.quiesce.bench.Plan;
import io.quiesce.bench.Report;
import io.quiesce.bench.Runner;
import io.quiesce.bench.TextTables;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quiesce bench}. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Measure Quiesce against its peers in Java and C, and write a report.",
      "",
      "Every subject lives in a process of its own; in each round all of them run once, in an order"
          + " that rotates, and gains are computed within a round.",
    },
    footer = {
      "",
      "Examples:",
      "  quiesce bench --quick                       everything, in some minutes",
      "  quiesce bench rcu.read rcu.call --json r.json",
      "  quiesce bench rcu --quick                   all of a family",
    })
final class BenchCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "EXPERIMENT",
      description = "A name or a family; all of them when none is given. See --list.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--quick", description = "Fewer and shorter rounds: minutes instead of an hour.")
  private boolean quick;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures as JSON as well.")
  private @Nullable Path json;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Where the HTML report goes (default: ${DEFAULT-VALUE}).",
      defaultValue = "bench-results/report.html")
  private Path report;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Alternating rounds that count, 1 to 1000 (default: 5 quick, 15 full).")
  private @Nullable Integer rounds;

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description =
          "Numbers of threads where an experiment varies them, such as 1,2,4 (default: its own).")
  private @Nullable List<Integer> threads;

  @Option(names = "--list", description = "List the experiments and end.")
  private boolean list;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  BenchCommand() {}

  @Override
  public Integer call() throws Failure, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    if (list) {
      for (Experiment experiment : Experiments.all()) {
        out.printf(Locale.ROOT, "%-18s %s%n", experiment.name(), experiment.title());
      }
      return Main.FINE;
    }
    List<Experiment> chosen = chosen();
    Plan plan = plan();
    Home.checkWritable(spec.commandLine(), "--report", report);
    if (json != null) {
      Home.checkWritable(spec.commandLine(), "--json", json);
    }
    Report found;
    try (ConsoleProgress progress = new ConsoleProgress(spec.commandLine().getErr())) {
      found = new Runner(plan, NativePeers.build(Home.folder()), progress).run(chosen);
    }
    if (json != null) {
      Home.write(json, Json.write(Json.of(found)));
    }
    Home.write(report, HtmlReport.render(found));
    out.println(TextTables.render(found));
    out.println("Report: " + Home.display(report));
    if (json != null) {
      out.println("JSON:   " + Home.display(json));
    }
    if (found.rows().stream().allMatch(row -> row.figure() == null)) {
      throw new Failure(
          "Nothing could be measured; the first reason: " + found.rows().getFirst().note());
    }
    return Main.FINE;
  }

  private List<Experiment> chosen() {
    if (names.isEmpty()) {
      return Experiments.all();
    }
    List<Experiment> chosen = new ArrayList<>();
    for (String name : names) {
      List<Experiment> matching =
          Experiments.all().stream()
              .filter(e -> e.name().equals(name) || e.name().startsWith(name + "."))
              .toList();
      if (matching.isEmpty()) {
        throw new ParameterException(spec.commandLine(), unknown(name));
      }
      matching.stream().filter(e -> !chosen.contains(e)).forEach(chosen::add);
    }
    return chosen;
  }

  private static String unknown(String name) {
    List<String> all = Experiments.all().stream().map(Experiment::name).toList();
    List<String> close = Suggestions.of(name, all);
    return "There is no experiment '"
        + name
        + "'; "
        + (close.isEmpty()
            ? "there are " + String.join(", ", all)
            : "did you mean " + String.join(" or ", close))
        + (close.isEmpty() ? "." : "?");
  }

  private Plan plan() {
    CommandLine line = spec.commandLine();
    int cpus = Runtime.getRuntime().availableProcessors();
    Plan plan = quick ? Plan.quick(cpus) : Plan.full(cpus);
    if (rounds != null) {
      if (rounds < 1 || rounds > 1000) {
        throw new ParameterException(line, "--rounds must be from 1 to 1000, not " + rounds + ".");
      }
      plan = plan.withRounds(rounds);
    }
    if (threads != null) {
      if (threads.isEmpty() || threads.stream().anyMatch(n -> n < 1 || n > 1024)) {
        throw new ParameterException(
            line, "--threads must be numbers from 1 to 1024, not " + threads + ".");
      }
      plan = plan.withThreads(threads.stream().distinct().toList());
    }
    return plan;
  }
}
