package io.quiesce.cli;

import io.quiesce.trace.ContextField;
import io.quiesce.trace.agent.TraceValues;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code quiesce trace record}: runs a program with the agent in it. */
@Command(
    name = "record",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    customSynopsis = {
      "quiesce trace record [OPTIONS] -- java ARGUMENT...",
      "       quiesce trace record [OPTIONS] -- SCRIPT ARGUMENT...",
    },
    description = {
      "Run a Java program and record what it logs through java.util.logging or System.Logger, and"
          + " the events of tracepoints. Ends with the program's status.",
      "",
      "A java launcher gets the agent as its first arguments. Any other command, such as a script,"
          + " gets it by JAVA_TOOL_OPTIONS, and each JVM that it starts writes to a folder of its"
          + " own. When tracing cannot begin, the program is not started (status 1).",
      "",
    },
    footer = {
      "",
      "With --mode overwrite the newest events stay in memory. They are written to OUTPUT/exit when"
          + " the program ends, and to OUTPUT/NAME by 'quiesce trace snapshot PID --name NAME'.",
    })
final class TraceRecordCommand implements Callable<Integer> {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  /** What happens when the buffers are full. */
  enum Mode {
    /** New events are lost and counted; all others are written. */
    DISCARD,
    /** Old events give way. */
    OVERWRITE
  }

  /** As the agent takes it. */
  static final class Format implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      if (!text.equals("ctf-1.8") && !text.equals("ctf-2")) {
        throw new TypeConversionException("a format is ctf-1.8 or ctf-2, not '" + text + "'");
      }
      return text;
    }
  }

  @Spec private CommandSpec spec;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      description = "Folder of the trace, new (default: quiesce-YYYYMMDD-HHMMSS).")
  private @Nullable Path output;

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      defaultValue = "discard",
      description = {
        "discard: write everything, and count what is lost when the disk cannot follow.",
        "overwrite: keep the newest events in memory (default: ${DEFAULT-VALUE}).",
      })
  private Mode mode;

  @Option(
      names = "--enable",
      paramLabel = "PATTERN",
      converter = TraceConverters.Pattern.class,
      description = "Tracepoints to record, such as 'shop:*'; may be repeated (default: all).")
  private List<String> patterns = new ArrayList<>();

  @Option(
      names = "--level",
      paramLabel = "LEVEL",
      converter = TraceConverters.Level.class,
      description =
          "The least important events to record: 0 to 14, or emergency, alert, critical, error,"
              + " warning, notice, info, debug, or config, fine, finer, finest. Loggers that would"
              + " keep such records back are lowered to it (default: all events, loggers as they"
              + " are).")
  private @Nullable Integer level;

  @Option(
      names = "--context",
      paramLabel = "FIELD[,FIELD]",
      converter = TraceConverters.Context.class,
      description =
          "Add to every event: process-id, thread-id, thread-name, java-thread-id,"
              + " virtual-thread-id (default: none).")
  private @Nullable List<ContextField> context;

  @Option(
      names = "--filter",
      paramLabel = "EXPRESSION",
      description = "Record only events whose fields pass it, such as 'qty > 10'.")
  private @Nullable String filter;

  @Option(
      names = "--buffers",
      paramLabel = "DIR",
      description = "Folder of the buffers' file, on a memory file system (default: /dev/shm).")
  private @Nullable Path buffers;

  @Option(
      names = "--budget",
      paramLabel = "SIZE",
      converter = TraceConverters.Size.class,
      description = "Memory of all buffers together, such as 64M (default: 32M).")
  private @Nullable Long budget;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "ctf-1.8",
      converter = Format.class,
      description = {
        "ctf-1.8: what babeltrace2 and Trace Compass read.",
        "ctf-2: what babeltrace2 reads from 2.1 on (default: ${DEFAULT-VALUE}).",
      })
  private String format;

  @Option(
      names = "--snapshot-on-exception",
      description =
          "With --mode overwrite: also write what is in memory to OUTPUT/exception-N when a thread"
              + " ends by an exception.")
  private boolean snapshotOnException;

  @Parameters(arity = "0..*", paramLabel = "COMMAND", hidden = true)
  private List<String> command = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceRecordCommand() {}

  @Override
  public Integer call() throws Failure, InterruptedException {
    check();
    Path folder = (output == null ? defaultOutput() : output).toAbsolutePath().normalize();
    checkOutput(folder);
    TracedCommand traced = TracedCommand.of(command);
    traced.notes().forEach(note -> spec.commandLine().getErr().println("quiesce: " + note));
    return new Recording(folder, options(folder, traced.isJava()), traced, mode == Mode.OVERWRITE)
        .run(spec.commandLine().getErr());
  }

  private void check() {
    if (command.isEmpty() || command.get(0).isEmpty()) {
      throw bad("Say which program to record: quiesce trace record [OPTIONS] -- java ARGUMENT...");
    }
    if (snapshotOnException && mode != Mode.OVERWRITE) {
      throw bad("--snapshot-on-exception needs --mode overwrite");
    }
    if (buffers != null && !(Files.isDirectory(buffers) && Files.isWritable(buffers))) {
      throw bad("--buffers " + buffers + " is no folder that can be written; choose another");
    }
    for (String text : List.of(String.valueOf(output), String.valueOf(buffers), text(filter))) {
      if (text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0) {
        throw bad("A path or filter with a line end in it cannot be passed to the program");
      }
    }
  }

  private ParameterException bad(String sentence) {
    return new ParameterException(spec.commandLine(), sentence + ".");
  }

  private static String text(@Nullable String optional) {
    return optional == null ? "" : optional;
  }

  private static Path defaultOutput() {
    return Path.of("quiesce-" + STAMP.format(LocalDateTime.now(ZoneId.systemDefault())));
  }

  private void checkOutput(Path folder) {
    if (Files.exists(folder) && !Files.isDirectory(folder)) {
      throw bad("--output " + Home.display(folder) + " is a file; name a new folder");
    }
    if (Files.exists(folder.resolve("metadata"))) {
      throw bad(
          "--output "
              + Home.display(folder)
              + " holds a trace already; choose another, or delete it");
    }
    Home.checkWritable(spec.commandLine(), "--output", folder.resolve("metadata"));
  }

  /** One key=value in each line, as the agent reads it. */
  private List<String> options(Path folder, boolean java) throws Failure {
    List<String> lines = new ArrayList<>();
    lines.add("output=" + folder);
    lines.add("mode=" + mode.name().toLowerCase(Locale.ROOT));
    patterns.forEach(pattern -> lines.add("enable=" + pattern));
    if (level != null) {
      lines.add("level=" + level);
    }
    if (context != null) {
      lines.add("context=" + String.join(",", context.stream().map(TraceValues::name).toList()));
    }
    if (filter != null) {
      lines.add("filter=" + filter);
    }
    if (buffers != null) {
      lines.add("buffers=" + real(buffers));
    }
    if (budget != null) {
      lines.add("budget=" + budget);
    }
    if (snapshotOnException) {
      lines.add("snapshot-on=exception");
    }
    lines.add("format=" + format);
    lines.add("on-failure=exit");
    lines.add("per-process=" + !java);
    lines.add("result=true");
    return lines;
  }

  private static Path real(Path folder) throws Failure {
    try {
      return folder.toRealPath();
    } catch (IOException e) {
      throw new Failure("--buffers " + folder + " went away (" + e + "); choose another", e);
    }
  }
}
