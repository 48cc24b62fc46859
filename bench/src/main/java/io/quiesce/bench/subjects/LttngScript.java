package io.quiesce.bench.subjects;

import io.quiesce.bench.Subject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Asks bench/native/lttng.sh, within which this process runs, for sessions and counts. */
final class LttngScript {
  private static final String VARIABLE = "QUIESCE_LTTNG";

  private final String path;
  private final String rule;
  private final String mode;

  private LttngScript(String path, String rule, String mode) {
    this.path = path;
    this.rule = rule;
    this.mode = mode;
  }

  /**
   * The script around this process.
   *
   * @param rule what is recorded: {@code ust:EVENT} or {@code jul:LOGGER}
   * @param discard whether new events are lost when the buffers are full, or else old ones
   * @throws Subject.UnavailableException if this process runs without it
   */
  static LttngScript of(String rule, boolean discard) {
    return of(System.getenv(VARIABLE), rule, discard);
  }

  static LttngScript of(@Nullable String path, String rule, boolean discard) {
    if (path == null) {
      throw new Subject.UnavailableException(
          "Start it with bench/native/lttng.sh run, which has a session daemon for it.");
    }
    return new LttngScript(path, rule, discard ? "discard" : "overwrite");
  }

  void begin() throws IOException, InterruptedException {
    run("begin");
  }

  /** How many events a reader gets back. */
  long end() throws IOException, InterruptedException {
    return count(run("end"));
  }

  static long count(String said) {
    String text = said.strip();
    if (!text.matches("[0-9]{1,18}")) {
      throw new IllegalStateException("expected a number of events, not '" + text + "'");
    }
    return Long.parseLong(text);
  }

  private String run(String verb) throws IOException, InterruptedException {
    Process process = new ProcessBuilder("sh", path, verb, rule, mode).start();
    process.outputWriter().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(5, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IllegalStateException(
          error.isBlank() ? "lttng.sh " + verb + " failed" : error.strip());
    }
    return said;
  }
}
