package io.quiesce.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@code launcher-test.sh}, which drives {@code ./quiesce} with a fake JDK and a fake Maven.
 */
class LauncherTest {

  @Test
  void launcher(@TempDir Path folder) throws Exception {
    Path launcher = Path.of("../quiesce").toAbsolutePath().normalize();
    assumeTrue(Files.isExecutable(launcher) && Files.isExecutable(Path.of("/bin/sh")));
    Path script = Path.of("src/test/sh/launcher-test.sh").toAbsolutePath();
    Path said = folder.resolve("said.txt");
    Process process =
        new ProcessBuilder("/bin/sh", script.toString(), launcher.toString(), folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    String output = Files.readString(said, StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as(output).isZero();
    assertThat(output).contains("all well");
  }
}
