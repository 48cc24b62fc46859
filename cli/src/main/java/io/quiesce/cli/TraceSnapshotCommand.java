package io.quiesce.cli;

import io.quiesce.trace.control.Message;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code quiesce trace snapshot}: has a flight recorder write what it holds. */
@Command(
    name = "snapshot",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Have a process that runs with --mode overwrite write the events that it holds, to a new"
          + " folder in its trace's folder. It goes on tracing meanwhile.",
    })
final class TraceSnapshotCommand implements Callable<Integer> {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  @Spec private CommandSpec spec;
  @Mixin private TraceControl control;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Of the new folder (default: snapshot-YYYYMMDD-HHMMSS).")
  private @Nullable String name;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceSnapshotCommand() {}

  @Override
  public Integer call() throws Failure {
    String folder =
        name == null ? "snapshot-" + STAMP.format(LocalDateTime.now(ZoneId.systemDefault())) : name;
    Message request = Message.of("snapshot", "name", folder, "session", control.session());
    for (Message each : control.ask(request)) {
      spec.commandLine()
          .getOut()
          .printf(
              Locale.ROOT,
              "%s: %s events in %s%n",
              each.get("name"),
              each.get("events"),
              Home.display(Path.of(each.get("folder"))));
    }
    return Main.FINE;
  }
}
