package io.quiesce.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code quiesce trace}: records programs, steers those that trace, repairs traces. */
@Command(
    name = "trace",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Record the events of a Java program into a trace that babeltrace2 and Trace Compass read,"
          + " and steer programs that trace.",
    },
    subcommands = {
      TraceRecordCommand.class,
      TraceRecoverCommand.class,
      TracePrintCommand.class,
      TraceStatsCommand.class,
      TraceListCommand.class,
      TraceSnapshotCommand.class,
      TraceEnableCommand.class,
      TraceDisableCommand.class,
    },
    footer = {
      "",
      "Begin with:  ./quiesce trace record --output trace -- java -jar program.jar",
      "             ./quiesce trace print trace   (or: babeltrace2 trace)",
    })
final class TraceCommand implements Runnable {
  @Spec private CommandSpec spec;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceCommand() {}

  /** What annotations cannot say. */
  static void configure(CommandLine main) {
    CommandLine trace = main.getSubcommands().get("trace");
    CommandLine record = trace == null ? null : trace.getSubcommands().get("record");
    if (record != null) {
      record.setStopAtPositional(true); // the program's options are its own
    }
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "Say what to do: " + String.join(", ", spec.subcommands().keySet()));
  }
}
