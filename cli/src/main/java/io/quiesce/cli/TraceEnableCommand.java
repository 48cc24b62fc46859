package io.quiesce.cli;

import io.quiesce.trace.agent.TraceValues;
import io.quiesce.trace.control.Message;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quiesce trace enable}: turns tracepoints of a running process on. */
@Command(
    name = "enable",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Turn tracepoints of a process that traces on: those that it has, and those that come.",
    })
final class TraceEnableCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private TraceControl control;

  @Parameters(
      index = "1",
      paramLabel = "PATTERN",
      converter = TraceConverters.Pattern.class,
      description = "Of provider:name, with * for any characters, such as 'shop:*'.")
  private String pattern;

  @Option(
      names = "--level",
      paramLabel = "LEVEL",
      converter = TraceConverters.Level.class,
      description = "The least important events wanted: 0 to 14, or emergency to debug.")
  private int level = TraceValues.ALL_LEVELS;

  @Option(
      names = "--filter",
      paramLabel = "EXPRESSION",
      defaultValue = "",
      description = "Only events whose fields pass it, such as 'qty > 10'.")
  private String filter;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceEnableCommand() {}

  @Override
  public Integer call() throws Failure {
    Message request =
        Message.of(
            "enable",
            "pattern",
            pattern,
            "level",
            level,
            "filter",
            filter,
            "session",
            control.session());
    for (Message each : control.ask(request)) {
      spec.commandLine().getOut().println(told(each));
    }
    return Main.FINE;
  }

  /** What enable and disable say for each session. */
  static String told(Message session) {
    return session.get("name")
        + ": "
        + session.get("on")
        + " of "
        + session.get("of")
        + " tracepoints are on; those that come follow the last pattern that names them";
  }
}
