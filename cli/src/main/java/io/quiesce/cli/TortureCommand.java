package io.quiesce.cli;

import io.quiesce.bench.JavaLauncher;
import io.quiesce.bench.Json;
import io.quiesce.bench.Machine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code quiesce torture}: starts the main class of the module verify in a JVM of its own, since a
 * fault that it finds may take the JVM with it.
 */
@Command(
    name = "torture",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Run readers against updaters that free and poison, threads that come and go, stalls and"
          + " forced fallbacks, for as long as one likes.",
    })
final class TortureCommand implements Callable<Integer> {
  /** Looked up by name: verify stands above this module. */
  static final String MAIN = "io.quiesce.verify.Torture";

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME",
      description =
          "What to torture: rcu, percpu, alloc, locks, trace; everything when none is given.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "For how long (default: ${DEFAULT-VALUE}).",
      defaultValue = "60")
  private int seconds;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON.")
  private @Nullable Path json;

  @Option(names = "--seed", paramLabel = "N", description = "Repeat the choices of a run.")
  private @Nullable Long seed;

  @Option(
      names = "--only",
      paramLabel = "SWITCHES",
      description = "One combination of switches, such as membarrier=off.")
  private @Nullable String only;

  @Option(
      names = "--broken",
      description =
          "Leave every grace period, closing of a row, or some lockings out, or free blocks that are"
              + " in use: that must be found, or this fails. For trace, flush buffers without closing"
              + " their rows.")
  private boolean broken;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TortureCommand() {}

  @Override
  public Integer call() throws Failure, InterruptedException {
    if (seconds < 1) {
      throw new ParameterException(
          spec.commandLine(), "--seconds must be at least 1, not " + seconds + ".");
    }
    if (json != null) {
      Home.checkWritable(spec.commandLine(), "--json", json);
    }
    try {
      Class.forName(MAIN, false, TortureCommand.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new Failure(
          "The torture programs are not in this build; run ./quiesce in a checkout that has the"
              + " module verify",
          e);
    }
    List<String> command = new ArrayList<>();
    command.add(JavaLauncher.java());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-Dquiesce.debug=true");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(MAIN);
    command.add("--seconds");
    command.add(Integer.toString(seconds));
    if (seed != null) {
      command.add("--seed");
      command.add(seed.toString());
    }
    if (only != null) {
      command.add("--only");
      command.add(only);
    }
    if (broken) {
      command.add("--broken");
    }
    command.addAll(names);
    try {
      int status = new ProcessBuilder(command).inheritIO().start().waitFor();
      if (json != null && status != Main.BAD_USAGE) {
        Home.write(json, Json.write(result(status)));
      }
      return status == Main.FINE || status == Main.BAD_USAGE ? status : Main.FAILED;
    } catch (IOException e) {
      throw new Failure("Cannot start " + JavaLauncher.java() + " (" + e.getMessage() + ")", e);
    }
  }

  private Map<String, Object> result(int status) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("schema", Json.SCHEMA);
    result.put("machine", Machine.read().facts());
    result.put("names", names);
    result.put("seconds", seconds);
    result.put("passed", status == Main.FINE);
    return result;
  }
}
