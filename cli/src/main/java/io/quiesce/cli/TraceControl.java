package io.quiesce.cli;

import io.quiesce.trace.control.ControlClient;
import io.quiesce.trace.control.Message;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What all commands to a running process have. */
final class TraceControl {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Parameters(
      index = "0",
      paramLabel = "PID",
      converter = TraceConverters.Pid.class,
      description = "Number of the process; 'quiesce trace list' shows those that trace.")
  private long pid;

  @Option(
      names = "--session",
      paramLabel = "NAME",
      defaultValue = "",
      description = "Only this session of the process (default: all).")
  private String session;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceControl() {}

  String session() {
    return session;
  }

  List<Message> ask(Message request) throws Failure {
    return ask(pid, request, PATIENCE);
  }

  static List<Message> ask(long pid, Message request, Duration patience) throws Failure {
    try {
      return ControlClient.ask(pid, request, patience);
    } catch (IOException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }
}
