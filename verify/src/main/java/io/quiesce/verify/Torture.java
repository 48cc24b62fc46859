package io.quiesce.verify;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Tortures by name: programs that do to the library everything at once that its users do one after
 * another, for as long as one likes, and check memory that they have poisoned themselves.
 *
 * <p>{@code rcu}: every flavour of {@link io.quiesce.rcu.Rcu} under every combination of fast paths
 * switched on and off, each combination in a JVM of its own, which is stopped and continued by
 * signals now and then. The time is divided among them. At the end everything retired must have
 * been reclaimed exactly once.
 *
 * <p>{@code percpu}: rows, counter, histogram, buffer and stack, in the same way: nodes and numbers
 * that have one owner at a time wander while sequences are restarted and rows are closed and
 * changed from elsewhere. At the end everything must be there exactly once.
 *
 * <p>{@code alloc}: a {@link io.quiesce.memory.PerCpuAllocator}: blocks of every size hold a
 * pattern and are freed by other threads than allocated them, while caches are drained and threads
 * born. At the end nothing may be live, and the process no larger than it was.
 *
 * <p>{@code locks}: every lock, taken in every form by threads of every kind that give up, are
 * interrupted and die, and pass items on through conditions. Nobody may be beside the owner, wait
 * for more than 20 s, or miss a signal.
 *
 * <p>{@code trace}: producers that change their CPU while their sequences are aborted, in sessions
 * that write everything and in flight recorders, with each hot path. Every event that was not
 * counted as lost must be in the trace once, whole, and in order on its CPU.
 *
 * <pre>
 *   java -cp ... io.quiesce.verify.Torture rcu --seconds 60
 *   java -cp ... io.quiesce.verify.Torture rcu --seconds 60 --seed 42 --only membarrier=off
 *   java -cp ... io.quiesce.verify.Torture rcu --broken     no grace period: must find the fault
 *   java -cp ... io.quiesce.verify.Torture percpu --broken  rows changed without closing them
 *   java -cp ... io.quiesce.verify.Torture alloc --broken   blocks handed out twice
 *   java -cp ... io.quiesce.verify.Torture locks --broken   sections without the lock
 *   java -cp ... io.quiesce.verify.Torture trace --broken   flushes without closing the row
 * </pre>
 *
 * <p>Exit codes: 0 fine, 1 a fault was found (under {@code --broken}: was not found), 2 bad usage.
 */
public final class Torture {
  static final String PERCPU = "percpu";

  static final String ALLOC = "alloc";
  static final String LOCKS = "locks";
  static final String TRACE = "trace";

  private static final List<String> NAMES = List.of("rcu", PERCPU, ALLOC, LOCKS, TRACE);
  private static final int DEFAULT_SECONDS = 60;
  private static final int BROKEN_SECONDS = 20;

  private Torture() {}

  /** One JVM's switches. */
  record Configuration(String name, List<String> flags) {}

  private static final List<Configuration> CONFIGURATIONS =
      List.of(
          new Configuration("all-on", List.of()),
          new Configuration("membarrier=off", List.of("-Dquiesce.membarrier=off")),
          new Configuration("rseq=off", List.of("-Dquiesce.rseq=off")),
          new Configuration(
              "membarrier,rseq=off", List.of("-Dquiesce.membarrier=off", "-Dquiesce.rseq=off")),
          new Configuration("native=off", List.of("-Dquiesce.native=off")));

  private static final List<Configuration> PERCPU_CONFIGURATIONS =
      List.of(
          new Configuration("all-on", List.of()),
          new Configuration("index=cpu", List.of("-Dquiesce.percpu.index=cpu")),
          new Configuration("rseq=off", List.of("-Dquiesce.rseq=off")),
          new Configuration("membarrier=off", List.of("-Dquiesce.membarrier=off")),
          new Configuration("native=off", List.of("-Dquiesce.native=off")));

  private static final List<Configuration> LOCKS_CONFIGURATIONS =
      List.of(
          new Configuration("all-on", List.of()),
          new Configuration("one-carrier", List.of("-Djdk.virtualThreadScheduler.parallelism=1")),
          new Configuration("membarrier=off", List.of("-Dquiesce.membarrier=off")),
          new Configuration("native=off", List.of("-Dquiesce.native=off")));

  private static final List<Configuration> TRACE_CONFIGURATIONS =
      List.of(
          new Configuration("all-on", List.of()),
          new Configuration("hotpath=cas", List.of("-Dquiesce.trace.hotpath=cas")),
          new Configuration("hotpath=lock", List.of("-Dquiesce.trace.hotpath=lock")),
          new Configuration("native=off", List.of("-Dquiesce.native=off")));

  /** Where rows cannot be changed from elsewhere, there is nothing that could be left out. */
  private static final List<Configuration> PERCPU_BROKEN = PERCPU_CONFIGURATIONS.subList(0, 3);

  /** A Java heap that is all there from the beginning, so that resident memory tells something. */
  private static final List<String> STEADY =
      List.of("-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC");

  /** As those for per-CPU data, but for the last: there is no allocator without native access. */
  private static final List<Configuration> ALLOC_CONFIGURATIONS =
      PERCPU_CONFIGURATIONS.subList(0, 4).stream().map(Torture::steady).toList();

  private static Configuration steady(Configuration configuration) {
    List<String> flags = new ArrayList<>(STEADY);
    flags.addAll(configuration.flags());
    return new Configuration(configuration.name(), flags);
  }

  /** What the command line says. */
  private record Options(
      List<String> names, int seconds, long seed, boolean broken, @Nullable String only) {}

  /**
   * The tortures there are.
   *
   * @return their names
   */
  public static List<String> names() {
    return NAMES;
  }

  /**
   * Runs tortures and prints a table.
   *
   * @param names which; empty for all
   * @param seconds how long in all, at least 1; the start of JVMs comes on top
   * @param out where the table goes
   * @return 0 if all is well, 1 if a fault was found
   * @throws IllegalArgumentException for an unknown name, naming the known ones, or a bad time
   */
  public static int run(List<String> names, int seconds, PrintStream out) {
    long seed = new SplittableRandom().nextLong() >>> 16;
    return run(new Options(names, seconds, seed, false, null), out);
  }

  /**
   * The self-check: runs the tortures with every grace period, every closing of a row, or some
   * lockings, left out, or blocks freed that are in use.
   *
   * @param seconds how long at most each part of each configuration may go on without a fault, at
   *     least 1; the first fault ends it, so a generous limit costs nothing
   * @param out where the table goes
   * @return 0 if the fault was found everywhere, 1 if not
   */
  public static int runBroken(int seconds, PrintStream out) {
    return run(
        new Options(NAMES, seconds, new SplittableRandom().nextLong() >>> 16, true, null), out);
  }

  private static int run(Options options, PrintStream out) {
    for (String name : options.names()) {
      if (!NAMES.contains(name)) {
        throw new IllegalArgumentException(
            "no torture is called '" + name + "'; there is " + String.join(", ", NAMES));
      }
    }
    if (options.seconds() < 1) {
      throw new IllegalArgumentException("a torture of " + options.seconds() + " s is none");
    }
    List<String> names = new ArrayList<>(options.names().isEmpty() ? NAMES : options.names());
    String only = options.only();
    if (only != null) {
      names.removeIf(name -> configurations(name, options).isEmpty());
      if (names.isEmpty()) {
        throw new IllegalArgumentException("no configuration is called '" + only + "'; " + known());
      }
    }
    int failed = 0;
    for (String name : names) {
      failed += run(name, options, names.size(), out);
    }
    if (options.broken()) {
      out.println(
          failed == 0
              ? "self-check passed: what was left out was missed everywhere"
              : "self-check FAILED: the torture did not notice what was left out");
    } else {
      out.println(failed == 0 ? "torture passed" : "torture FAILED");
    }
    return failed == 0 ? 0 : 1;
  }

  private static String known() {
    StringJoiner known = new StringJoiner(", ", "there is ", "");
    CONFIGURATIONS.forEach(configuration -> known.add(configuration.name()));
    known.add("for percpu and alloc index=cpu");
    known.add("for locks one-carrier");
    known.add("for trace hotpath=cas, hotpath=lock");
    return known.toString();
  }

  private static List<Configuration> configurations(String name, Options options) {
    List<Configuration> chosen =
        new ArrayList<>(
            switch (name) {
              case PERCPU -> options.broken() ? PERCPU_BROKEN : PERCPU_CONFIGURATIONS;
              case ALLOC -> ALLOC_CONFIGURATIONS;
              case LOCKS -> LOCKS_CONFIGURATIONS;
              case TRACE -> TRACE_CONFIGURATIONS;
              default -> CONFIGURATIONS;
            });
    String only = options.only();
    chosen.removeIf(configuration -> only != null && !configuration.name().equals(only));
    return chosen;
  }

  /** How many configurations failed. */
  private static int run(String name, Options options, int share, PrintStream out) {
    List<Configuration> chosen = configurations(name, options);
    if (options.broken()) {
      out.printf(
          "torture %s --broken: %d configurations, each part at most %d s until its fault, seed %d%n",
          name, chosen.size(), options.seconds(), options.seed());
    } else {
      out.printf(
          "torture %s: %d s over %d configurations, seed %d%n",
          name, Math.max(1, options.seconds() / share), chosen.size(), options.seed());
    }
    out.println(TortureChild.header(name));
    int failed = 0;
    for (Configuration configuration : chosen) {
      failed += runChild(name, configuration, options, share * chosen.size(), out) ? 0 : 1;
    }
    return failed;
  }

  private static boolean runChild(
      String torture, Configuration configuration, Options options, int share, PrintStream out) {
    long millis =
        options.broken()
            ? options.seconds() * 1_000L * TortureChild.runs(torture, true)
            : options.seconds() * 1_000L / share;
    TortureChild child =
        new TortureChild(
            torture,
            configuration.name(),
            configuration.flags(),
            millis,
            options.seed(),
            options.broken(),
            out);
    boolean good;
    try {
      good = child.run();
    } catch (IOException failed) {
      out.println("cannot start a JVM for " + configuration.name() + ": " + failed.getMessage());
      return false;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      out.println("interrupted in " + configuration.name());
      return false;
    }
    if (!good && !options.broken()) {
      out.printf(
          "to repeat: Torture %s --seconds %d --seed %d --only %s%n",
          torture, Math.max(1, millis / 1_000), options.seed(), configuration.name());
    }
    return good;
  }

  /**
   * The command line.
   *
   * @param args names and options, see the class
   */
  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals(TortureChild.COMMAND)) {
      System.exit(TortureChild.tortureHere(args));
    }
    try {
      System.exit(run(parse(args), System.out));
    } catch (IllegalArgumentException usage) {
      System.err.println(usage.getMessage());
      System.exit(2);
    }
  }

  private static Options parse(String[] args) {
    List<String> names = new ArrayList<>();
    int seconds = 0;
    long seed = new SplittableRandom().nextLong() >>> 16;
    boolean broken = false;
    String only = null;
    for (int i = 0; i < args.length; i++) {
      String option = args[i];
      switch (option) {
        case "--broken" -> broken = true;
        case "--seconds" -> seconds = (int) number(option, args, ++i);
        case "--seed" -> seed = number(option, args, ++i);
        case "--only" -> only = value(option, args, ++i);
        default -> {
          if (option.startsWith("-")) {
            throw new IllegalArgumentException(
                "unknown option " + option + "; use --seconds N, --seed N, --only NAME, --broken");
          }
          names.add(option.toLowerCase(Locale.ROOT));
        }
      }
    }
    if (seconds == 0) {
      seconds = broken ? BROKEN_SECONDS : DEFAULT_SECONDS;
    }
    return new Options(names, seconds, seed, broken, only);
  }

  private static String value(String option, String[] args, int index) {
    if (index >= args.length) {
      throw new IllegalArgumentException(option + " needs a value behind it");
    }
    return args[index];
  }

  private static long number(String option, String[] args, int index) {
    String text = value(option, args, index);
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException notOne) {
      throw new IllegalArgumentException(
          option + " needs a whole number, not '" + text + "'", notOne);
    }
  }
}
