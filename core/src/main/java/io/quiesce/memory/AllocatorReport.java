package io.quiesce.memory;

import java.util.Locale;

/** The text of {@link PerCpuAllocator#report}. */
final class AllocatorReport {
  private static final String[] UNITS = {"KiB", "MiB", "GiB", "TiB", "PiB"};

  private final StringBuilder text = new StringBuilder(2_048);

  private AllocatorReport() {}

  static StringBuilder of(AllocatorStatistics s, boolean closed) {
    AllocatorReport report = new AllocatorReport();
    report.text.append("allocator '").append(s.name()).append(closed ? "', closed\n" : "'\n");
    report.line("limit", s.limit() == Long.MAX_VALUE ? "none" : size(s.limit()));
    report.line("taken from the kernel", size(s.backedBytes()));
    report.line("  in use", size(s.inUseBytes()));
    report.line("    of it large blocks", s.largeBlocks() + ": " + size(s.largeBytes()));
    report.line("    of it huge blocks", s.hugeBlocks() + ": " + size(s.hugeBytes()));
    report.line("  free in caches of CPUs", size(s.cachedBytes()));
    report.line("  free in transfer arrays", size(s.transferBytes()));
    report.line("  free in spans", size(s.freeInSpansBytes()));
    report.line("  idle pages", size(s.idleBytes()));
    report.line("returned to the kernel", size(s.returnedBytes()) + " in all");
    report.line("refills / overflows", s.refills() + " / " + s.overflows());
    report.line("drains / trims", s.drains() + " / " + s.trims());
    report.line("out of memory", s.outOfMemory() + " times");
    report.line("corrupt frees", s.corruptFrees() + " found");
    report.line(
        "hardening", s.faults() + " faults found, quarantine " + size(s.quarantinedBytes()));
    report.classes(s);
    return report.text;
  }

  private void line(String what, String value) {
    text.append(String.format(Locale.ROOT, "  %-26s %s%n", what, value));
  }

  private void classes(AllocatorStatistics s) {
    if (s.classes().isEmpty()) {
      return;
    }
    text.append(
        String.format(
            Locale.ROOT,
            "  %8s %12s %12s %12s %12s %8s  %s%n",
            "block",
            "live",
            "cached",
            "transfer",
            "free",
            "spans",
            "bytes live"));
    for (AllocatorStatistics.SizeClass c : s.classes()) {
      text.append(
          String.format(
              Locale.ROOT,
              "  %8d %12d %12d %12d %12d %8d  %s%n",
              c.blockBytes(),
              c.live(),
              c.cached(),
              c.inTransfer(),
              c.freeInSpans(),
              c.spans(),
              size(c.live() * c.blockBytes())));
    }
  }

  /** As {@code 1,536 (1.5 KiB)}. */
  static String size(long bytes) {
    String plain = String.format(Locale.ROOT, "%,d", bytes);
    if (bytes < 1024) {
      return plain + " bytes";
    }
    double value = bytes / 1024.0;
    int unit = 0;
    while (value >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%s (%.1f %s)", plain, value, UNITS[unit]);
  }
}
