package io.quiesce.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Unmatched;

/** {@code quiesce test}. The launcher runs it without any build; this is for who starts the jar. */
@Command(
    name = "test",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Build everything and run every test: mvn verify with the profile dist.",
      "Ends with Maven's status. Further arguments go to Maven.",
    })
final class TestCommand implements Callable<Integer> {
  @Parameters(arity = "0..*", paramLabel = "MAVEN-ARGUMENT", description = "For Maven.")
  private List<String> arguments = new ArrayList<>();

  @Unmatched private List<String> options = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TestCommand() {}

  @Override
  public Integer call() throws Failure, InterruptedException {
    if (!Files.isRegularFile(Home.folder().resolve("pom.xml"))) {
      throw new Failure("The tests need the sources; run ./quiesce test in a checkout");
    }
    List<String> command = new ArrayList<>(List.of("mvn", "-B", "-Pdist", "verify"));
    command.addAll(options);
    command.addAll(arguments);
    try {
      return new ProcessBuilder(command)
          .directory(Home.folder().toFile())
          .inheritIO()
          .start()
          .waitFor();
    } catch (IOException e) {
      throw new Failure("Cannot start Maven; install it, or run ./quiesce test", e);
    }
  }
}
