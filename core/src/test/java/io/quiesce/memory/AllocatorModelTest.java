package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.ChildJvm;
import io.quiesce.linux.Needs;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.percpu.PerCpuOps;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random use against a model, here and in JVMs that take the fallbacks. */
class AllocatorModelTest {
  private static final String NOTHING_LEFT = " in use 0 cached 0 corrupt 0";

  @TempDir Path sys = Path.of("");

  @BeforeEach
  void available() {
    assumeTrue(VirtualMemory.isAvailable());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void liveBlocksAreDisjointAndKeepWhatTheyHold(long seed) throws Exception {
    try (PerCpuAllocator allocator = PerCpuAllocator.create("model")) {
      new AllocatorModel(allocator, seed).run(5_000);
      allocator.trim();
      AllocatorStatistics s = allocator.statistics();
      assertThat(s.inUseBytes()).isZero();
      assertThat(s.corruptFrees()).isZero();
      assertThat(s.backedBytes()).isEqualTo(PerCpuOps.canFence() ? 0 : s.backedBytes());
    }
  }

  @Test
  void soDoThoseThatCacheNothing() throws Exception {
    try (PerCpuAllocator allocator = PerCpuAllocator.builder().cacheBytesPerCpu(0).build()) {
      new AllocatorModel(allocator, 4).run(3_000);
      assertThat(allocator.statistics().inUseBytes()).isZero();
    }
  }

  private String run(String possible, String... flags) throws Exception {
    List<String> all = new ArrayList<>(List.of(flags));
    all.add("--enable-native-access=ALL-UNNAMED");
    all.add("-XX:TieredStopAtLevel=1");
    if (!possible.isEmpty()) {
      Path cpu = Files.createDirectories(sys.resolve("devices/system/cpu"));
      Files.writeString(cpu.resolve("possible"), possible + "\n");
      all.add("-Dquiesce.test.sys=" + sys);
    }
    ChildJvm.Result result =
        ChildJvm.run(AllocatorModel.class, Map.of(), all.toArray(new String[0]));
    assertThat(result.exit()).as(result.err()).isZero();
    return result.out().strip();
  }

  @Test
  void onLockedRows() throws Exception {
    assertThat(run("", "-Dquiesce.rseq=off")).contains("sequences false").endsWith(NOTHING_LEFT);
  }

  @Test
  void onRowsByCpu() throws Exception {
    Needs.facility("rseq");
    assertThat(run("", "-Dquiesce.percpu.index=cpu"))
        .isEqualTo(
            "rows " + io.quiesce.linux.CpuTopology.tableSize() + " sequences true" + NOTHING_LEFT);
  }

  @Test
  void onRowsThatCannotBeFenced() throws Exception {
    Needs.facility("rseq");
    assertThat(run("", "-Dquiesce.membarrier=off")).endsWith(NOTHING_LEFT);
  }

  @Test
  void withGapsInTheNumbersOfCpus() throws Exception {
    Needs.facility("rseq");
    assertThat(run("0,64", "-Dquiesce.percpu.index=cpu"))
        .isEqualTo("rows 65 sequences true" + NOTHING_LEFT);
  }

  /** As in a thread that is not registered: every operation goes to the central lists. */
  @Test
  void onACpuThatHasNoRow() throws Exception {
    Needs.facility("rseq");
    assertThat(run("0", "-Dquiesce.percpu.index=cpu"))
        .isEqualTo("rows 1 sequences true" + NOTHING_LEFT);
  }
}
