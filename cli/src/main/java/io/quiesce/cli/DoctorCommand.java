package io.quiesce.cli;

import io.quiesce.bench.Json;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code quiesce doctor}. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Say what kernel, CPU and JVM offer, which path each facility takes, what that costs here,"
          + " and what to do for a faster one.",
    },
    footer = {
      "",
      "To see a fallback: QUIESCE_OPTS=-Dquiesce.membarrier=off ./quiesce doctor",
    })
final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the findings as JSON.")
  private @Nullable Path json;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  DoctorCommand() {}

  @Override
  public Integer call() throws Failure {
    if (json != null) {
      Home.checkWritable(spec.commandLine(), "--json", json);
    }
    Doctor doctor = Doctor.examine();
    if (json != null) {
      Home.write(json, Json.write(doctor.json()));
    }
    spec.commandLine().getOut().println(doctor.text());
    return Main.FINE;
  }
}
