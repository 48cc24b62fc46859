package io.quiesce.trace.point;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.quiesce.trace.TraceCounts;
import io.quiesce.trace.TraceFormat;
import io.quiesce.trace.TraceRecovery;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.ctf.Babeltrace;
import io.quiesce.trace.reader.TraceReader;
import io.quiesce.trace.reader.Value;
import io.quiesce.trace.ring.HotPathKind;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Programs killed at random instants, each trace recovered and read by babeltrace2; {@code
 * -Dquiesce.trace.kills=200} for more of them.
 */
class KillTest {
  private static final TraceRecovery WHOLE =
      new TraceRecovery(0, 0, 0, 0, new TraceCounts(0, 0, 0, 0, 0, 0));

  private static final int KILLS = Integer.getInteger("quiesce.trace.kills", 3);

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "sequence,discard,16384",
    "sequence,overwrite,65536",
    "cas,discard,16384",
    "cas,overwrite,65536",
    "lock,discard,65536"
  })
  void whatWasCommittedIsInTheTraceOnce(String hotPath, String mode, int bytes) throws Exception {
    Babeltrace.assumeInstalled();
    assumeThat(!hotPath.equals("sequence") || HotPathKind.SEQUENCE.isAvailable())
        .as("skipped: restartable sequences or the counter are not available")
        .isTrue();
    SplittableRandom random = new SplittableRandom();
    for (int i = 0; i < KILLS; i++) {
      Path trace = folder.resolve("trace" + i);
      Path witness = Files.write(folder.resolve("witness"), new byte[KilledProgram.WITNESS_BYTES]);
      Process program = start(trace, witness, hotPath, mode, bytes, TraceFormat.CTF_1_8);
      try (BufferedReader lines = program.inputReader()) {
        assertThat(lines.readLine()).isEqualTo("traces");
        Thread.sleep(random.nextInt(1, 150));
        if (i == 0) {
          assertThatThrownBy(() -> TraceSession.recover(trace))
              .isInstanceOf(IOException.class)
              .hasMessageContaining("still runs");
        }
      } finally {
        program.destroyForcibly();
        assertThat(program.waitFor(10, TimeUnit.SECONDS)).isTrue();
      }
      TraceRecovery found = TraceSession.recover(trace);
      check(trace, witness, mode.equals("overwrite"), found);
      assertThat(TraceSession.recover(trace)).as("once more").isEqualTo(WHOLE);
    }
  }

  @ParameterizedTest
  @CsvSource({"discard,16384", "overwrite,65536"})
  void recoveryKeepsTheFormat(String mode, int bytes) throws Exception {
    Path trace = folder.resolve("trace");
    Path witness = Files.write(folder.resolve("witness"), new byte[KilledProgram.WITNESS_BYTES]);
    Process program = start(trace, witness, "cas", mode, bytes, TraceFormat.CTF_2);
    try (BufferedReader lines = program.inputReader()) {
      assertThat(lines.readLine()).isEqualTo("traces");
      Thread.sleep(100);
    } finally {
      program.destroyForcibly();
      assertThat(program.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
    TraceRecovery found = TraceSession.recover(trace);
    ByteBuffer last = ByteBuffer.wrap(Files.readAllBytes(witness)).order(ByteOrder.nativeOrder());
    long[] seen = new long[KilledProgram.THREADS];
    try (TraceReader reader = TraceReader.open(trace)) {
      while (reader.next()) {
        Value fields = reader.event().fields();
        int thread = (int) requireNonNull(fields.field("thread")).asLong();
        seen[thread] = requireNonNull(fields.field("number")).asLong();
      }
    }
    assertThat(Files.readAllBytes(trace.resolve("metadata"))[0]).isEqualTo((byte) 0x1e);
    for (int i = 0; i < seen.length; i++) {
      long committed = last.getLong(i * 64);
      // In a flight recorder a thread that did not run at the end may have nothing left.
      if (mode.equals("discard") || seen[i] > 0) {
        assertThat(seen[i]).as("%d of %s", i, found).isBetween(committed, committed + 1);
      }
    }
  }

  private static Process start(
      Path trace, Path witness, String hotPath, String mode, int bytes, TraceFormat format)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseSerialGC");
    command.add("-Dquiesce.trace.hotpath=" + hotPath);
    command.add("-cp");
    command.add(classPath());
    command.add(KilledProgram.class.getName());
    command.addAll(
        List.of(
            trace.toString(), witness.toString(), mode, Integer.toString(bytes), format.name()));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static String classPath() {
    List<String> places = new ArrayList<>();
    for (Class<?> type :
        List.of(KilledProgram.class, TraceSession.class, io.quiesce.linux.Rseq.class)) {
      places.add(
          Path.of(
                  java.net.URI.create(
                      type.getProtectionDomain().getCodeSource().getLocation().toString()))
              .toString());
    }
    return String.join(java.io.File.pathSeparator, places);
  }

  private static void check(Path trace, Path witness, boolean overwrite, TraceRecovery found)
      throws IOException, InterruptedException {
    ByteBuffer last = ByteBuffer.wrap(Files.readAllBytes(witness)).order(ByteOrder.nativeOrder());
    List<Babeltrace.Event> events = Babeltrace.read(trace).events();
    // From here on every ring has what was traced on its CPU.
    long whole = overwrite ? wholeFrom(events) : 0;
    BitSet[] seen = new BitSet[KilledProgram.THREADS];
    int[] first = new int[seen.length];
    for (int i = 0; i < seen.length; i++) {
      seen[i] = new BitSet();
    }
    for (Babeltrace.Event event : events) {
      int thread = Math.toIntExact(number(event, "thread"));
      int number = Math.toIntExact(number(event, "number"));
      assertThat(seen[thread].get(number)).as("twice: " + event).isFalse();
      seen[thread].set(number);
      if (first[thread] == 0 && event.nanos() >= whole) {
        first[thread] = number;
      }
    }
    for (int i = 0; i < seen.length; i++) {
      int committed = Math.toIntExact(last.getLong(i * 64));
      if (first[i] == 0) {
        assertThat(overwrite || committed == 0).isTrue();
        continue; // it did not run at the end
      }
      assertThat(overwrite || first[i] == 1).isTrue();
      // The last one may have been committed before its witness was stored.
      int missing = seen[i].nextClearBit(first[i]);
      assertThat(missing)
          .as("thread %d, committed %d, %s", i, committed, found)
          .isBetween(committed + 1, committed + 2);
      assertThat(seen[i].length()).isLessThanOrEqualTo(committed + 2);
    }
  }

  private static long wholeFrom(List<Babeltrace.Event> events) {
    Map<Integer, Long> oldest = new HashMap<>();
    for (Babeltrace.Event event : events) {
      oldest.merge(event.cpu(), event.nanos(), Math::min);
    }
    return oldest.values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  private static long number(Babeltrace.Event event, String field) {
    return Long.parseLong(String.valueOf(event.fields().get(field)));
  }

  @Test
  void aTraceThatWasEndedIsLeftAlone() throws Exception {
    Path trace = folder.resolve("trace");
    TraceSession.record(trace).start().close();
    assertThat(TraceSession.recover(trace)).isEqualTo(WHOLE);
    assertThatThrownBy(() -> TraceSession.recover(folder.resolve("nothing")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("holds no trace");
  }

  @Test
  void buffersThatAreGoneAreNamed() throws Exception {
    Path trace = Files.createDirectory(folder.resolve("trace"));
    Files.writeString(
        trace.resolve(".quiesce"),
        "buffers=" + folder.resolve("gone") + "\n",
        StandardCharsets.UTF_8);
    assertThatThrownBy(() -> TraceSession.recover(trace))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("are gone");
  }
}
