package io.quiesce.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class MainTest {
  private record Ran(int status, String out, String err) {}

  private static Ran run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Ran(status, out.toString(), err.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "doctor",
        "bench",
        "torture",
        "test",
        "trace",
        "trace record",
        "trace recover",
        "trace print",
        "trace stats",
        "trace list",
        "trace snapshot",
        "trace enable",
        "trace disable",
      })
  void helpOfEachCommand(String command) {
    Ran ran = run((command + " --help").strip().split(" ", -1));
    assertThat(ran.status()).isZero();
    assertThat(ran.err()).isEmpty();
    assertThat(ran.out()).startsWith("Usage: quiesce").contains("--help");
  }

  @Test
  void version() {
    Ran ran = run("--version");
    assertThat(ran.status()).isZero();
    assertThat(ran.out()).startsWith("quiesce ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dcotor                            | Did you mean doctor",
        "bench rcu.raed                    | did you mean rcu.read?",
        "bench xyzzy                       | there are barrier.cost",
        "bench --rounds 0                  | --rounds must be from 1 to 1000",
        "bench --rounds five               | --rounds",
        "bench --threads 0                 | --threads must be numbers from 1",
        "bench --json /dev/null/x.json     | cannot be written",
        "bench --report /tmp               | is a folder",
        "bench --quikc                     | --quikc",
        "torture --seconds 0               | --seconds must be at least 1",
        "doctor --json /                   | is a folder",
        "trace                             | record, recover, print, stats, list",
        "trace recrod                      | Did you mean record",
        "trace record                      | Say which program to record",
        "trace record --mode fast -- java  | --mode",
        "trace record --level 15 -- java   | a level is 0 to 14",
        "trace record --budget x -- java   | a size is a number such as 32M",
        "trace record --buffers /x -- java | is no folder that can be written",
        "trace record --output /dev/null x | is a file",
        "trace record --output /dev/null/x y | cannot be written",
        "trace record --snapshot-on-exception x | needs --mode overwrite",
        "trace recover                     | DIR",
        "trace snapshot                    | PID",
        "trace enable 12                   | PATTERN",
        "trace enable x shop:*             | a process has a number",
        "trace disable -5 shop:*           | -5",
      })
  void badUsageIsOneSentenceAndStatus2(String line, String said) {
    Ran ran = run(line.split(" ", -1));
    assertThat(ran.status()).isEqualTo(2);
    assertThat(ran.out()).isEmpty();
    assertThat(ran.err()).startsWith("quiesce: ").contains(said).contains("--help'");
    assertThat(ran.err().strip().lines()).hasSize(1);
  }

  @Test
  void nothingToDoIsBadUsage() {
    Ran ran = run();
    assertThat(ran.status()).isEqualTo(2);
    assertThat(ran.err()).contains("doctor, bench, torture, trace, test");
  }

  @Test
  void listOfExperiments() {
    assertThat(run("bench", "--list").out()).contains("rcu.read", "barrier.cost", "rcu.close");
  }

  @Test
  void doctorTellsPathsAndCosts(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("new/doctor.json");
    Ran ran = run("doctor", "--json", file.toString());
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(ran.out()).contains("kernel", "membarrier", "read section", "System.nanoTime");
    JsonObject json = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
    assertThat(json.keySet())
        .containsExactly("schema", "machine", "facilities", "membarrier", "paths", "advice");
    assertThat(json.getAsJsonArray("facilities"))
        .map(each -> each.getAsJsonObject().get("name").getAsString())
        .endsWith("trace hot path", "trace clock", "trace buffers");
    assertThat(ran.out()).containsPattern("trace hot path +o(n|ff) +(restart|compare)");
    assertThat(json.getAsJsonArray("paths"))
        .isNotEmpty()
        .allMatch(path -> path.getAsJsonObject().get("ns").getAsDouble() > 0);
  }

  @Test
  void doctorJudgesThePlaceOfTheBuffers(@TempDir Path folder) {
    assertThat(TracerFacilities.judge(folder, "tmpfs", 64L << 20).on()).isTrue();
    assertThat(TracerFacilities.judge(folder, "tmpfs", 1L << 20).reason()).contains("too little");
    assertThat(TracerFacilities.judge(folder, "ext4", 64L << 20).reason()).contains("a tmpfs");
    assertThat(TracerFacilities.buffers(folder.resolve("x")).reason()).contains("is no folder");
  }

  @Test
  void traceFailuresAreOneSentence(@TempDir Path folder) {
    for (String line :
        new String[] {
          "recover /nowhere/at/all",
          "print /nowhere/at/all",
          "stats " + folder,
          "recover " + folder,
          "list 999999999",
          "enable 999999999 *"
        }) {
      Ran ran = run(("trace " + line).split(" ", -1));
      assertThat(ran.status()).as(line).isEqualTo(1);
      assertThat(ran.err().strip().lines()).hasSize(1);
      assertThat(ran.err()).startsWith("quiesce: ").doesNotContain("--debug");
    }
  }

  @Test
  void suggestionsAreClose() {
    java.util.List<String> names = java.util.List.of("rcu.read", "rcu.call", "barrier.cost");
    assertThat(Suggestions.of("rcu.raed", names)).startsWith("rcu.read");
    assertThat(Suggestions.of("cost", names)).containsExactly("barrier.cost");
    assertThat(Suggestions.of("quantum", names)).isEmpty();
    assertThat(Suggestions.distance("kitten", "sitting")).isEqualTo(3);
  }

  @Test
  void progressIsPlainLinesWithoutATerminal() {
    StringWriter err = new StringWriter();
    try (ConsoleProgress progress = new ConsoleProgress(new PrintWriter(err, true), false)) {
      for (int i = 0; i < 1000; i++) {
        progress.step(i, 1000, "rcu.read threads=1: bare dereference");
      }
    }
    assertThat(err.toString())
        .isEqualTo(String.format("  0%%  rcu.read threads=1: bare dereference%n"));
  }
}
