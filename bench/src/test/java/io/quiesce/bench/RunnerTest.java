package io.quiesce.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RunnerTest {
  private static final SubjectProcess.Patience SHORT =
      new SubjectProcess.Patience(Duration.ofSeconds(20), Duration.ofSeconds(1));

  /** Acts by program name. */
  private static final Map<String, String[]> ACTS =
      Map.of(
          "good", new String[] {"ready", "serve"},
          "twin", new String[] {"ready", "serve"},
          "mute", new String[] {"ready", "await", "hang"},
          "dying",
              new String[] {
                "ready", "await", "result ns=5", "await", "result ns=5", "await", "die"
              },
          "odd", new String[] {"ready", "await", "result rate=5", "hang"});

  private static final List<String> EXTRAS = List.of("p99", "kept");

  /** One cell with everyone in it. */
  private record Fake(List<Contestant> contestants, List<Cell.Pair> pairs) implements Experiment {
    @Override
    public String name() {
      return "fake.one";
    }

    @Override
    public String title() {
      return "Is <this> \"safe\"?";
    }

    @Override
    public String method() {
      return "By & by.";
    }

    @Override
    public List<String> extras() {
      return EXTRAS;
    }

    @Override
    public List<Cell> cells(Plan plan) {
      return List.of(
          new Cell(
              Params.of("threads", 1, "mode", "a"),
              Measure.NS,
              Duration.ofMillis(5),
              contestants,
              pairs));
    }
  }

  private static Report run(Plan plan, Contestant... contestants) throws InterruptedException {
    List<Cell.Pair> pairs =
        List.of(
            new Cell.Pair("good", "twin"),
            new Cell.Pair("good", "dying"),
            new Cell.Pair("good", "absent"));
    Runner.Commands commands =
        (launch, experiment) -> {
          String[] acts = ACTS.get(launch.program());
          if (acts == null) {
            throw new SubjectProcess.Failure("Not built on this machine: install liburcu-dev.");
          }
          return FakeSubject.command(acts);
        };
    return new Runner(plan, commands, SHORT, Progress.SILENT)
        .run(List.of(new Fake(List.of(contestants), pairs)));
  }

  private static Contestant fake(String name) {
    return Contestant.java(name, name, Params.NONE);
  }

  private static Report everyone() throws InterruptedException {
    return run(
        Plan.quick(2),
        fake("good"),
        fake("twin"),
        fake("mute"),
        fake("dying"),
        fake("odd"),
        Contestant.nativePeer("absent", "absent", Params.NONE).labelled(Params.of("worker", "rt")));
  }

  @Test
  void whoFailsGetsASentenceAndTheOthersGoOn() throws Exception {
    Report report = everyone();
    assertThat(report.rows()).hasSize(6);
    assertThat(row(report, "good").figure()).isEqualTo(new Statistics(13.5, 11.5, 15.5, 5));
    assertThat(row(report, "good").others()).containsEntry("p99", 20.0);
    assertThat(row(report, "mute").note()).startsWith("hung");
    assertThat(row(report, "dying").note()).contains("No memory for anything.");
    assertThat(row(report, "dying").figure()).isNull();
    assertThat(row(report, "odd").note()).contains("a positive ns was expected");
    assertThat(row(report, "absent").note()).contains("install liburcu-dev");
    assertThat(report.comparisons()).hasSize(1);
    Report.Comparison only = report.comparisons().getFirst();
    assertThat(only.gain()).isEqualTo(new Statistics(1, 1, 1, 5));
    assertThat(TextTables.render(report))
        .contains("good", "13.5", "install liburcu-dev")
        .containsPattern("good +13.5 +\\(11.5 to 15.5\\) +p99 20\n");
  }

  private static Report.Row row(Report report, String subject) {
    return report.rows().stream()
        .filter(r -> r.subject().equals(subject))
        .findFirst()
        .orElseThrow();
  }

  /** What scripts rely on: exactly these names. */
  @Test
  void theShapeOfTheJson() throws Exception {
    JsonObject json = JsonParser.parseString(Json.write(Json.of(everyone()))).getAsJsonObject();
    assertThat(json.keySet()).containsExactly("schema", "machine", "results", "comparisons");
    assertThat(json.get("schema").getAsInt()).isEqualTo(1);
    assertThat(json.getAsJsonObject("machine").keySet())
        .contains("kernel", "cpus", "jdk", "quiesce");
    JsonArray results = json.getAsJsonArray("results");
    Set<String> names =
        Set.of(
            "experiment",
            "subject",
            "kind",
            "params",
            "unit",
            "better",
            "median",
            "min",
            "max",
            "runs");
    for (int i = 0; i < results.size(); i++) {
      JsonObject row = results.get(i).getAsJsonObject();
      assertThat(row.keySet()).containsAll(names);
      assertThat(row.get("kind").getAsString()).isIn("quiesce", "java", "native");
      assertThat(row.get("better").getAsString()).isIn("lower", "higher");
      assertThat(row.get("median").isJsonNull()).isEqualTo(row.has("note"));
      assertThat(row.has("extra")).isNotEqualTo(row.has("note"));
      if (row.has("extra")) {
        assertThat(row.getAsJsonObject("extra").get("p99").getAsDouble()).isEqualTo(20);
      }
      assertThat(row.getAsJsonObject("params").get("threads").getAsInt()).isEqualTo(1);
    }
    JsonObject comparison = json.getAsJsonArray("comparisons").get(0).getAsJsonObject();
    assertThat(comparison.keySet())
        .containsExactly(
            "experiment", "params", "subject", "against", "gain_median", "gain_min", "gain_max");
    assertThat(comparison.getAsJsonObject("params").get("mode").getAsString()).isEqualTo("a");
  }

  @Test
  void jsonEscapesAndRefusesWhatItCannotSay() {
    String odd = "a\"b\\c\nd\te</script>";
    assertThat(JsonParser.parseString(Json.write(odd)).getAsString()).isEqualTo(odd);
    assertThat(Json.write(odd)).doesNotContain("</script>");
    assertThat(JsonParser.parseString(Json.write(List.of(0.000123456789, 12345678.9, 1e15))))
        .hasToString("[0.000123457,12345678.9,1000000000000000.0]");
  }
}
