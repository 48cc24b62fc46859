package io.quiesce.cli;

import io.quiesce.bench.Machine;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line. Exit status: 0 fine, 1 the work failed, 2 bad usage. */
@Command(
    name = "quiesce",
    description = "Userspace RCU, process-wide barriers and per-CPU data for the JVM.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {
      DoctorCommand.class,
      BenchCommand.class,
      TortureCommand.class,
      TraceCommand.class,
      TestCommand.class,
    },
    footer = {
      "",
      "Begin with:  ./quiesce bench --quick   (a table, and an HTML report with plots)",
      "             ./quiesce doctor          (what this machine offers, and what it costs)",
    })
public final class Main implements Runnable {
  static final int FINE = 0;
  static final int FAILED = 1;
  static final int BAD_USAGE = 2;

  @Spec private CommandSpec spec;

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an error as well.")
  private boolean debug;

  /** For the parser. */
  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  public Main() {}

  /** From the jar. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"quiesce " + Machine.version()};
    }
  }

  /**
   * Runs a command and exits with its status.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    System.exit(run(writer(System.out), writer(System.err), args));
  }

  private static PrintWriter writer(PrintStream stream) {
    return new PrintWriter(stream, true, stream.charset());
  }

  /** Runs a command; what {@link #main} and tests share. */
  static int run(PrintWriter out, PrintWriter err, String... args) {
    Main main = new Main();
    CommandLine line = new CommandLine(main);
    line.setOut(out);
    line.setErr(err);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setExpandAtFiles(false); // 'trace record -- java @options' means java's own
    TraceCommand.configure(line);
    line.setParameterExceptionHandler(Main::badUsage);
    line.setExecutionExceptionHandler((e, command, parsed) -> main.failed(e, command));
    return line.execute(args);
  }

  private static int badUsage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    StringBuilder said =
        new StringBuilder("quiesce: ").append(sentence(String.valueOf(e.getMessage())));
    if (e instanceof UnmatchedArgumentException unmatched
        && !unmatched.getSuggestions().isEmpty()) {
      said.append(" Did you mean ")
          .append(String.join(" or ", unmatched.getSuggestions()))
          .append('?');
    }
    said.append(" Try '").append(command.getCommandSpec().qualifiedName()).append(" --help'.");
    command.getErr().println(said);
    return BAD_USAGE;
  }

  private int failed(Exception e, CommandLine command) {
    String message = e.getMessage();
    boolean ours = e instanceof Failure && message != null;
    command.getErr().println("quiesce: " + sentence(ours ? String.valueOf(message) : describe(e)));
    if (debug) {
      e.printStackTrace(command.getErr());
    }
    return FAILED;
  }

  private static String describe(Exception e) {
    String message = e.getMessage();
    return e.getClass().getSimpleName()
        + (message == null ? "" : ": " + message)
        + "; add --debug for the stack trace";
  }

  private static String sentence(String text) {
    String one = String.join(" ", text.strip().split("\\s*\\R\\s*"));
    return one.matches(".*[.!?]$") ? one : one + ".";
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "Say what to do: " + String.join(", ", commands()));
  }

  private List<String> commands() {
    return List.copyOf(spec.subcommands().keySet());
  }
}
