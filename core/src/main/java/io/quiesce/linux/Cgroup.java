package io.quiesce.linux;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** CPU limits of control groups, both versions of the interface. */
final class Cgroup {
  private Cgroup() {}

  /**
   * The tightest limit between the process's group and the root of the mount.
   *
   * @param membership a copy of {@code /proc/self/cgroup}
   * @param mount where the hierarchies are mounted
   */
  static OptionalDouble cpuLimit(Path membership, Path mount) {
    String text = CpuTopology.read(membership);
    double limit = Double.POSITIVE_INFINITY;
    for (String line : text == null ? new String[0] : text.split("\n", -1)) {
      String[] parts = line.split(":", 3);
      if (parts.length < 3) {
        continue;
      }
      if (parts[1].isEmpty()) {
        limit = Math.min(limit, walk(mount, parts[2], true));
        // A hybrid system mounts version 2 one level down.
        limit = Math.min(limit, walk(mount.resolve("unified"), parts[2], true));
      } else if (List.of(parts[1].split(",", -1)).contains("cpu")) {
        limit = Math.min(limit, walk(mount.resolve(parts[1]), parts[2], false));
        limit = Math.min(limit, walk(mount.resolve("cpu"), parts[2], false));
      }
    }
    return limit == Double.POSITIVE_INFINITY ? OptionalDouble.empty() : OptionalDouble.of(limit);
  }

  /** Inside a container the path may name a group that is not visible; its parents are. */
  private static double walk(Path root, String path, boolean version2) {
    double limit = Double.POSITIVE_INFINITY;
    Path group = root.resolve(path.replaceFirst("^/+", "")).normalize();
    while (group != null && group.startsWith(root)) {
      limit = Math.min(limit, version2 ? version2(group) : version1(group));
      group = group.getParent();
    }
    return limit;
  }

  private static double version2(Path group) {
    String text = CpuTopology.read(group.resolve("cpu.max"));
    if (text == null) {
      return Double.POSITIVE_INFINITY;
    }
    String[] parts = text.split("\\s+", -1);
    return parts.length < 2 ? Double.POSITIVE_INFINITY : ratio(parts[0], parts[1]);
  }

  private static double version1(Path group) {
    return ratio(
        CpuTopology.read(group.resolve("cpu.cfs_quota_us")),
        CpuTopology.read(group.resolve("cpu.cfs_period_us")));
  }

  /** Quota over period; "max", -1 and anything damaged mean no limit. */
  private static double ratio(@Nullable String quota, @Nullable String period) {
    try {
      if (quota != null && period != null) {
        long q = Long.parseLong(quota);
        long p = Long.parseLong(period);
        if (q > 0 && p > 0) {
          return (double) q / p;
        }
      }
    } catch (NumberFormatException e) {
      // "max" is the usual case.
    }
    return Double.POSITIVE_INFINITY;
  }
}
