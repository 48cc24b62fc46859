package io.quiesce.cli;

import io.quiesce.trace.reader.TraceFormatException;
import io.quiesce.trace.reader.TraceReader;
import io.quiesce.trace.reader.TraceText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quiesce trace print}: a trace as lines of text. */
@Command(
    name = "print",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Print the events of a trace in the order of their times, one in each line. What is damaged is"
          + " told, and the rest is printed (status 1).",
    })
final class TracePrintCommand implements Callable<Integer> {
  /** Lines between two looks at whether anybody still reads them. */
  private static final int LINES = 256;

  @Spec private CommandSpec spec;

  @Parameters(arity = "1..*", paramLabel = "DIR", description = "Folders of traces, one by one.")
  private List<Path> folders = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TracePrintCommand() {}

  @Override
  public Integer call() throws Failure {
    int status = Main.FINE;
    for (Path folder : folders) {
      try (TraceReader reader = TraceReader.openLenient(folder)) {
        print(reader, spec.commandLine().getOut());
        status = Math.max(status, tell(reader, spec.commandLine().getErr()));
      } catch (IOException e) {
        throw new Failure(String.valueOf(e.getMessage()), e);
      }
    }
    return status;
  }

  private static void print(TraceReader reader, PrintWriter out) throws IOException {
    TraceText text = new TraceText();
    StringBuilder lines = new StringBuilder();
    int count = 0;
    while (reader.next()) {
      text.append(lines, reader.event());
      lines.append(System.lineSeparator());
      count++;
      if (count % LINES == 0) {
        out.print(lines);
        lines.setLength(0);
        if (out.checkError()) {
          return; // such as 'head' at the other end
        }
      }
    }
    out.print(lines);
    out.flush();
  }

  /** Says what is damaged; the status. */
  static int tell(TraceReader reader, PrintWriter err) {
    for (TraceFormatException problem : reader.problems()) {
      err.println("quiesce: " + problem.getMessage());
    }
    return reader.problemCount() == 0 ? Main.FINE : Main.FAILED;
  }
}
