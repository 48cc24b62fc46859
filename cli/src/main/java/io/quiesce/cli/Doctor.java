package io.quiesce.cli;

import io.quiesce.bench.Json;
import io.quiesce.bench.Machine;
import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.Membarrier;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import io.quiesce.linux.Rseq;
import io.quiesce.linux.Tsc;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.memory.PerCpuAllocator;
import io.quiesce.percpu.PerCpuCounter;
import io.quiesce.percpu.PerCpuOps;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.Reader;
import io.quiesce.rcu.Section;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** What this machine offers, which path each facility takes, and what that costs. */
final class Doctor {

  /** Whether a facility is on, and why. */
  record Facility(String name, boolean on, String reason) {}

  /** What an operation runs on, and its measured cost. */
  record Path(String operation, String path, double nanos) {}

  private final Machine machine = Machine.read();
  private final List<Facility> facilities = new ArrayList<>();
  private final List<String> commands = new ArrayList<>();
  private final List<Path> paths = new ArrayList<>();
  private final List<String> advice = new ArrayList<>();

  /** Written so that no measured loop is dead code. */
  private static volatile long sink;

  /** Looks and measures; takes about two seconds. */
  static Doctor examine() {
    Doctor doctor = new Doctor();
    doctor.look();
    doctor.measure();
    doctor.advise();
    return doctor;
  }

  private void look() {
    Platform.report()
        .forEach(
            (name, said) -> {
              int colon = said.indexOf(": ");
              facilities.add(new Facility(name, said.startsWith("on"), said.substring(colon + 2)));
            });
    facilities.addAll(TracerFacilities.find());
    if (on("membarrier")) {
      membarrierCommands();
    }
  }

  private boolean on(String facility) {
    return facilities.stream().anyMatch(f -> f.name().equals(facility) && f.on());
  }

  private void membarrierCommands() {
    Map<String, Integer> all = new LinkedHashMap<>();
    all.put("global", Membarrier.GLOBAL);
    all.put("global-expedited", Membarrier.GLOBAL_EXPEDITED);
    all.put("private-expedited", Membarrier.PRIVATE_EXPEDITED);
    all.put("private-expedited-sync-core", Membarrier.PRIVATE_EXPEDITED_SYNC_CORE);
    all.put("private-expedited-rseq", Membarrier.PRIVATE_EXPEDITED_RSEQ);
    all.put("get-registrations", Membarrier.GET_REGISTRATIONS);
    int offered = Membarrier.query();
    all.forEach(
        (name, bit) -> {
          if ((offered & bit) != 0) {
            commands.add(name);
          }
        });
  }

  private void measure() {
    Rcu rcu = Rcu.create("doctor");
    RcuRef<String> ref = rcu.ref("x");
    String reads = rcu.isFenced() ? "a full fence in the reader" : "no fence in the reader";
    paths.add(
        new Path(
            "read section",
            "look-up by thread id, " + reads,
            cost(
                n -> {
                  for (int i = 0; i < n; i++) {
                    try (Section section = rcu.read()) {
                      sink = ref.get(section).length();
                    }
                  }
                })));
    Reader reader = rcu.reader();
    paths.add(
        new Path(
            "read section, explicit reader",
            reads,
            cost(
                n -> {
                  for (int i = 0; i < n; i++) {
                    try (Section section = reader.read()) {
                      sink = ref.get(section).length();
                    }
                  }
                })));
    paths.add(
        new Path(
            "synchronize(), nobody reading",
            rcu.isFenced() ? "no barrier in the updater" : "membarrier, private expedited",
            cost(
                n -> {
                  for (int i = 0; i < n; i++) {
                    rcu.synchronize();
                  }
                })));
    if (on("membarrier")) {
      paths.add(
          new Path(
              "process-wide barrier, siblings asleep",
              "membarrier, private expedited",
              cost(
                  n -> {
                    for (int i = 0; i < n; i++) {
                      Membarrier.fence();
                    }
                  })));
    }
    paths.add(
        new Path(
            "CPU number",
            on("rseq") ? "read from the rseq area" : "no rseq: a portable stand-in",
            cost(
                n -> {
                  for (int i = 0; i < n; i++) {
                    sink = Rseq.cpu();
                  }
                })));
    perCpu();
    paths.add(
        new Path(
            "time stamp",
            on("tsc") ? "the CPU's counter" : "System.nanoTime",
            cost(
                n -> {
                  for (int i = 0; i < n; i++) {
                    sink = Tsc.isAvailable() ? Tsc.read() : System.nanoTime();
                  }
                })));
    paths.add(
        new Path(
            "System.nanoTime, for scale",
            "the JVM's",
            cost(
                n -> {
                  for (int i = 0; i < n; i++) {
                    sink = System.nanoTime();
                  }
                })));
    rcu.close();
  }

  private void perCpu() {
    PerCpuCounter counter = PerCpuCounter.create();
    paths.add(
        new Path(
            "per-CPU counter, increment",
            rows(),
            cost(
                n -> {
                  for (int i = 0; i < n; i++) {
                    counter.increment();
                  }
                })));
    if (VirtualMemory.isAvailable()) {
      try (PerCpuAllocator allocator = PerCpuAllocator.create("doctor")) {
        paths.add(
            new Path(
                "allocate and free 64 bytes",
                rows(),
                cost(
                    n -> {
                      for (int i = 0; i < n; i++) {
                        allocator.freeRaw(allocator.allocateRaw(64));
                      }
                    })));
      }
    } else if (OffHeap.isAvailable()) {
      paths.add(
          new Path(
              "allocate and free 64 bytes",
              "no per-CPU allocator here: malloc",
              cost(
                  n -> {
                    for (int i = 0; i < n; i++) {
                      OffHeap.free(OffHeap.allocate(64, 16));
                    }
                  })));
    }
  }

  private static String rows() {
    if (!OffHeap.isAvailable()) {
      return "no off-heap memory: a LongAdder";
    }
    int rows = PerCpuOps.rows();
    if (!PerCpuOps.isAvailable()) {
      return rows + " locked rows";
    }
    return "restartable, "
        + rows
        + (Rseq.isRowByConcurrencyId() ? " rows by concurrency id" : " rows by CPU number");
  }

  /** A loop of so many operations. */
  @FunctionalInterface
  interface Loop {
    void run(int count);
  }

  /** The best of several batches, after enough of them for the compiler. */
  private static double cost(Loop loop) {
    loop.run(16); // the first calls load classes
    int count = 64;
    long spent = 0;
    double best = Double.MAX_VALUE;
    long until = System.nanoTime() + 150_000_000L;
    while (System.nanoTime() < until) {
      long from = System.nanoTime();
      loop.run(count);
      spent = System.nanoTime() - from;
      best = Math.min(best, (double) spent / count);
      if (spent < 2_000_000) {
        count *= 2;
        best = Double.MAX_VALUE; // short batches are mostly clock
      }
    }
    return best;
  }

  private void advise() {
    for (Facility facility : facilities) {
      if (!facility.on()) {
        advice.add(facility.name() + ": " + facility.reason());
      }
    }
    Object clock = machine.facts().get("clocksource");
    if (clock != null && !clock.equals("tsc")) {
      advice.add(
          "clocksource: the kernel keeps time by "
              + clock
              + ", which makes every System.nanoTime() slow; boot with tsc=reliable if this"
              + " machine's counter can be trusted");
    }
    if ("powersave".equals(machine.facts().get("governor"))) {
      advice.add(
          "governor: powersave; figures vary less under 'cpupower frequency-set -g performance'");
    }
    OptionalDouble limit = CpuTopology.cpuLimit();
    if (limit.isPresent() && limit.getAsDouble() < CpuTopology.online().size()) {
      advice.add(
          String.format(
              Locale.ROOT,
              "control group: %.1f CPUs allowed of %d; a thread that is throttled inside a section"
                  + " holds up grace periods",
              limit.getAsDouble(),
              CpuTopology.online().size()));
    }
  }

  /** In the shape that {@code --json} promises. */
  Map<String, Object> json() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", Json.SCHEMA);
    all.put("machine", machine.facts());
    all.put(
        "facilities",
        facilities.stream()
            .map(f -> Map.of("name", f.name(), "on", f.on(), "reason", f.reason()))
            .toList());
    all.put("membarrier", commands);
    all.put(
        "paths",
        paths.stream()
            .map(p -> Map.of("operation", p.operation(), "path", p.path(), "ns", p.nanos()))
            .toList());
    all.put("advice", advice);
    return all;
  }

  /** For a terminal. */
  String text() {
    StringBuilder out = new StringBuilder("Machine\n");
    machine.facts().forEach((name, fact) -> line(out, 14, name, String.valueOf(fact)));
    out.append("\nWhat was found\n");
    for (Facility facility : facilities) {
      line(out, 18, facility.name(), (facility.on() ? "on   " : "off  ") + facility.reason());
    }
    line(out, 18, "membarrier offers", commands.isEmpty() ? "-" : String.join(", ", commands));
    out.append("\nWhat runs, and what it costs here\n");
    for (Path path : paths) {
      String cost = String.format(Locale.ROOT, "%,10.1f ns  ", path.nanos());
      line(out, 39, path.operation(), cost + path.path());
    }
    out.append("\nWhat to do for a faster path\n");
    if (advice.isEmpty()) {
      out.append("  Nothing: every fast path is taken.\n");
    }
    advice.forEach(each -> out.append("  ").append(each).append(".\n"));
    return out.toString();
  }

  private static void line(StringBuilder out, int width, String name, String rest) {
    out.append("  ").append(name).append(" ".repeat(Math.max(1, width - name.length())));
    out.append(rest).append('\n');
  }
}
