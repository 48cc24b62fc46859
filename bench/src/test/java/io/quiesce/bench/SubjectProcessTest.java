package io.quiesce.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SubjectProcessTest {
  private static final Duration ROUND = Duration.ofMillis(10);
  private static final SubjectProcess.Patience SHORT =
      new SubjectProcess.Patience(Duration.ofSeconds(20), Duration.ofMillis(1500));

  private static SubjectProcess start(String... acts) throws Exception {
    return SubjectProcess.start(FakeSubject.command(acts), SHORT);
  }

  private static String failureToStart(String... acts) {
    return message(() -> start(acts).close());
  }

  private static String failureInRound(String... acts) {
    return message(
        () -> {
          try (SubjectProcess subject = start(acts)) {
            subject.request(ROUND);
            subject.result(ROUND);
          }
        });
  }

  private static String message(org.assertj.core.api.ThrowableAssert.ThrowingCallable run) {
    String[] message = new String[1];
    assertThatExceptionOfType(SubjectProcess.Failure.class)
        .isThrownBy(run)
        .satisfies(e -> message[0] = String.valueOf(e.getMessage()));
    return message[0];
  }

  @Test
  void roundsAndTheEnd() throws Exception {
    try (SubjectProcess subject = start("ready", "serve")) {
      subject.request(ROUND);
      assertThat(subject.result(ROUND)).isEqualTo(Map.of("ns", 10.5, "p99", 20.0));
      subject.request(ROUND);
      assertThat(subject.result(ROUND)).containsEntry("ns", 11.5);
    }
  }

  @Test
  void unavailableSaysTheCure() {
    assertThat(failureToStart("unavailable Use Linux 4.14 or newer."))
        .isEqualTo("Use Linux 4.14 or newer.");
  }

  @Test
  void garbageBeforeReady() {
    assertThat(failureToStart("hello", "hang")).isEqualTo("said 'hello' instead of 'ready'");
  }

  @Test
  void deathBeforeReadyNamesItsLastWords() {
    assertThat(failureToStart("die")).isEqualTo("ended with status 3: No memory for anything.");
  }

  @Test
  void deathInARound() {
    assertThat(failureInRound("ready", "await", "die"))
        .isEqualTo("ended with status 3: No memory for anything.");
    assertThat(failureInRound("ready", "await", "crash"))
        .isEqualTo("ended with status 134 and said nothing");
  }

  @Test
  void deathBetweenRounds() throws Exception {
    try (SubjectProcess subject = start("ready", "die")) {
      Thread.sleep(500);
      assertThat(
              message(
                  () -> {
                    subject.request(ROUND);
                    subject.result(ROUND);
                  }))
          .isEqualTo("ended with status 3: No memory for anything.");
    }
  }

  @Test
  void hangInARoundIsKilled() {
    assertThat(failureInRound("ready", "await", "hang")).startsWith("hung: no answer within 1 s");
  }

  @Test
  void garbageInARound() {
    for (String garbage :
        List.of(
            "result",
            "result ns=",
            "result ns=x",
            "result 5",
            "result =5",
            "result ns=NaN",
            "result ns=Infinity",
            "segfault",
            "")) {
      assertThat(failureInRound("ready", "await", garbage, "hang"))
          .as(garbage)
          .contains("instead of a result");
    }
  }

  @Test
  void aProgramThatIsNotThere() {
    assertThat(message(() -> SubjectProcess.start(List.of("/nonexistent/program"), SHORT).close()))
        .startsWith("cannot be started");
  }
}
