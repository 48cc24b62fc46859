package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuTopologyTest {
  @TempDir Path folder;

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }

  @Test
  void thisMachine() {
    assertThat(CpuTopology.possible().isEmpty()).isFalse();
    assertThat(CpuTopology.tableSize()).isEqualTo(CpuTopology.possible().highest() + 1);
    assertThat(CpuTopology.online().and(CpuTopology.possible())).isEqualTo(CpuTopology.online());
    assertThat(CpuTopology.present().isEmpty()).isFalse();
    assertThat(CpuTopology.nodes()).isNotEmpty();
    assertThat(CpuTopology.nodes()).containsKey(CpuTopology.nodeOf(CpuTopology.online().highest()));
    assertThat(CpuTopology.nodeOf(-1)).isEqualTo(-1);
    assertThat(CpuTopology.nodeOf(CpuTopology.tableSize())).isEqualTo(-1);
    CpuTopology.cpuLimit().ifPresent(limit -> assertThat(limit).isPositive());
  }

  @Test
  void sparseNumbers() {
    assertThat(CpuTopology.possible("0,64", 2)).isEqualTo(CpuSet.of(0, 64));
    assertThat(CpuTopology.possible("0,64", 2).highest() + 1).isEqualTo(65);
    assertThat(CpuTopology.subset("0-63", CpuSet.of(0, 64))).isEqualTo(CpuSet.of(0));
  }

  @Test
  void missingOrDamagedFiles() {
    assertThat(CpuTopology.possible(null, 3)).hasToString("0-2");
    assertThat(CpuTopology.possible("rubbish", 3)).hasToString("0-2");
    assertThat(CpuTopology.possible("", 0)).hasToString("0");
    assertThat(CpuTopology.subset(null, CpuSet.of(0, 64))).isEqualTo(CpuSet.of(0, 64));
    assertThat(CpuTopology.nodes(folder, CpuSet.of(0, 1))).containsOnlyKeys(0);
  }

  @Test
  void nodesWithGapsAndNodesWithoutCpus() throws IOException {
    write("devices/system/node/node0/cpulist", "0-1");
    write("devices/system/node/node2/cpulist", "");
    write("devices/system/node/node10/cpulist", "64");
    var nodes = CpuTopology.nodes(folder, CpuSet.parse("0-1,64"));
    assertThat(nodes.keySet()).containsExactly(0, 2, 10);
    assertThat(nodes.get(2)).isEqualTo(CpuSet.empty());
    assertThat(nodes.get(10)).isEqualTo(CpuSet.of(64));
  }

  @Test
  void cgroup2TakesTheTightestLimitOnTheWayUp() throws IOException {
    write("self", "0::/a/b");
    write("fs/cpu.max", "max 100000");
    write("fs/a/cpu.max", "150000 100000");
    write("fs/a/b/cpu.max", "400000 100000");
    assertThat(Cgroup.cpuLimit(folder.resolve("self"), folder.resolve("fs"))).hasValue(1.5);
  }

  @Test
  void cgroup1AndPathsThatAreNotVisible() throws IOException {
    write("self", "3:memory:/x\n2:cpu,cpuacct:/docker/abc\n0::/");
    write("fs/cpu,cpuacct/cpu.cfs_quota_us", "50000");
    write("fs/cpu,cpuacct/cpu.cfs_period_us", "100000");
    assertThat(Cgroup.cpuLimit(folder.resolve("self"), folder.resolve("fs"))).hasValue(0.5);
  }

  @Test
  void noLimit() throws IOException {
    write("self", "2:cpu:/\n0::/../..\nrubbish");
    write("fs/cpu/cpu.cfs_quota_us", "-1");
    write("fs/cpu/cpu.cfs_period_us", "100000");
    assertThat(Cgroup.cpuLimit(folder.resolve("self"), folder.resolve("fs"))).isEmpty();
    assertThat(Cgroup.cpuLimit(folder.resolve("none"), folder.resolve("fs"))).isEmpty();
  }
}
