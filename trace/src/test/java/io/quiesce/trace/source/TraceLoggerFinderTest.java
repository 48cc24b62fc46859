package io.quiesce.trace.source;

import static io.quiesce.trace.source.Recorded.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceLoggerFinder;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.ctf.Babeltrace;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A program that has chosen {@link TraceLoggerFinder}. */
@Timeout(100)
class TraceLoggerFinderTest {
  @TempDir Path folder;

  @Test
  void eventsAndWarningsOnTheConsole() throws Exception {
    Babeltrace.assumeInstalled();
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(
        services.resolve("java.lang.System$LoggerFinder"), TraceLoggerFinder.class.getName());
    List<String> places = new ArrayList<>(List.of(folder.toString()));
    for (Class<?> type :
        List.of(LoggingProgram.class, TraceSession.class, io.quiesce.linux.Rseq.class)) {
      places.add(
          Path.of(URI.create(type.getProtectionDomain().getCodeSource().getLocation().toString()))
              .toString());
    }
    Path trace = folder.resolve("trace");
    Path err = folder.resolve("err");
    Process program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dquiesce.trace.caller=true",
                "-cp",
                String.join(File.pathSeparator, places),
                LoggingProgram.class.getName(),
                trace.toString())
            .redirectError(err.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(program.waitFor()).as(Files.readString(err)).isZero();
    List<Babeltrace.Event> events = Babeltrace.read(trace).events();
    assertThat(events)
        .extracting(Babeltrace.Event::name)
        .containsExactly("log:info", "log:trace", "log:error");
    assertThat(events)
        .extracting(event -> text(event, "msg"))
        .containsExactly("number 5", "supplied ü", "thrown");
    assertThat(text(events.getFirst(), "class_name")).isEqualTo(LoggingProgram.class.getName());
    assertThat(text(events.getFirst(), "method_name")).isEqualTo("main");
    assertThat(text(events.getLast(), "thrown")).contains("IllegalStateException: why");
    assertThat(Files.readString(err))
        .contains("ERROR program: thrown", "WARNING program: after")
        .doesNotContain("before", "number 5");
  }
}
