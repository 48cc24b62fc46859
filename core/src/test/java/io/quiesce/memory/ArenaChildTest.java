package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.VirtualMemory;
import io.quiesce.rcu.Child;
import io.quiesce.rcu.Waiting;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What needs a JVM of its own: fallbacks, the debug mode, and what might crash. */
@Timeout(180)
class ArenaChildTest {
  @BeforeEach
  void once() {
    assumeFalse(Waiting.isRefusedRun(), "child JVMs are the same in both runs");
  }

  private static String run(String scenario, String... flags) throws Exception {
    Child child = Child.run(ArenaProbe.class, List.of(flags), List.of(), scenario);
    assertThat(child.output()).endsWith(scenario + " passed\n");
    assertThat(child.exit()).isZero();
    return child.output();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-Dquiesce.membarrier=off",
        "-Dquiesce.rseq=off",
        "-Dquiesce.linux=off -Dquiesce.debug=true",
      })
  void readersSeeTheirFileWhateverIsMissing(String flags) throws Exception {
    run("smoke", flags.split(" "));
  }

  @Test
  void theSharedAllocatorFeedsArenasExceptUnderTheDebugMode() throws Exception {
    assumeTrue(VirtualMemory.isAvailable());
    assertThat(run("source", "-Dquiesce.debug=false")).contains("in use 1\n").contains("left 0\n");
    assertThat(run("source", "-Dquiesce.debug=true")).contains("in use 0\n");
    run("source", "-Dquiesce.linux=off");
  }

  @Test
  void withoutNativeAccessTheFlagIsNamed() throws Exception {
    assertThat(run("refused", "--illegal-native-access=deny"))
        .containsPattern("create: RcuArena is not available: .*--enable-native-access=ALL-UNNAMED")
        .containsPattern("map: .* not available: .*--enable-native-access=ALL-UNNAMED");
    assertThat(run("refused", "-Dquiesce.native=off"))
        .containsPattern("create: .*-Dquiesce.native=off")
        .containsPattern("map: .*-Dquiesce.native=off");
  }

  @Test
  void theDebugModeShowsALateReader() throws Exception {
    assertThat(run("late", "-Dquiesce.debug=true"))
        .contains("segment 5b\n")
        .containsPattern("block: address 0x[0-9a-f]+ was freed")
        .containsPattern("file: address 0x[0-9a-f]+ was freed");
  }

  /** HotSpot turns the signal into an error, whether it interprets or has compiled the loop. */
  @ParameterizedTest
  @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1", "-XX:TieredStopAtLevel=4"})
  void aFileMadeShorterUnderItsMappingIsAnError(String compiler) throws Exception {
    String output = run("truncated", compiler);
    assertThat(output).doesNotContain("sum").doesNotContain("copy: 3");
    assertThat(output).containsPattern("segment: .*unsafe memory access");
    assertThat(output).containsPattern("address: .*unsafe memory access");
    assertThat(output).containsPattern("copy: .*unsafe memory access");
  }
}
