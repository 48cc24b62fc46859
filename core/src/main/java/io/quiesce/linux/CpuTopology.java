package io.quiesce.linux;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The CPUs and memory nodes of this machine, read from {@code /sys} and {@code /proc}; needs no
 * native access.
 *
 * <p>CPU numbers can have gaps ("0,64"), so a table indexed by CPU number needs {@link
 * #tableSize()} entries, not as many as there are CPUs. Possible CPUs and nodes are fixed when the
 * kernel boots and read once; online CPUs and the limit can change and are read at each call. Safe
 * from any thread. Where the files are missing, or not on Linux, the CPUs are 0 to {@code
 * availableProcessors - 1} on one node.
 */
public final class CpuTopology {
  /** Elsewhere in tests that run with CPU numbers which this machine does not have. */
  private static final Path SYS = Path.of(System.getProperty("quiesce.test.sys", "/sys"));

  private CpuTopology() {}

  /** What never changes after boot. */
  private static final class Boot {
    static final CpuSet POSSIBLE = possible(cpuFile("possible"), processors());
    static final SortedMap<Integer, CpuSet> NODES =
        Platform.Start.LINUX ? nodes(SYS, POSSIBLE) : oneNode(POSSIBLE);
    private static final int[] NODE_OF = nodeTable(NODES, POSSIBLE);
  }

  /**
   * CPUs that can ever exist while this kernel runs.
   *
   * @return never empty
   */
  public static CpuSet possible() {
    return Boot.POSSIBLE;
  }

  /**
   * CPUs that are plugged in now.
   *
   * @return a subset of {@link #possible()}
   */
  public static CpuSet present() {
    return subset(cpuFile("present"), Boot.POSSIBLE);
  }

  /**
   * CPUs that run threads now; affinity and container limits are not considered.
   *
   * @return a subset of {@link #possible()}
   */
  public static CpuSet online() {
    return subset(cpuFile("online"), Boot.POSSIBLE);
  }

  /**
   * How many entries a table indexed by CPU number needs.
   *
   * @return the highest possible CPU number plus one
   */
  public static int tableSize() {
    return Boot.POSSIBLE.highest() + 1;
  }

  /**
   * The NUMA nodes.
   *
   * @return node number to its CPUs, which may be none; unmodifiable, never empty
   */
  public static SortedMap<Integer, CpuSet> nodes() {
    return Boot.NODES;
  }

  /**
   * The node of a CPU.
   *
   * @param cpu CPU number
   * @return its node, or -1 for a CPU that is in none
   */
  public static int nodeOf(int cpu) {
    return cpu >= 0 && cpu < Boot.NODE_OF.length ? Boot.NODE_OF[cpu] : -1;
  }

  /**
   * How many CPUs' worth of time the control group of this process may use: the tightest limit on
   * the way from its group to the root, cgroup version 2 or 1.
   *
   * @return for example 1.5; empty when there is no limit
   */
  public static OptionalDouble cpuLimit() {
    return Platform.Start.LINUX
        ? Cgroup.cpuLimit(Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup"))
        : OptionalDouble.empty();
  }

  private static int processors() {
    return Runtime.getRuntime().availableProcessors();
  }

  private static @Nullable String cpuFile(String name) {
    return Platform.Start.LINUX ? read(SYS.resolve("devices/system/cpu").resolve(name)) : null;
  }

  /** The possible CPUs from a file's text; a missing or damaged one yields the fallback. */
  static CpuSet possible(@Nullable String text, int processors) {
    CpuSet read = parse(text);
    return read.isEmpty() ? CpuSet.range(0, Math.max(1, processors) - 1) : read;
  }

  /** CPUs from a file's text, never outside {@code possible}; all of those when unknown. */
  static CpuSet subset(@Nullable String text, CpuSet possible) {
    CpuSet read = parse(text).and(possible);
    return read.isEmpty() ? possible : read;
  }

  private static CpuSet parse(@Nullable String text) {
    try {
      return text == null ? CpuSet.empty() : CpuSet.parse(text);
    } catch (IllegalArgumentException e) {
      return CpuSet.empty();
    }
  }

  /** The nodes below a copy of {@code /sys}. */
  static SortedMap<Integer, CpuSet> nodes(Path sys, CpuSet possible) {
    TreeMap<Integer, CpuSet> nodes = new TreeMap<>();
    Path folder = sys.resolve("devices/system/node");
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, "node[0-9]*")) {
      for (Path entry : entries) {
        int number = Integer.parseInt(entry.getFileName().toString().substring("node".length()));
        nodes.put(number, parse(read(entry.resolve("cpulist"))));
      }
    } catch (IOException | NumberFormatException e) {
      return oneNode(possible);
    }
    return nodes.isEmpty() ? oneNode(possible) : Collections.unmodifiableSortedMap(nodes);
  }

  private static SortedMap<Integer, CpuSet> oneNode(CpuSet possible) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(Map.of(0, possible)));
  }

  private static int[] nodeTable(SortedMap<Integer, CpuSet> nodes, CpuSet possible) {
    int[] table = new int[possible.highest() + 1];
    Arrays.fill(table, -1);
    nodes.forEach((node, cpus) -> cpus.and(possible).forEach(cpu -> table[cpu] = node));
    return table;
  }

  static @Nullable String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException | SecurityException e) {
      return null;
    }
  }
}
