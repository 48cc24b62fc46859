package io.quiesce.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The near end of the line protocol: one live process that measures on request and is idle
 * otherwise.
 *
 * <pre>
 *   process: ready                       or: unavailable SENTENCE, and exit
 *   here:    round 500
 *   process: result ns=1.63 p99=3
 *   here:    quit                        or the end of input
 * </pre>
 *
 * Whatever else it says, and whenever it says nothing for too long or ends, a {@link Failure} with
 * one sentence comes out, and the process is killed.
 */
final class SubjectProcess implements AutoCloseable {

  /** One sentence about a subject that cannot be measured. */
  static final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    Failure(String sentence) {
      super(sentence);
    }
  }

  /** How long to wait for what. */
  record Patience(Duration start, Duration round) {
    static final Patience DEFAULT = new Patience(Duration.ofSeconds(60), Duration.ofSeconds(20));
  }

  private static final String END = "\0";
  private static final int ERROR_LINES = 20;

  private final Process process;
  private final Writer input;
  private final Patience patience;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Deque<String> errors = new ArrayDeque<>();
  private final Thread errorReader;

  private SubjectProcess(Process process, Patience patience) {
    this.process = process;
    this.patience = patience;
    this.input = process.outputWriter(StandardCharsets.UTF_8);
    daemon("subject-output", process.getInputStream(), lines::add, () -> lines.add(END));
    this.errorReader = daemon("subject-errors", process.getErrorStream(), this::keep, () -> {});
  }

  /** Starts a process and waits until it is ready. */
  static SubjectProcess start(List<String> command, Patience patience)
      throws Failure, InterruptedException {
    SubjectProcess subject;
    try {
      ProcessBuilder builder = new ProcessBuilder(command);
      roomForLibraries(builder.environment());
      subject = new SubjectProcess(builder.start(), patience);
    } catch (IOException e) {
      throw new Failure("cannot be started: " + e.getMessage());
    }
    try {
      String line = subject.next(patience.start(), "to be ready");
      if (line.startsWith("unavailable ")) {
        throw new Failure(line.substring("unavailable ".length()));
      }
      if (!line.equals("ready")) {
        throw new Failure("said '" + shorten(line) + "' instead of 'ready'");
      }
      return subject;
    } catch (Failure | InterruptedException e) {
      subject.kill();
      throw e;
    }
  }

  /**
   * Allocators that are loaded while a program runs want their thread-local variables in the static
   * block, which has little room by default: jemalloc would not load.
   */
  private static void roomForLibraries(Map<String, String> environment) {
    environment.merge(
        "GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=16384", (old, more) -> old + ":" + more);
  }

  /** Asks for a round; {@link #result} takes the answer. */
  void request(Duration time) throws Failure, InterruptedException {
    try {
      input.write("round " + Math.max(1, time.toMillis()) + "\n");
      input.flush();
    } catch (IOException e) {
      throw fail(next(Duration.ofSeconds(5), "to end"));
    }
  }

  Map<String, Double> result(Duration time) throws Failure, InterruptedException {
    String line =
        next(patience.round().plus(time.multipliedBy(5)), "for a round of " + time.toMillis());
    if (!line.startsWith("result ")) {
      throw fail(line);
    }
    Map<String, Double> values = new LinkedHashMap<>();
    for (String word : line.substring("result ".length()).split(" ", -1)) {
      int equals = word.indexOf('=');
      try {
        double value = Double.parseDouble(word.substring(equals + 1));
        if (equals < 1 || !Double.isFinite(value)) {
          throw fail(line);
        }
        values.put(word.substring(0, equals), value);
      } catch (NumberFormatException e) {
        throw fail(line);
      }
    }
    return values;
  }

  private Failure fail(String line) {
    kill();
    return new Failure("said '" + shorten(line) + "' instead of a result");
  }

  /** The next line; the end of output and silence are failures. */
  private String next(Duration limit, String what) throws Failure, InterruptedException {
    String line = lines.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
    if (line == null) {
      kill();
      throw new Failure(
          "hung: no answer within " + limit.toSeconds() + " s when asked " + what + "; killed");
    }
    if (line.equals(END)) {
      throw new Failure(ending());
    }
    return line;
  }

  private String ending() throws InterruptedException {
    boolean ended = process.waitFor(5, TimeUnit.SECONDS);
    errorReader.join(1000);
    String last;
    synchronized (errors) {
      last = errors.stream().filter(e -> !e.isBlank()).reduce((a, b) -> b).orElse("");
    }
    kill();
    String how = ended ? "ended with status " + process.exitValue() : "closed its output";
    return last.isEmpty() ? how + " and said nothing" : how + ": " + shorten(last);
  }

  private static String shorten(String line) {
    String one = line.strip();
    return one.length() <= 300 ? one : one.substring(0, 300) + "...";
  }

  private void keep(String line) {
    synchronized (errors) {
      errors.addLast(line);
      if (errors.size() > ERROR_LINES) {
        errors.removeFirst();
      }
    }
  }

  private static Thread daemon(
      String name, InputStream from, java.util.function.Consumer<String> sink, Runnable end) {
    return Thread.ofPlatform()
        .daemon()
        .name(name)
        .start(
            () -> {
              try (BufferedReader reader =
                  new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
                for (@Nullable String line = reader.readLine();
                    line != null;
                    line = reader.readLine()) {
                  sink.accept(line);
                }
              } catch (IOException closed) {
                // The process was killed: that is the end of its output.
              } finally {
                end.run();
              }
            });
  }

  private void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    try {
      input.write("quit\n");
      input.close();
      if (process.waitFor(5, TimeUnit.SECONDS)) {
        return;
      }
    } catch (IOException e) {
      // It is gone, or will be.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    kill();
  }
}
