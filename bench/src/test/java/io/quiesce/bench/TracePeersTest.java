package io.quiesce.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import io.quiesce.bench.Contestant.Launch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The peers of the tracer that have LTTng's daemon around them, as the bench starts them. */
@Timeout(180)
class TracePeersTest {
  private static final Duration ROUND = Duration.ofMillis(20);
  private static final SubjectProcess.Patience PATIENCE =
      new SubjectProcess.Patience(Duration.ofSeconds(60), Duration.ofSeconds(30));
  private static final Plan PLAN =
      new Plan(
          true, 1, Duration.ofMillis(10), List.of(), Runtime.getRuntime().availableProcessors());

  private static Map<String, Double> round(Launch launch) throws Exception {
    NativePeers peers = NativePeers.build(Path.of("..").toAbsolutePath().normalize());
    SubjectProcess started;
    try {
      started =
          SubjectProcess.start(
              Runner.realCommands(PLAN, peers).of(launch, "trace.event"), PATIENCE);
    } catch (SubjectProcess.Failure e) {
      String why = String.valueOf(e.getMessage());
      if (why.contains("install") || why.contains("session daemon of LTTng")) {
        return abort("skipped: " + why);
      }
      throw e;
    }
    try (SubjectProcess subject = started) {
      subject.request(ROUND);
      subject.result(ROUND);
      subject.request(ROUND);
      return subject.result(ROUND);
    }
  }

  @ParameterizedTest
  @CsvSource({"two-ints, overwrite", "two-ints, discard", "long-string, overwrite"})
  void lttngUst(String event, String mode) throws Exception {
    Params params = Params.of("threads", 2, "event", event, "mode", mode, "pace", 100);
    if (mode.equals("discard")) {
      params = params.with("burst", 1024).with("pause", 1);
    }
    Map<String, Double> result = round(new Launch("lttng-ust", true, params, "lttng.sh"));
    assertThat(result.get("ns")).isPositive();
    assertThat(result.get("wall")).isPositive();
    assertThat(result).containsEntry("events", 2 * 2048.0);
    // Overwriting, what is left of the first round is counted as well.
    assertThat(result).containsEntry("kept", (mode.equals("discard") ? 1 : 2) * 2 * 2048.0);
    assertThat(result.containsKey("lost")).isEqualTo(mode.equals("discard"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"overwrite", "discard"})
  void lttngJul(String mode) throws Exception {
    Params params =
        Params.of("threads", 1, "event", "text", "mode", mode, "pace", 50, "tracer", "lttng-jul");
    Map<String, Double> result = round(new Launch("trace", false, params, "lttng.sh"));
    assertThat(result.get("ns")).isPositive();
    assertThat(result).containsEntry("events", 1024.0);
    if (mode.equals("discard")) {
      assertThat(result).containsEntry("kept", 1024.0).containsEntry("lost", 0.0);
    } else {
      assertThat(result.get("kept")).isGreaterThanOrEqualTo(1024.0);
    }
  }

  @Test
  void withoutItsScriptAPeerIsMissing() {
    Runner.Commands commands = Runner.realCommands(PLAN, NativePeers.none("No sources here."));
    for (Launch launch :
        List.of(
            new Launch("lttng-ust", true, Params.NONE, "lttng.sh"),
            new Launch("trace", false, Params.NONE, "lttng.sh"))) {
      assertThatExceptionOfType(SubjectProcess.Failure.class)
          .isThrownBy(() -> commands.of(launch, "trace.event"))
          .withMessage("No sources here.");
    }
  }
}
