package io.quiesce.verify.stress;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;

/**
 * Runs jcstress and reads its results: a healthy test must have run and shown nothing forbidden; a
 * test whose name ends in {@code Twin} must have shown its bad outcome. One that did not, or hardly
 * ran, gets more time, several times over.
 *
 * <pre>
 *   java -cp TEST_CLASS_PATH io.quiesce.verify.stress.StressRunner           short
 *   java -cp TEST_CLASS_PATH io.quiesce.verify.stress.StressRunner -m tough  any option of jcstress
 * </pre>
 */
public final class StressRunner {
  /** One JVM configuration, once, a fifth of a second each. */
  private static final List<String> ONCE =
      List.of("-f", "1", "-iters", "1", "-time", "200", "-sc", "false", "-af", "NONE");

  /** Starting a JVM costs more than the test: in the short form relatives stand for these. */
  private static final String LEFT_OUT =
      "MembarrierExplicit|QsbrSection|FencedCopy|CountsCopy|HealthyCopy|ProducerAndConsumer"
          + "|NoReaderFenceTwin";

  private static final List<String> JVM =
      List.of("-jvmArgs", "--enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -Xmx256m");

  private static final int RETRIES = 4;
  private static final long LEAST_SAMPLES = 10_000;
  private static final int FIRST_RETRY_MILLIS = 1_500;

  private final Path directory;
  private final PrintStream out;
  private final Map<String, Totals> totals = new TreeMap<>();
  private final List<String> faults = new ArrayList<>();

  private StressRunner(Path directory, PrintStream out) {
    this.directory = directory;
    this.out = out;
  }

  /** What all runs of one test came to. */
  private static final class Totals {
    private final Map<String, Long> outcomes = new TreeMap<>();
    private boolean interesting;

    long samples() {
      return outcomes.values().stream().mapToLong(Long::longValue).sum();
    }

    void add(TestResult result) {
      for (String key : result.getStateKeys()) {
        outcomes.merge(key, result.getCount(key), Long::sum);
      }
      interesting |= result.grading().hasInteresting;
    }
  }

  /**
   * Runs the tests.
   *
   * @param options of jcstress; empty for the short form
   * @param directory where results go; made if need be
   * @param out where the table goes
   * @return what is wrong, in sentences; empty if all is well
   * @throws IOException if jcstress cannot be started or its results not be read
   * @throws InterruptedException if interrupted
   */
  public static List<String> run(List<String> options, Path directory, PrintStream out)
      throws IOException, InterruptedException {
    StressRunner runner = new StressRunner(directory, out);
    List<String> all = new ArrayList<>(options.isEmpty() ? ONCE : options);
    if (options.isEmpty()) {
      all.addAll(List.of("-t", "^(?!.*(" + LEFT_OUT + ")$)"));
    }
    all.addAll(JVM);
    runner.launch(all);
    int millis = FIRST_RETRY_MILLIS;
    for (int i = 0; i < RETRIES && !runner.unconvincing().isEmpty(); i++) {
      out.println("once more, " + millis + " ms each: " + runner.unconvincing());
      List<String> again = new ArrayList<>(ONCE);
      again.set(again.indexOf("-time") + 1, Integer.toString(millis));
      again.addAll(JVM);
      again.add("-t");
      again.add("(" + String.join("|", runner.unconvincing()).replace(".", "\\.") + ")$");
      runner.launch(again);
      millis *= 3;
    }
    runner.report();
    return runner.faults;
  }

  /** Twins that have shown nothing yet, and healthy tests that a busy machine let hardly run. */
  private List<String> unconvincing() {
    return totals.entrySet().stream()
        .filter(
            entry ->
                isTwin(entry.getKey())
                    ? !entry.getValue().interesting
                    : entry.getValue().samples() < LEAST_SAMPLES)
        .map(Map.Entry::getKey)
        .toList();
  }

  private List<String> silentTwins() {
    return totals.entrySet().stream()
        .filter(entry -> isTwin(entry.getKey()) && !entry.getValue().interesting)
        .map(Map.Entry::getKey)
        .toList();
  }

  private static boolean isTwin(String name) {
    return name.endsWith("Twin");
  }

  private void launch(List<String> options) throws IOException, InterruptedException {
    Files.createDirectories(directory);
    Path runDirectory = Files.createTempDirectory(directory, "run-");
    Path log = runDirectory.resolve("jcstress.log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add("org.openjdk.jcstress.Main");
    command.addAll(options);
    command.add("-r");
    command.add("report");
    int exit =
        new ProcessBuilder(command)
            .directory(runDirectory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start()
            .waitFor();
    int results = read(runDirectory);
    if (results == 0) {
      faults.add("jcstress ended with exit code " + exit + " and no results; see " + log);
    }
  }

  private int read(Path runDirectory) throws IOException {
    List<Path> blobs;
    try (Stream<Path> files = Files.list(runDirectory)) {
      blobs = files.filter(file -> file.toString().endsWith(".bin.gz")).toList();
    }
    InProcessCollector collector = new InProcessCollector();
    for (Path blob : blobs) {
      DiskReadCollector reader = new DiskReadCollector(blob.toString(), collector);
      try {
        reader.dump();
      } catch (ClassNotFoundException foreign) {
        throw new IOException(blob + " holds what this jcstress does not know", foreign);
      } finally {
        reader.close();
      }
    }
    for (TestResult result : collector.getTestResults()) {
      String name = result.getName();
      totals.computeIfAbsent(name, unused -> new Totals()).add(result);
      if (result.status() != Status.NORMAL) {
        faults.add(name + " ended with status " + result.status() + "; see " + runDirectory);
      } else if (!result.grading().isPassed) {
        faults.add(name + ": " + String.join("; ", result.grading().failureMessages));
      }
    }
    return collector.getTestResults().size();
  }

  private void report() {
    totals.forEach(
        (name, total) -> {
          String simple = name.substring(name.indexOf("stress.") + "stress.".length());
          out.printf("%-52s %s%n", simple, total.outcomes);
        });
    for (String silent : silentTwins()) {
      faults.add(silent + " is broken and did not show it: the test beside it proves nothing");
    }
    faults.forEach(out::println);
  }

  /**
   * The command line.
   *
   * @param args options of jcstress; none for the short form
   * @throws Exception if it cannot run
   */
  public static void main(String[] args) throws Exception {
    Path directory = Path.of(System.getProperty("quiesce.verify.results", "target/jcstress"));
    System.exit(run(List.of(args), directory, System.out).isEmpty() ? 0 : 1);
  }
}
