package io.quiesce.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.Rseq;
import io.quiesce.trace.reader.Event;
import io.quiesce.trace.reader.TraceReader;
import io.quiesce.trace.ring.HotPathKind;
import java.io.BufferedReader;
import java.io.File;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that are never compiled: each step of an event takes a hundred times as long. */
class InterpreterTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"sequence", "cas", "lock"})
  void everyEventIsInTheTrace(String hotPath) throws Exception {
    assumeTrue(
        !hotPath.equals("sequence") || HotPathKind.SEQUENCE.isAvailable(),
        "skipped: no restartable sequences here");
    Path trace = folder.resolve("trace");
    Process program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xint",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dquiesce.trace.hotpath=" + hotPath,
                "-cp",
                classPath(),
                TextProgram.class.getName(),
                trace.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader lines = program.inputReader()) {
      assertThat(lines.readLine()).isEqualTo(TextProgram.THREADS * TextProgram.EVENTS + " 0");
      assertThat(program.waitFor()).isZero();
    } finally {
      program.destroyForcibly();
    }
    int[] next = new int[TextProgram.THREADS];
    try (TraceReader reader = TraceReader.open(trace)) {
      while (reader.next()) {
        Event event = reader.event();
        String[] words = event.getText("message").split(" ", -1);
        int thread = Integer.parseInt(words[0]);
        assertThat(Integer.parseInt(words[1])).isEqualTo(next[thread]++);
      }
    }
    assertThat(next).containsOnly(TextProgram.EVENTS);
  }

  private static String classPath() {
    List<String> places = new ArrayList<>();
    Stream.of(TextProgram.class, TraceSession.class, Rseq.class)
        .map(type -> type.getProtectionDomain().getCodeSource().getLocation().toString())
        .forEach(place -> places.add(Path.of(URI.create(place)).toString()));
    return String.join(File.pathSeparator, places);
  }
}
