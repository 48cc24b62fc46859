package io.quiesce.cli;

import io.quiesce.trace.control.Message;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quiesce trace disable}: turns tracepoints of a running process off. */
@Command(
    name = "disable",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = "Turn tracepoints of a process that traces off.")
final class TraceDisableCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private TraceControl control;

  @Parameters(
      index = "1",
      paramLabel = "PATTERN",
      converter = TraceConverters.Pattern.class,
      description = "Of provider:name, with * for any characters, such as 'shop:*'.")
  private String pattern;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceDisableCommand() {}

  @Override
  public Integer call() throws Failure {
    Message request = Message.of("disable", "pattern", pattern, "session", control.session());
    for (Message each : control.ask(request)) {
      spec.commandLine().getOut().println(TraceEnableCommand.told(each));
    }
    return Main.FINE;
  }
}
