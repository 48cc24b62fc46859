package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlatformTest {
  private static final String GRANT = "--enable-native-access=ALL-UNNAMED";

  private static String line(ChildJvm.Result result, String name) {
    return result
        .out()
        .lines()
        .filter(l -> l.startsWith(name + "="))
        .map(l -> l.substring(name.length() + 1))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + name + " in " + result));
  }

  private static ChildJvm.Result probe(String... flags) {
    return ChildJvm.run(PlatformProbe.class, Map.of(), flags);
  }

  /** Whether a fresh JVM with everything granted has restartable sequences. */
  private static void assumeSequences() {
    assumeTrue(line(probe(GRANT), "rseq").startsWith("on"), "no restartable sequences here");
  }

  @Test
  void reportNamesEveryFacilityWithAReason() {
    assertThat(Platform.report().keySet())
        .containsExactly(
            "native",
            "linux",
            "x64",
            "membarrier",
            "membarrier-rseq",
            "code",
            "rseq",
            "futex",
            "tsc");
    assertThat(Platform.report().values()).allMatch(v -> v.matches("(?s)(on|off): .{5,}"));
    assertThat(Platform.report().getOrDefault("rseq", "").startsWith("on"))
        .isEqualTo(Platform.rseq());
    assertThatThrownBy(() -> Platform.reason("gpu"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("gpu")
        .hasMessageContaining("membarrier");
  }

  @Test
  void grantedWithoutAnyWarning() {
    ChildJvm.Result result = probe(GRANT);
    assertThat(result.exit()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(line(result, "native")).startsWith("on");
    assertThat(line(result, "allocate")).isEqualTo("done");
  }

  @Test
  void deniedWorksOnFallbacksAndLogsOneLineWithTheFlag() {
    ChildJvm.Result result = probe("--illegal-native-access=deny");
    assertThat(result.exit()).as(result.toString()).isZero();
    assertThat(result.err().lines().filter(l -> l.contains(GRANT))).hasSize(1);
    assertThat(line(result, "native")).startsWith("off").contains(GRANT);
    for (String facility : List.of("membarrier", "rseq", "code", "futex", "tsc")) {
      assertThat(line(result, facility)).startsWith("off");
    }
    assertThat(line(result, "allocate"))
        .startsWith("UnsupportedOperationException")
        .contains(GRANT);
    assertThat(line(result, "fence")).startsWith("UnsupportedOperationException").contains(GRANT);
    assertThat(line(result, "add")).isEqualTo("false");
    assertThat(line(result, "cpu")).isEqualTo("-1");
    assertThat(Integer.parseInt(line(result, "table"))).isPositive();
  }

  @Test
  void offNeverMakesTheJvmWarn() {
    ChildJvm.Result result = probe("-Dquiesce.native=off");
    assertThat(result.exit()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(line(result, "native")).startsWith("off").contains("quiesce.native");
    assertThat(line(result, "offheap")).isEqualTo("false");
    assertThat(line(result, "pages")).isEqualTo("0");
  }

  @Test
  void requireFailsAtFirstUseWithTheFlag() {
    ChildJvm.Result result = probe("-Dquiesce.native=require", "--illegal-native-access=deny");
    assertThat(result.exit()).as(result.toString()).isZero();
    for (String use : List.of("cpu", "add", "fence", "fenceRseq", "offheap", "allocate", "await")) {
      assertThat(line(result, use)).startsWith("IllegalStateException").contains(GRANT);
    }
    assertThat(line(probe("-Dquiesce.native=require", GRANT), "allocate")).isEqualTo("done");
  }

  @Test
  void unknownValueIsOneSentenceAndTheDefault() {
    ChildJvm.Result result = probe("-Dquiesce.native=maybe", "-Dquiesce.rseq=no", GRANT);
    assertThat(result.exit()).isZero();
    assertThat(result.err())
        .containsOnlyOnce("-Dquiesce.native=maybe is not understood: it must be one of auto, off")
        .containsOnlyOnce("-Dquiesce.rseq=no is not understood");
    assertThat(line(result, "native")).startsWith("on");
  }

  @Test
  void eachSwitchTurnsItsOwnFacilityOff() {
    ChildJvm.Result result = probe(GRANT, "-Dquiesce.membarrier=off");
    assertThat(line(result, "membarrier")).startsWith("off").contains("quiesce.membarrier");
    assertThat(line(result, "membarrier-rseq")).startsWith("off");
    assertThat(line(result, "fence")).startsWith("UnsupportedOperationException");

    result = probe(GRANT, "-Dquiesce.linux=off");
    assertThat(line(result, "linux")).startsWith("off");
    assertThat(line(result, "futex")).startsWith("off");
    assertThat(line(result, "allocate")).isEqualTo("done");
    assertThat(line(result, "cpu")).isEqualTo("-1");
  }

  @Test
  void oneCodePageOrNone() {
    assumeSequences();
    ChildJvm.Result with = probe(GRANT);
    ChildJvm.Result without = probe(GRANT, "-Dquiesce.rseq=off");
    assertThat(line(with, "pages")).isEqualTo("1");
    assertThat(line(without, "pages")).isEqualTo("0");
    assertThat(line(without, "sequences")).isEqualTo("[]");
    assertThat(line(without, "rseq")).startsWith("off").contains("quiesce.rseq");
    assertThat(line(without, "add")).isEqualTo("false");
    assertThat(Integer.parseInt(line(without, "cpu"))).isNotNegative();
    assertThat(line(without, "membarrier")).startsWith("on");
  }

  @Test
  void theCLibraryCanKeepThreadsUnregistered() {
    assumeSequences();
    ChildJvm.Result result =
        ChildJvm.run(PlatformProbe.class, Map.of("GLIBC_TUNABLES", "glibc.pthread.rseq=0"), GRANT);
    assertThat(line(result, "rseq")).startsWith("off").contains("GLIBC_TUNABLES");
    assertThat(line(result, "code")).startsWith("on");
    assertThat(line(result, "sequences")).contains("tsc@").doesNotContain("add@");
    assertThat(line(result, "add")).isEqualTo("false");
    assertThat(Integer.parseInt(line(result, "cpu"))).isNotNegative();
    assertThat(Long.parseLong(line(result, "tsc.read"))).isPositive();
  }

  @Test
  void executableMemoryRefused() {
    assumeSequences();
    ChildJvm.Result result =
        probe(
            GRANT,
            "-Dprobe.sandbox=no-new-code",
            "-Xint",
            "-XX:InitialCodeCacheSize=48m",
            "-XX:ReservedCodeCacheSize=48m");
    assumeTrue(result.out().contains("sandbox=0"), "the kernel has no PR_SET_MDWE");
    assertThat(line(result, "code")).startsWith("off").contains("mprotect").contains("EACCES");
    assertThat(line(result, "rseq")).startsWith("off");
    assertThat(line(result, "pages")).isEqualTo("0");
    assertThat(line(result, "fence")).isEqualTo("done");
  }

  @Test
  void seccompForbidsMembarrierOrFutex() {
    assumeSequences();
    ChildJvm.Result result = probe(GRANT, "-Dprobe.sandbox=membarrier");
    assumeTrue(result.out().contains("sandbox=0"), "no seccomp here");
    assertThat(line(result, "membarrier")).startsWith("off").contains("EPERM").contains("seccomp");
    assertThat(line(result, "fence")).startsWith("UnsupportedOperationException");
    assertThat(line(result, "rseq")).startsWith("on");
  }
}
