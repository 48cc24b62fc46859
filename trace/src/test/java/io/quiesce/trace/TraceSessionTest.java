package io.quiesce.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.quiesce.trace.ctf.Babeltrace;
import io.quiesce.trace.ring.HotPathKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole sessions, from the event to babeltrace2. */
@SuppressWarnings("try") // Sessions are closed early, to look at what they wrote.
class TraceSessionTest {
  private static final String TEXT = "quiesce:text";

  @TempDir Path folder;

  private static void choose(String hotPath) {
    assumeThat(!hotPath.equals("sequence") || HotPathKind.SEQUENCE.isAvailable())
        .as("skipped: restartable sequences or the counter are not available")
        .isTrue();
    System.setProperty("quiesce.trace.hotpath", hotPath);
  }

  @AfterEach
  void forget() {
    System.clearProperty("quiesce.trace.hotpath");
  }

  private static List<String> messages(Path trace) throws IOException, InterruptedException {
    Babeltrace.assumeInstalled();
    List<String> messages = new ArrayList<>();
    Babeltrace.Reading reading = Babeltrace.read(trace);
    assertThat(reading.warnings()).isEmpty();
    for (Babeltrace.Event event : reading.events()) {
      assertThat(event.name()).isEqualTo(TEXT);
      messages.add((String) event.fields().get("message"));
    }
    return messages;
  }

  private static void inThreads(int count, java.util.function.IntConsumer body)
      throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      threads.add(Thread.ofPlatform().start(() -> body.accept(number)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sequence", "cas", "lock"})
  void everyEventOfFourThreadsIsInTheTraceOnce(String hotPath) throws Exception {
    choose(hotPath);
    Path trace = folder.resolve("trace");
    int each = 20_000;
    try (TraceSession session =
        TraceSession.record(trace).enable(TEXT).subBuffers(4, 1 << 16).start()) {
      inThreads(
          4,
          number -> {
            for (int i = 0; i < each; i++) {
              Tracing.text(number + " " + i);
            }
          });
      session.close();
      TraceCounts counts = session.counts();
      assertThat(counts.written() + counts.lost()).isEqualTo(4L * each);
      assertThat(counts.wrap() + counts.big() + counts.other()).isZero();
      List<String> messages = messagesWithLosses(trace);
      assertThat(messages).hasSize((int) counts.written());
      assertThat(new HashSet<>(messages)).hasSameSizeAs(messages);
      assertInOrder(messages);
    }
  }

  private static List<String> messagesWithLosses(Path trace)
      throws IOException, InterruptedException {
    Babeltrace.assumeInstalled();
    List<String> messages = new ArrayList<>();
    for (Babeltrace.Event event : Babeltrace.read(trace).events()) {
      messages.add((String) event.fields().get("message"));
    }
    return messages;
  }

  /** A thread's own events are in its order, since time only goes forward. */
  private static void assertInOrder(List<String> messages) {
    Map<String, Integer> last = new HashMap<>();
    for (String message : messages) {
      String[] parts = message.split(" ", -1);
      int number = Integer.parseInt(parts[1]);
      Integer before = last.put(parts[0], number);
      assertThat(before == null || before < number).as(message).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sequence", "cas", "lock"})
  void aFlightRecorderKeepsTheNewest(String hotPath) throws Exception {
    choose(hotPath);
    try (TraceSession session =
        TraceSession.flightRecorder(folder.resolve("trace"))
            .enable(TEXT)
            .subBuffers(4, 4096)
            .start()) {
      int events = 10_000;
      for (int i = 0; i < events; i++) {
        Tracing.text("0 " + i);
      }
      Path snapshot = session.snapshot("first");
      List<String> messages = messages(snapshot);
      assertThat(messages).hasSizeBetween(100, 2000).last().isEqualTo("0 " + (events - 1));
      assertInOrder(messages);
      assertThat(session.counts().lost()).isZero();
      Tracing.text("0 10001");
      assertThat(messages(session.snapshot("second"))).last().isEqualTo("0 10001");
    }
  }

  @Test
  void whatIsOffIsNotRecorded() throws Exception {
    Path trace = folder.resolve("trace");
    try (TraceSession session = TraceSession.record(trace).start()) {
      Tracing.text("before");
      session.enable("quiesce:t*");
      Tracing.text("between");
      session.disable("*");
      Tracing.text("after");
    }
    Tracing.text("long after");
    assertThat(messages(trace)).containsExactly("between");
  }

  @Test
  void twoSessionsGetTheSameEvents() throws Exception {
    try (TraceSession one = TraceSession.record(folder.resolve("one")).enable(TEXT).start();
        TraceSession two = TraceSession.record(folder.resolve("two")).enable(TEXT).start()) {
      Tracing.text("both");
      one.close();
      Tracing.text("the second");
      assertThat(two.counts().lost()).isZero();
    }
    assertThat(messages(folder.resolve("one"))).containsExactly("both");
    assertThat(messages(folder.resolve("two"))).containsExactly("both", "the second");
  }

  @Test
  void nothingIsLeftOfTheBuffers() throws Exception {
    Path buffers = Files.createDirectory(folder.resolve("buffers"));
    try (TraceSession _ =
        TraceSession.record(folder.resolve("trace")).buffersIn(buffers).enable(TEXT).start()) {
      Tracing.text("x");
      try (Stream<Path> files = Files.list(buffers)) {
        assertThat(files).hasSize(1);
      }
      assertThat(folder.resolve("trace/.quiesce")).exists();
    }
    assertThat(buffers).isEmptyDirectory();
    assertThat(folder.resolve("trace/.quiesce")).doesNotExist();
  }

  @Test
  void anEventTooLargeIsCountedAndTheRestIsThere() throws Exception {
    Path trace = folder.resolve("trace");
    try (TraceSession session =
        TraceSession.record(trace).enable(TEXT).subBuffers(4, 4096).start()) {
      String largest = "x".repeat(4096 - 16 - 16 - 1);
      Tracing.text("a");
      Tracing.text(largest);
      Tracing.text(largest + "y");
      Tracing.text("b");
      session.close();
      assertThat(session.counts().big()).isOne();
      assertThat(session.counts().lost()).isOne();
      assertThat(messagesWithLosses(trace)).containsExactly("a", largest, "b");
    }
  }

  @Test
  void everyRemainderAtTheEndOfASubBuffer() throws Exception {
    Path trace = folder.resolve("trace");
    Set<String> sent = new HashSet<>();
    try (TraceSession session =
        TraceSession.record(trace).enable(TEXT).subBuffers(64, 4096).start()) {
      for (int length = 0; length < 64; length++) {
        for (int i = 0; i < 200; i++) {
          String text = length + " " + i + " " + "-".repeat(length);
          sent.add(text);
          Tracing.text(text);
          if (i % 50 == 0) {
            Thread.sleep(1);
          }
        }
      }
      session.close();
      assertThat(session.counts().lost()).isZero();
    }
    assertThat(messages(trace)).containsExactlyInAnyOrderElementsOf(sent);
  }
}
