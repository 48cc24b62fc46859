package io.quiesce.verify;

import io.quiesce.linux.Membarrier;
import io.quiesce.linux.Platform;
import io.quiesce.rcu.Rcu;
import io.quiesce.trace.TraceSession;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** One JVM of a torture: started, stopped, continued and timed by the parent. */
final class TortureChild {
  /** First argument of the JVM that is tortured. */
  static final String COMMAND = "--child";

  private static final String RESULT = "RESULT ";
  private static final String FAULT = "FAULT ";
  private static final long GRACE_SECONDS = 120;

  private final String torture;
  private final String name;
  private final List<String> flags;
  private final long millis;
  private final long seed;
  private final boolean broken;
  private final PrintStream out;

  TortureChild(
      String torture,
      String name,
      List<String> flags,
      long millis,
      long seed,
      boolean broken,
      PrintStream out) {
    this.torture = torture;
    this.name = name;
    this.flags = flags;
    this.millis = millis;
    this.seed = seed;
    this.broken = broken;
    this.out = out;
  }

  // ---- the parent's side ----

  /** Whether it went as it must. */
  boolean run() throws IOException, InterruptedException {
    Path log = Files.createTempFile("quiesce-torture-", ".log");
    try {
      return run(log);
    } finally {
      Files.deleteIfExists(log);
    }
  }

  private boolean run(Path log) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command())
            .redirectError(ProcessBuilder.Redirect.to(log.toFile()))
            .start();
    Thread signals = Thread.ofPlatform().daemon(true).start(() -> signal(process));
    Thread watch = Thread.ofPlatform().daemon(true).start(() -> watch(process));
    List<String> rest = new ArrayList<>();
    int results = 0;
    int faults = 0;
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(RESULT)) {
          results++;
          out.printf("%-20s %s%n", name, line.substring(RESULT.length()));
        } else if (line.startsWith(FAULT)) {
          faults++;
          out.printf("%-20s %s%n", name, line.substring(FAULT.length()));
        } else {
          rest.add(line);
        }
      }
    }
    int exit = process.waitFor();
    watch.interrupt();
    signals.join();
    int runs = runs(torture, broken);
    if (broken) {
      return faults == runs;
    }
    if (exit == 0 && results == runs && faults == 0) {
      return true;
    }
    out.println(name + " ended with exit code " + exit + " after " + results + " of " + runs + ":");
    rest.forEach(line -> out.println("  | " + line));
    tail(log).forEach(line -> out.println("  ! " + line));
    return false;
  }

  /** How many lines of results one JVM gives. */
  static int runs(String torture, boolean broken) {
    if (torture.equals(Torture.ALLOC)) {
      return 1;
    }
    if (torture.equals(Torture.PERCPU)) {
      return broken ? 1 : PerCpuTorture.Part.values().length;
    }
    if (torture.equals(Torture.LOCKS)) {
      return LocksTorture.Part.values().length;
    }
    if (torture.equals(Torture.TRACE)) {
      return TraceTorture.Part.values().length;
    }
    return Rcu.Flavour.values().length;
  }

  private static List<String> tail(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
    return lines.subList(Math.max(0, lines.size() - 40), lines.size());
  }

  private List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(flags);
    command.add("-cp");
    command.add(classPath());
    command.add(Torture.class.getName());
    command.add(COMMAND);
    command.add(torture);
    command.add(Long.toString(Math.max(100, millis / runs(torture, broken))));
    command.add(Long.toString(seed));
    command.add(Boolean.toString(broken));
    return command;
  }

  /** Where the jars are, however this JVM was started. */
  static String classPath() {
    Set<String> places = new LinkedHashSet<>();
    for (Class<?> type : List.of(Torture.class, Rcu.class, TraceSession.class)) {
      try {
        places.add(
            new File(type.getProtectionDomain().getCodeSource().getLocation().toURI()).getPath());
      } catch (URISyntaxException notAFile) {
        throw new IllegalStateException("cannot tell where " + type + " comes from", notAFile);
      }
    }
    return String.join(File.pathSeparator, places);
  }

  /** Stops the whole process now and then, as a debugger, a container or a laptop's lid does. */
  private void signal(Process process) {
    SplittableRandom random = new SplittableRandom(seed ^ name.hashCode());
    try {
      while (process.isAlive()) {
        Thread.sleep(random.nextInt(200, 900));
        if (!kill(process, "-STOP")) {
          return; // no such command here: the rest of the torture stands without it
        }
        Thread.sleep(random.nextInt(5, 60));
        kill(process, "-CONT");
      }
    } catch (InterruptedException end) {
      kill(process, "-CONT");
    }
  }

  /** A JVM that hangs says where, and ends. */
  private void watch(Process process) {
    try {
      long limit = millis / 1_000 + GRACE_SECONDS;
      if (!process.waitFor(limit, TimeUnit.SECONDS)) {
        out.println(name + " still runs after " + limit + " s: it hangs");
        kill(process, "-QUIT");
        Thread.sleep(2_000);
        process.destroyForcibly();
      }
    } catch (InterruptedException ended) {
      // The process ended in time.
    }
  }

  private static boolean kill(Process process, String signal) {
    try {
      return new ProcessBuilder("kill", signal, Long.toString(process.pid()))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException none) {
      return false;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  static String header(String torture) {
    if (torture.equals(Torture.ALLOC)) {
      return String.format(
          "%-20s %12s %12s %9s %9s %11s %11s",
          "configuration", "allocations", "MiB", "births", "trims", "MiB early", "MiB at end");
    }
    if (torture.equals(Torture.PERCPU)) {
      return String.format(
          "%-20s %-11s %12s %12s %9s",
          "configuration", "part", "operations", "additions", "visits");
    }
    if (torture.equals(Torture.LOCKS)) {
      return String.format(
          "%-20s %-11s %12s %10s %10s %10s",
          "configuration", "lock", "operations", "gave up", "interrupts", "items");
    }
    if (torture.equals(Torture.TRACE)) {
      return String.format(
          "%-20s %-11s %11s %11s %11s %8s %8s %8s %8s %7s %9s %7s",
          "configuration",
          "mode",
          "emitted",
          "read",
          "full",
          "wrap",
          "big",
          "other",
          "moves",
          "forced",
          "fences",
          "traces");
    }
    StringBuilder text = new StringBuilder();
    text.append(String.format("%-20s %-11s", "configuration", "flavour"));
    for (RcuTorture.Kind kind : RcuTorture.Kind.values()) {
      text.append(String.format(" %9s", lower(kind)));
    }
    return text.append(String.format(" %8s %8s %8s", "updates", "periods", "stalls")).toString();
  }

  // ---- the child's side ----

  static int tortureHere(String[] args) {
    long millis = Long.parseLong(args[2]);
    long seed = Long.parseLong(args[3]);
    boolean broken = Boolean.parseBoolean(args[4]);
    System.out.println(
        "membarrier "
            + Platform.membarrier()
            + ", rseq "
            + Platform.rseq()
            + ", rseq fence "
            + Membarrier.isRseqAvailable()
            + ", native "
            + Platform.nativeAccess());
    int faults =
        switch (args[1]) {
          case Torture.PERCPU -> torturePerCpu(millis, seed, broken);
          case Torture.ALLOC -> tortureAllocator(millis, seed, broken);
          case Torture.LOCKS -> tortureLocks(millis, seed, broken);
          case Torture.TRACE -> tortureTrace(millis, seed, broken);
          default -> tortureRcu(millis, seed, broken);
        };
    return faults == 0 ? 0 : 1;
  }

  /** One part of a torture. */
  private interface Part {
    void run() throws InterruptedException, IOException;
  }

  /** Runs it, and says what it found; 1 if that is a fault. */
  private static int faultsOf(String name, Part part) {
    try {
      part.run();
      return 0;
    } catch (TortureFailure found) {
      System.out.println(FAULT + name + found.getMessage());
    } catch (InterruptedException | IOException | RuntimeException unexpected) {
      System.out.println(FAULT + name + unexpected);
      unexpected.printStackTrace();
    }
    return 1;
  }

  private static int tortureAllocator(long millis, long seed, boolean broken) {
    return faultsOf(
        "",
        () -> {
          AllocTorture.Result result = new AllocTorture(seed, broken).run(millis);
          System.out.printf(
              "%s%12d %12d %9d %9d %11d %11d%n",
              RESULT,
              result.allocations(),
              result.bytes() >> 20,
              result.births(),
              result.trims(),
              result.residentEarly() >> 20,
              result.residentEnd() >> 20);
        });
  }

  private static int torturePerCpu(long millis, long seed, boolean broken) {
    int faults = 0;
    for (PerCpuTorture.Part part : PerCpuTorture.Part.values()) {
      if (broken && part != PerCpuTorture.Part.ROWS) {
        continue; // what is left out there is inside the library
      }
      faults +=
          faultsOf(
              part + ": ",
              () -> {
                PerCpuTorture.Result result = new PerCpuTorture(part, seed, broken).run(millis);
                System.out.printf(
                    "%s%-11s %12d %12d %9d%n",
                    RESULT, lower(part), result.operations(), result.additions(), result.visits());
              });
    }
    return faults;
  }

  private static int tortureLocks(long millis, long seed, boolean broken) {
    int faults = 0;
    for (LocksTorture.Part part : LocksTorture.Part.values()) {
      faults +=
          faultsOf(
              part + ": ",
              () -> {
                LocksTorture.Result result = new LocksTorture(part, seed, broken).run(millis);
                System.out.printf(
                    "%s%-11s %12d %10d %10d %10d%n",
                    RESULT,
                    lower(part),
                    result.operations(),
                    result.givenUp(),
                    result.interrupts(),
                    result.items());
              });
    }
    return faults;
  }

  private static int tortureTrace(long millis, long seed, boolean broken) {
    int faults = 0;
    for (TraceTorture.Part part : TraceTorture.Part.values()) {
      faults +=
          faultsOf(
              part + ": ",
              () -> {
                TraceTorture.Result result = new TraceTorture(part, seed, broken).run(millis);
                System.out.printf(
                    "%s%-11s %11d %11d %11d %8d %8d %8d %8d %7d %9d %7d%n",
                    RESULT,
                    lower(part),
                    result.emitted(),
                    result.read(),
                    result.full(),
                    result.wrap(),
                    result.big(),
                    result.other(),
                    result.moves(),
                    result.forced(),
                    result.fences(),
                    result.traces());
              });
    }
    return faults;
  }

  private static int tortureRcu(long millis, long seed, boolean broken) {
    int faults = 0;
    List<Rcu.Flavour> order = new ArrayList<>(List.of(Rcu.Flavour.values()));
    Collections.rotate(order, (int) (seed & 3)); // the first has a cold JVM
    for (Rcu.Flavour flavour : order) {
      faults +=
          faultsOf(
              flavour + ": ",
              () -> {
                print(flavour, new RcuTorture(flavour, seed, broken).run(millis));
              });
    }
    return faults;
  }

  private static void print(Rcu.Flavour flavour, RcuTorture.Result result) {
    StringBuilder text = new StringBuilder(RESULT);
    text.append(String.format("%-11s", lower(flavour)));
    for (RcuTorture.Kind kind : RcuTorture.Kind.values()) {
      Long reads = result.reads().get(kind);
      text.append(String.format(" %9s", reads == null ? "-" : Long.toString(reads)));
    }
    text.append(
        String.format(" %8d %8d %8d", result.updates(), result.gracePeriods(), result.stalls()));
    System.out.println(text);
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(java.util.Locale.ROOT);
  }
}
