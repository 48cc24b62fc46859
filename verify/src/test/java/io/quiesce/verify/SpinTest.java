package io.quiesce.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.verify.StressTest.Skip;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The models, where the model checker is installed. */
class SpinTest {
  private static final Path SCRIPT = Path.of("spin", "run.sh");

  @Test
  void modelsHoldAndTheirTwinsFail() throws Exception {
    Skip.unless(Files.isRegularFile(SCRIPT), "there is no " + SCRIPT);
    Skip.unless(hasCommand("spin"), "spin is not installed: apt-get install spin");
    Skip.unless(hasCommand("gcc") || hasCommand("cc"), "no C compiler: apt-get install gcc");
    int exit =
        new ProcessBuilder("bash", SCRIPT.toString(), "--quick").inheritIO().start().waitFor();
    assertThat(exit).isZero();
  }

  private static boolean hasCommand(String name) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
  }
}
