package io.quiesce.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.bench.JavaLauncher;
import io.quiesce.linux.Rseq;
import io.quiesce.trace.TraceSession;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole way: command line, agent, program, trace, babeltrace2. */
@Timeout(240)
class TraceRecordTest {
  private static final Pattern ITEM = Pattern.compile("item (\\d+)\\.");

  @TempDir private Path folder;
  private Path jar;
  private Path trace;

  @BeforeEach
  void agent() throws Exception {
    trace = folder.resolve("a trace, with=all");
    jar = folder.resolve("agent.jar");
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.putValue("Premain-Class", "io.quiesce.trace.agent.TraceAgent");
    attributes.putValue("Class-Path", place(TraceSession.class) + " " + place(Rseq.class));
    try (OutputStream file = Files.newOutputStream(jar)) {
      new JarOutputStream(file, manifest).close();
    }
  }

  private static String place(Class<?> type) throws URISyntaxException {
    return type.getProtectionDomain().getCodeSource().getLocation().toURI().toString();
  }

  private List<String> quiesce(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                JavaLauncher.java(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Dquiesce.trace.agent=" + jar,
                "-Dquiesce.trace.control=" + folder.resolve("c"),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  private Process record(String mode, String end, int items, String... more) throws IOException {
    List<String> command =
        quiesce(
            "trace", "record", "--output", trace.toString(), "--mode", mode, "--enable", "jul:*");
    command.addAll(List.of(more));
    command.addAll(
        List.of(
            "--",
            JavaLauncher.java(),
            "-XX:TieredStopAtLevel=1",
            "-Dquiesce.trace.control=" + folder.resolve("c"),
            "-cp",
            place(),
            LoggedProgram.class.getName(),
            end,
            Integer.toString(items)));
    return new ProcessBuilder(command).redirectError(folder.resolve("err").toFile()).start();
  }

  private static String place() {
    return Path.of(
            LoggedProgram.class.getProtectionDomain().getCodeSource().getLocation().getPath())
        .toString();
  }

  private String err() throws IOException {
    return Files.readString(folder.resolve("err"));
  }

  /** The number of the program, once it says that it is ready. */
  private long ready(Process process) throws IOException {
    BufferedReader out = process.inputReader();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith("ready ")) {
        return Long.parseLong(line.substring("ready ".length()));
      }
    }
    throw new IOException("The program did not begin: " + err());
  }

  /** What babeltrace2 reads, in its order. */
  private List<Integer> items(Path where) throws IOException, InterruptedException {
    List<Integer> items = new ArrayList<>();
    Process process =
        new ProcessBuilder("babeltrace2", where.toString())
            .redirectError(folder.resolve("babeltrace").toFile())
            .start();
    for (String line : process.inputReader().lines().toList()) {
      Matcher item = ITEM.matcher(line);
      if (item.find()) {
        items.add(Integer.valueOf(item.group(1)));
      }
    }
    assertThat(process.waitFor()).isZero();
    return items;
  }

  private static void assumeBabeltrace() {
    for (String each : System.getenv("PATH").split(":", -1)) {
      if (Files.isExecutable(Path.of(each, "babeltrace2"))) {
        return;
      }
    }
    assumeTrue(false, "babeltrace2 is not installed");
  }

  private String run(int status, String... arguments) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(quiesce(arguments)).redirectErrorStream(true).start();
    String said = String.join("\n", process.inputReader().lines().toList());
    assertThat(process.waitFor()).as(said).isEqualTo(status);
    return said;
  }

  private static List<Integer> upTo(int count) {
    return IntStream.range(0, count).boxed().toList();
  }

  @ParameterizedTest
  @CsvSource({"end, 0", "exit, 7", "throw, 1"})
  void everythingInOrderHoweverItEnds(String end, int status) throws Exception {
    assumeBabeltrace();
    Process process = record("discard", end, 1000);
    ready(process);
    assertThat(process.waitFor()).as(err()).isEqualTo(status);
    assertThat(items(trace)).isEqualTo(upTo(1000));
    assertThat(err()).contains(", 0 lost; the trace is in");
    try (var files = Files.list(trace)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.startsWith("."));
    }
  }

  @Test
  void theNewerFormatIsPrintedToo() throws Exception {
    Process process = record("discard", "end", 100, "--format", "ctf-2");
    ready(process);
    assertThat(process.waitFor()).as(err()).isZero();
    assertThat(Files.readAllBytes(trace.resolve("metadata"))[0]).isEqualTo((byte) 0x1e);
    List<Integer> items = new ArrayList<>();
    Matcher item = ITEM.matcher(run(0, "trace", "print", trace.toString()));
    while (item.find()) {
      items.add(Integer.valueOf(item.group(1)));
    }
    assertThat(items).isEqualTo(upTo(100));
    assertThat(run(0, "trace", "stats", trace.toString())).contains("100");
    assertThat(run(2, "trace", "record", "--format", "ctf-3", "--", "java"))
        .contains("a format is ctf-1.8 or ctf-2, not 'ctf-3'");
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143"})
  void signalsReachTheProgramAndEndItWell(String signal, int status) throws Exception {
    assumeBabeltrace();
    Process process = record("discard", "tick", 100);
    ready(process);
    new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + process.pid()).start().waitFor();
    assertThat(process.waitFor()).as(err()).isEqualTo(status);
    // From the signal on java.util.logging takes its handlers away: a record may fall between.
    assertThat(items(trace))
        .startsWith(upTo(100).toArray(Integer[]::new))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(err()).contains(", 0 lost; the trace is in");
    assertThat(trace.resolve(".quiesce")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"halt, 3", "tick, 137"})
  void killedItHasTotalsToo(String end, int status) throws Exception {
    assumeBabeltrace();
    Process process = record("discard", end, 1000);
    long program = ready(process);
    if (end.equals("tick")) {
      ProcessHandle.of(program).orElseThrow().destroyForcibly();
    }
    assertThat(process.waitFor()).as(err()).isEqualTo(status);
    List<Integer> items = items(trace);
    assertThat(items).hasSizeGreaterThanOrEqualTo(1000).isEqualTo(upTo(items.size()));
    assertThat(err())
        .contains(String.format(Locale.ROOT, "quiesce: %,d events, ", items.size()))
        .containsPattern("[01] lost( \\(killed while stored 1\\))?; the trace is in");
  }

  @Test
  void loggersAreLoweredAndEventsHaveContext() throws Exception {
    Process process = record("discard", "levels", 1, "--level", "fine", "--context", "thread-name");
    assertThat(process.inputReader().lines().toList()).contains("level FINE");
    assertThat(process.waitFor()).as(err()).isZero();
    assertThat(run(0, "trace", "print", trace.toString()))
        .contains("\"fine.\"", "\"debug.\"", "\"main\"")
        .doesNotContain("finest.");
  }

  @Test
  void otherwiseLoggersStay() throws Exception {
    Process process = record("discard", "levels", 1);
    assertThat(process.inputReader().lines().toList()).contains("level INFO");
    assertThat(process.waitFor()).as(err()).isZero();
    assertThat(run(0, "trace", "print", trace.toString())).doesNotContain("fine.", "debug.");
    assertThat(run(2, "trace", "record", "--context", "tid", "--", "java"))
        .contains("process-id, thread-id, thread-name, java-thread-id, virtual-thread-id")
        .doesNotContain("\n");
  }

  @Test
  void killedWithItsRecorderThenRecovered() throws Exception {
    assumeBabeltrace();
    Process process = record("discard", "tick", 1000);
    long program = ready(process);
    process.destroyForcibly().waitFor();
    ProcessHandle handle = ProcessHandle.of(program).orElseThrow();
    handle.destroyForcibly();
    handle.onExit().get();
    assertThat(trace.resolve(".quiesce")).exists();
    Path json = folder.resolve("found.json");
    assertThat(run(0, "trace", "recover", trace.toString(), "--json", json.toString()))
        .contains("were still in the buffers");
    assertThat(json).content().contains("\"uncommitted\"");
    List<Integer> items = items(trace);
    assertThat(items).hasSizeGreaterThanOrEqualTo(1000).isEqualTo(upTo(items.size()));
    run(0, "trace", "recover", trace.toString());
    assertThat(items(trace)).isEqualTo(items);
  }

  @Test
  void aRunningProgramIsSteered() throws Exception {
    assumeBabeltrace();
    Process process = record("overwrite", "tick", 100);
    String pid = Long.toString(ready(process));
    assertThat(run(0, "trace", "list")).contains(pid + "  ", "session trace  overwrite");
    assertThat(run(0, "trace", "list", pid)).contains("on   jul:info  level 6");
    assertThat(run(0, "trace", "snapshot", pid, "--name", "one")).contains("one");
    List<Integer> one = items(trace.resolve("one"));
    assertThat(one).hasSizeGreaterThanOrEqualTo(100).isEqualTo(upTo(one.size()));
    assertThat(run(1, "trace", "snapshot", pid, "--name", "one")).startsWith("quiesce: ");
    assertThat(run(1, "trace", "snapshot", pid, "--name", "../x")).contains("snapshot's name");
    assertThat(run(1, "trace", "snapshot", pid, "--session", "x")).contains("there are trace");

    assertThat(run(0, "trace", "disable", pid, "*")).contains("trace: 0 of ");
    assertThat(run(0, "trace", "list", pid)).contains("off  jul:info");
    run(0, "trace", "snapshot", pid, "--name", "two");
    assertThat(run(0, "trace", "enable", pid, "jul:*", "--level", "info"))
        .containsPattern("trace: [1-9]\\d* of ");
    Thread.sleep(100);
    run(0, "trace", "snapshot", pid, "--name", "three");
    List<Integer> two = items(trace.resolve("two"));
    List<Integer> three = items(trace.resolve("three"));
    assertThat(three).startsWith(two.toArray(Integer[]::new)).hasSizeGreaterThan(two.size());
    assertThat(three.get(two.size())).as("a gap while it was off").isGreaterThan(two.size());

    process.destroy();
    assertThat(process.waitFor()).as(err()).isEqualTo(143);
    assertThat(items(trace.resolve("exit"))).hasSizeGreaterThanOrEqualTo(three.size());
    assertThat(run(0, "trace", "list")).contains("No process of this user traces");
    assertThat(run(1, "trace", "list", pid)).contains("No process has the number");
  }

  @Test
  void aScriptGetsTheAgentToo() throws Exception {
    assumeBabeltrace();
    Path script = folder.resolve("run");
    Files.writeString(
        script,
        "#!/bin/sh\nexec "
            + JavaLauncher.java()
            + " -cp "
            + place()
            + " "
            + LoggedProgram.class.getName()
            + " exit 10\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    assertThat(
            run(
                7,
                "trace",
                "record",
                "--output",
                trace.toString(),
                "--enable",
                "jul:*",
                "--",
                script.toString()))
        .contains("is no java launcher", "10 events, 0 lost");
    assertThat(items(trace)).isEqualTo(upTo(10));
    assertThat(run(0, "trace", "print", trace.toString()).lines())
        .hasSize(10)
        .allMatch(line -> line.contains("jul:info"));
    assertThat(run(0, "trace", "stats", trace.toString())).contains("events  10 in ");
  }

  @Test
  void noProgramNoFolder() throws Exception {
    for (String name : new String[] {"no-such-program", folder.toString()}) {
      assertThat(run(1, "trace", "record", "--output", trace.toString(), "--", name))
          .startsWith("quiesce: ")
          .contains("name java or a script")
          .doesNotContain("\n");
      assertThat(trace).doesNotExist();
    }
  }

  @Test
  void zeroEventsAreExplained() throws Exception {
    Process process = record("discard", "end", 3, "--filter", "msg == \"x\"");
    ready(process);
    assertThat(process.waitFor()).as(err()).isZero();
    assertThat(err()).contains("No event came: ", "0 events, 0 lost");
  }

  @Test
  void noTraceNoProgram() throws Exception {
    Path buffers = Files.createDirectory(folder.resolve("b"));
    String said =
        run(
            1,
            "trace",
            "record",
            "--output",
            trace.toString(),
            "--buffers",
            buffers.toString(),
            "--budget",
            "1K",
            "--",
            JavaLauncher.java(),
            "-cp",
            place(),
            LoggedProgram.class.getName(),
            "end",
            "10");
    assertThat(said).contains("quiesce: ").contains("Nothing was traced").doesNotContain("ready");
    assertThat(trace).doesNotExist();
  }

  @Test
  void theJarSaysWhatItIs() throws Exception {
    Path own =
        Path.of(TraceSession.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    assumeTrue(Files.isRegularFile(own), "classes in a folder; the whole build has the jar");
    try (JarFile file = new JarFile(own.toFile())) {
      Attributes attributes = file.getManifest().getMainAttributes();
      assertThat(attributes.getValue("Premain-Class"))
          .isEqualTo(attributes.getValue("Agent-Class"))
          .isEqualTo("io.quiesce.trace.agent.TraceAgent");
      assertThat(attributes.getValue("Class-Path"))
          .startsWith("quiesce-core-")
          .endsWith(" quiesce-core.jar");
    }
  }
}
