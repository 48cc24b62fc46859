package io.quiesce.trace.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.trace.TraceSession;
import io.quiesce.trace.Tracing;
import io.quiesce.trace.ctf.Babeltrace;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A trace that LTTng-UST wrote. It has a session daemon of its own; where the test runs as root,
 * LTTng runs as nobody, because root's daemon has one fixed place for the whole machine.
 */
class LttngTest {
  private static final int EVENTS = 1100;

  @TempDir static Path folder;

  private static final List<String> AS = new ArrayList<>();
  private static @Nullable Process daemon;

  @BeforeAll
  static void trace() throws Exception {
    for (String tool : List.of("lttng", "lttng-sessiond", "gcc")) {
      assumeTrue(installed(tool), "skipped: " + tool + " is not installed");
    }
    for (String name : List.of("sample.h", "sample.c")) {
      try (InputStream source = LttngTest.class.getResourceAsStream(name)) {
        Files.copy(Objects.requireNonNull(source), folder.resolve(name));
      }
    }
    assumeTrue(
        run("gcc", "-o", "sample", "sample.c", "-I.", "-llttng-ust", "-ldl") == 0,
        "skipped: liblttng-ust-dev is not installed");
    Files.createDirectory(folder.resolve("home"));
    if (Files.getOwner(folder).getName().equals("root")) {
      assumeTrue(installed("setpriv"), "skipped: setpriv is not installed");
      try (Stream<Path> all = Files.walk(folder)) {
        for (Path path : all.toList()) {
          Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
      }
      AS.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
    }
    daemon = start("lttng-sessiond", "--no-kernel");
    boolean up = false;
    for (int i = 0; i < 100 && !up; i++) {
      up = lttng("list");
      TimeUnit.MILLISECONDS.sleep(up ? 0 : 50);
    }
    assumeTrue(up, "skipped: lttng-sessiond does not start");
    require("create", "sample", "--output=" + folder.resolve("out"));
    // Small buffers make several packets; blocking makes sure that nothing is lost.
    require(
        "enable-channel",
        "-u",
        "c",
        "--subbuf-size=16k",
        "--num-subbuf=4",
        "--blocking-timeout=inf");
    require("enable-event", "-u", "quiesce_sample:*", "-c", "c");
    require("add-context", "-u", "-t", "vpid", "-t", "vtid", "-t", "procname", "-c", "c");
    require("start");
    try (TraceSession _ =
        TraceSession.record(folder.resolve("ours")).enable("quiesce:text").start()) {
      Tracing.text("before");
      assertThat(start("./sample").waitFor()).isZero();
      Tracing.text("after");
    }
    require("destroy");
  }

  @AfterAll
  static void stop() throws Exception {
    if (daemon != null) {
      daemon.destroy();
      if (!daemon.waitFor(10, TimeUnit.SECONDS)) {
        daemon.destroyForcibly();
      }
    }
  }

  private static boolean installed(String tool) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(place -> Files.isExecutable(Path.of(place, tool)));
  }

  private static Process start(String... command) throws IOException {
    List<String> whole = new ArrayList<>(AS);
    Collections.addAll(whole, command);
    ProcessBuilder builder =
        new ProcessBuilder(whole)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    String home = folder.resolve("home").toString();
    builder.environment().put("LTTNG_HOME", home);
    builder.environment().put("HOME", home);
    builder.environment().put("LTTNG_UST_REGISTER_TIMEOUT", "-1");
    builder.environment().put("LTTNG_UST_ALLOW_BLOCKING", "1");
    return builder.start();
  }

  private static int run(String... command) throws Exception {
    return start(command).waitFor();
  }

  private static boolean lttng(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("lttng", "--no-sessiond"));
    Collections.addAll(command, arguments);
    return run(command.toArray(String[]::new)) == 0;
  }

  private static void require(String... arguments) throws Exception {
    assertThat(lttng(arguments)).as("lttng %s", String.join(" ", arguments)).isTrue();
  }

  /** By time: both have the kernel's monotonic clock, counted from the same boot. */
  @Test
  void babeltraceMergesItWithATraceOfOurs() throws Exception {
    Babeltrace.assumeInstalled();
    Process reader =
        new ProcessBuilder(
                "babeltrace2", folder.resolve("out").toString(), folder.resolve("ours").toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    List<String> lines = reader.inputReader().lines().toList();
    assertThat(reader.waitFor()).isZero();
    assertThat(lines).hasSize(EVENTS + 2);
    assertThat(lines.getFirst()).contains("quiesce:text", "before");
    assertThat(lines.getLast()).contains("quiesce:text", "after");
    assertThat(lines.subList(1, EVENTS + 1)).allMatch(line -> line.contains("quiesce_sample:"));
  }

  @Test
  void everyFieldOfEveryEvent() throws Exception {
    List<Event> events = TraceReaderTest.readAll(folder.resolve("out"));
    assertThat(events).hasSize(EVENTS);
    int n = 0;
    for (Event event : events) {
      assertThat(event.vpid()).isPositive().isEqualTo(event.vtid());
      assertThat(event.getText("procname")).isEqualTo("sample");
      if (event.name().equals("quiesce_sample:empty")) {
        assertThat(event.level()).isEqualTo(4);
        continue;
      }
      assertThat(event.name()).isEqualTo("quiesce_sample:all");
      assertThat(event.getLong("i8")).isEqualTo((byte) n);
      assertThat(event.getLong("u64")).isEqualTo(~(long) n);
      assertThat(event.getLong("net")).isEqualTo(Integer.toUnsignedLong(Integer.reverseBytes(n)));
      assertThat(event.getDouble("d")).isEqualTo(n / 4.0);
      assertThat(event.getText("s")).isEqualTo(n % 3 == 0 ? "xyz" : "ab\"c\n");
      assertThat(event.getText("sometext")).isEqualTo(n % 3 == 0 ? "xy" : "ab");
      Value some = Objects.requireNonNull(event.field("some"));
      assertThat(some.size()).isEqualTo(n % 6);
      assertThat(n % 6 < 3 || some.longAt(2) == 65535).isTrue();
      Value colour = Objects.requireNonNull(event.field("colour"));
      int which = n % 8 - 1;
      assertThat(colour.label())
          .isEqualTo(which < 0 ? "red" : which == 0 ? null : which < 6 ? "green" : "blue");
      n++;
    }
    assertThat(n).isEqualTo(1000);
  }

  @Test
  void babeltraceReadsItAlike() throws Exception {
    Babeltrace.assumeInstalled();
    Path out = folder.resolve("out");
    assertThat(TraceReaderTest.lines(out)).isEqualTo(TraceReaderTest.babeltraceLines(out));
  }

  @Test
  void itsStatistics() throws Exception {
    try (TraceReader reader = TraceReader.open(folder.resolve("out"))) {
      TraceStatistics statistics = TraceStatistics.of(reader);
      assertThat(statistics.events()).isEqualTo(EVENTS);
      assertThat(statistics.lostEvents() + statistics.lostBefore()).isZero();
      assertThat(statistics.types())
          .containsExactly(
              new TraceStatistics.TypeCount("quiesce_sample:all", 1000),
              new TraceStatistics.TypeCount("quiesce_sample:empty", 100));
      assertThat(statistics.threads()).hasSize(1);
      assertThat(statistics.threads().getFirst().name()).isEqualTo("sample");
      assertThat(statistics.packets()).isGreaterThan(4);
    }
  }
}
