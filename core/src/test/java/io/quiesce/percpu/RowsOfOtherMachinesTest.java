package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.linux.ChildJvm;
import io.quiesce.linux.Needs;
import io.quiesce.linux.Rseq;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both ways to choose a row, and CPU numbers with gaps, each in a JVM of its own. */
class RowsOfOtherMachinesTest {
  private static final String DONE = " count 80000 recorded 80000 left true nodes 100";

  @TempDir Path sys = Path.of("");

  private String run(String possible, String... flags) throws Exception {
    List<String> all = new ArrayList<>(List.of(flags));
    all.add("--enable-native-access=ALL-UNNAMED");
    all.add("-Dquiesce.debug=true");
    if (!possible.isEmpty()) {
      Path cpu = Files.createDirectories(sys.resolve("devices/system/cpu"));
      Files.writeString(cpu.resolve("possible"), possible + "\n");
      all.add("-Dquiesce.test.sys=" + sys);
    }
    ChildJvm.Result result = ChildJvm.run(TableMain.class, Map.of(), all.toArray(new String[0]));
    assertThat(result.exit()).as(result.err()).isZero();
    return result.out().strip();
  }

  @Test
  void byCpu() throws Exception {
    Needs.facility("rseq");
    assertThat(run("", "-Dquiesce.percpu.index=cpu"))
        .isEqualTo("rows " + io.quiesce.linux.CpuTopology.tableSize() + " by cpu" + DONE);
  }

  @Test
  void byConcurrencyId() throws Exception {
    Needs.facility("rseq");
    String by = Rseq.hasConcurrencyId() ? "concurrency-id" : "cpu";
    assertThat(run("")).isEqualTo("rows " + PerCpuOps.rows() + " by " + by + DONE);
  }

  @Test
  void sparseNumbersMakeALongTable() throws Exception {
    Needs.facility("rseq");
    assertThat(run("0,64", "-Dquiesce.percpu.index=cpu")).isEqualTo("rows 65 by cpu" + DONE);
  }

  @Test
  void sparseNumbersMakeAShortTableOfConcurrencyIds() throws Exception {
    Needs.facility("rseq");
    if (Rseq.hasConcurrencyId()) {
      assertThat(run("0,64")).isEqualTo("rows 2 by concurrency-id" + DONE);
    }
  }

  /** A CPU that the table has no row for takes the path of threads without one. */
  @Test
  void aCpuBeyondTheTableTouchesNoRow() throws Exception {
    Needs.facility("rseq");
    assertThat(run("0", "-Dquiesce.percpu.index=cpu")).isEqualTo("rows 1 by cpu" + DONE);
  }

  @Test
  void rowsThatCannotBeFenced() throws Exception {
    Needs.facility("rseq");
    assertThat(run("", "-Dquiesce.membarrier=off")).contains(DONE);
  }
}
