package io.quiesce.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.reader.TraceReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sessions whose traces are in CTF 2. */
class TraceFormatTest {
  @TempDir Path folder;

  private static List<String> messages(Path trace) throws IOException {
    assertThat(Files.readAllBytes(trace.resolve("metadata"))[0]).isEqualTo((byte) 0x1e);
    List<String> messages = new ArrayList<>();
    try (TraceReader reader = TraceReader.open(trace)) {
      while (reader.next()) {
        assertThat(reader.event().name()).isEqualTo("quiesce:text");
        messages.add(Objects.requireNonNull(reader.event().fields().field("message")).asText());
      }
    }
    return messages;
  }

  @Test
  void aSnapshotHasTheFormatOfItsSession() throws Exception {
    try (TraceSession session =
        TraceSession.flightRecorder(folder.resolve("trace"))
            .format(TraceFormat.CTF_2)
            .enable("quiesce:text")
            .start()) {
      for (int i = 0; i < 1000; i++) {
        Tracing.text("n " + i);
      }
      assertThat(messages(session.snapshot("first"))).endsWith("n 998", "n 999");
    }
  }

  @Test
  void aRecordingHasItToo() throws Exception {
    Path trace = folder.resolve("trace");
    TraceSession session = TraceSession.record(trace).format(TraceFormat.CTF_2).start();
    try (session) {
      session.enable("quiesce:text");
      Tracing.text("a\u00e4\"\n");
    }
    assertThat(messages(trace)).containsExactly("a\u00e4\"\n");
  }

  @Test
  void theOlderOneIsTheDefault() throws Exception {
    Path trace = folder.resolve("trace");
    TraceSession.record(trace).start().close();
    assertThat(Files.readString(trace.resolve("metadata"))).startsWith("/* CTF 1.8 */");
  }
}
