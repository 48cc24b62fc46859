package io.quiesce.bench.subjects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject.UnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The tracers of this JVM, a few thousand events each. */
@Timeout(120)
class TraceSubjectTest {
  private static final int PACE = 100;
  private static final Duration ROUND = Duration.ofMillis(30);

  /** 3,000 events of a thread, in whole batches. */
  private static final int EVENTS = 3 * Team.BATCH;

  @BeforeAll
  static void shortWarmUp() {
    System.setProperty("quiesce.bench.warmUp", "10");
  }

  @AfterAll
  static void asBefore() {
    System.clearProperty("quiesce.bench.warmUp");
  }

  private static Map<String, Double> secondRound(Object... params) throws Exception {
    try (TraceSubject subject = new TraceSubject()) {
      subject.setUp(Params.of(params).with("pace", PACE));
      subject.round(ROUND);
      Map<String, Double> result = subject.round(ROUND);
      assertThat(result.get("ns")).isPositive();
      assertThat(result.get("wall")).isPositive();
      return result;
    }
  }

  @Test
  void jfrKeepsTheNewestInMemory() throws Exception {
    Map<String, Double> result =
        secondRound("tracer", "jfr", "event", "two-ints", "threads", 2, "mode", "overwrite");
    assertThat(result)
        .containsEntry("events", 2.0 * EVENTS)
        .containsEntry("kept", 2.0 * EVENTS) // so few fit
        .doesNotContainKey("lost");
  }

  @Test
  void jfrWritesEveryEventToDisk() throws Exception {
    for (String event : List.of("two-ints", "long-string")) {
      assertThat(secondRound("tracer", "jfr", "event", event, "mode", "discard"))
          .as(event)
          .containsEntry("events", (double) EVENTS)
          .containsEntry("kept", (double) EVENTS)
          .containsEntry("lost", 0.0);
    }
  }

  /** One thread: two may lose lines, which is Log4j's. */
  @Test
  void log4jWritesEveryLine() throws Exception {
    assertThat(secondRound("tracer", "log4j2", "event", "text", "threads", 1, "mode", "discard"))
        .containsEntry("events", (double) EVENTS)
        .containsEntry("kept", (double) EVENTS)
        .containsEntry("lost", 0.0);
  }

  @Test
  void whatIsDisabledKeepsNothing() throws Exception {
    for (String tracer : List.of("empty", "jfr")) {
      assertThat(secondRound("tracer", tracer, "event", "two-ints", "measure", "disabled"))
          .as(tracer)
          .containsOnlyKeys("ns", "wall", "events");
    }
  }

  @Test
  void whatDoesNotExistIsRefused() {
    for (Params params :
        List.of(
            Params.of("tracer", "nobody", "event", "two-ints"),
            Params.of("tracer", "jfr", "event", "three-ints"),
            Params.of("tracer", "jfr", "event", "text"),
            Params.of("tracer", "jfr", "event", "two-ints", "mode", "lossy"),
            Params.of("tracer", "jfr", "event", "two-ints", "measure", "memory"),
            Params.of("tracer", "empty", "event", "two-ints"),
            Params.of("tracer", "log4j2", "event", "two-ints"))) {
      assertThatIllegalArgumentException()
          .as(params.toString())
          .isThrownBy(() -> new TraceSubject().setUp(params));
    }
  }

  /** Losing is not fast, and a count that is too high is no count. */
  @Test
  void theDivisorIsWhatWasKept() throws Exception {
    assertThat(TraceSubject.figures(true, 1000, 250, 5000, 10_000))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("ns", 20.0, "wall", 40.0, "events", 1000.0, "kept", 250.0, "lost", 750.0));
    assertThat(TraceSubject.figures(false, 1000, 250, 5000, 10_000))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("ns", 5.0, "wall", 10.0, "events", 1000.0, "kept", 250.0));
    assertThat(TraceSubject.figures(false, 1000, 1250, 5000, 10_000)).containsEntry("ns", 5.0);
    assertThatIllegalStateException()
        .isThrownBy(() -> TraceSubject.figures(true, 1000, 1001, 5000, 10_000));
    assertThatIllegalStateException()
        .isThrownBy(() -> TraceSubject.figures(false, 1000, 0, 5000, 10_000));
  }

  @Test
  void countsOfTheScript() {
    assertThat(LttngScript.count("2400256\n")).isEqualTo(2_400_256);
    for (String odd : List.of("", "-1", "12 34", "Event messages", "10000\n20000")) {
      assertThatIllegalStateException().as(odd).isThrownBy(() -> LttngScript.count(odd));
    }
  }

  @Test
  void whoIsNotWithinTheScriptSaysSo() {
    assertThatExceptionOfType(UnavailableException.class)
        .isThrownBy(() -> LttngScript.of(null, "jul:x", true))
        .withMessageContaining("lttng.sh run");
  }

  @Test
  void theFailuresOfTheScriptAreItsSentences(@TempDir Path folder) throws Exception {
    Path script = folder.resolve("fake.sh");
    Files.writeString(
        script, "case $1 in begin) echo 'lttng start: no.' >&2; exit 1;; esac; echo 7 # $2 $3");
    LttngScript fake = LttngScript.of(script.toString(), "jul:x", true);
    assertThatIllegalStateException().isThrownBy(fake::begin).withMessage("lttng start: no.");
    assertThat(fake.end()).isEqualTo(7);
  }

  @Test
  void missingPackagesAreNamed(@TempDir Path folder) throws Exception {
    List<Path> here = List.of(folder);
    assertThatExceptionOfType(UnavailableException.class)
        .isThrownBy(() -> LttngJulTrace.load(here, here))
        .withMessage("Not on this machine: install liblttng-ust-agent-java.");
    Files.createFile(folder.resolve("lttng-ust-agent-jul.jar"));
    Files.createFile(folder.resolve("lttng-ust-agent-common.jar"));
    assertThatExceptionOfType(UnavailableException.class)
        .isThrownBy(() -> LttngJulTrace.load(here, here))
        .withMessage("Not on this machine: install liblttng-ust-agent-java-jni.");
  }
}
