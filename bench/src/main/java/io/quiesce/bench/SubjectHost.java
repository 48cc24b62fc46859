package io.quiesce.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The far end of the line protocol for one {@link Subject}: {@code SubjectHost PROGRAM EXPERIMENT
 * key=value ...}. A JVM of its own keeps the profile of one subject from spoiling the code of
 * another.
 */
public final class SubjectHost {
  /** Name of a system property: the longest warm-up, in milliseconds. */
  public static final String WARM_UP = "quiesce.bench.warmUp";

  private static final Duration WARM_UP_ROUND = Duration.ofMillis(60);

  /** Consecutive warm-up rounds in which the compilers must have done nothing. */
  private static final int STEADY = 4;

  private SubjectHost() {}

  /**
   * Serves one subject until the end of input.
   *
   * @param args the program, the experiment and its parameters
   */
  public static void main(String[] args) {
    PrintStream out = System.out;
    System.setOut(System.err); // nothing but the protocol may stand on the real one
    Runtime.getRuntime().halt(serve(args, out));
  }

  private static int serve(String[] args, PrintStream out) {
    if (args.length < 2) {
      System.err.println("Usage: SubjectHost PROGRAM EXPERIMENT key=value ...");
      return 2;
    }
    try (Subject subject = Subjects.create(args[0])) {
      subject.setUp(Params.parse(Arrays.asList(args).subList(2, args.length)));
      warmUp(subject);
      out.println("ready");
      out.flush();
      answer(subject, out);
      return 0;
    } catch (Subject.UnavailableException e) {
      out.println("unavailable " + e.getMessage());
      out.flush();
      return 0;
    } catch (Throwable e) {
      if (Boolean.getBoolean("quiesce.bench.trace")) {
        e.printStackTrace();
      }
      System.err.println(e.getClass().getSimpleName() + ": " + e.getMessage());
      return 1;
    }
  }

  /** Rounds until the JIT compilers have nothing left to do, at least a quarter of the limit. */
  private static void warmUp(Subject subject) throws Exception {
    CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    long limit = Duration.ofMillis(Long.getLong(WARM_UP, 1000)).toNanos();
    long start = System.nanoTime();
    long spent = -1;
    int steady = 0;
    while (System.nanoTime() - start < limit) {
      subject.round(WARM_UP_ROUND);
      long now = compilers == null ? 0 : compilers.getTotalCompilationTime();
      steady = now == spent ? steady + 1 : 0;
      spent = now;
      if (steady >= STEADY && System.nanoTime() - start > limit / 4) {
        break;
      }
    }
    System.gc(); // every subject begins with an empty young generation
  }

  private static void answer(Subject subject, PrintStream out) throws Exception {
    BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    Thread.ofPlatform().daemon().name("protocol").start(() -> listen(requests));
    while (true) {
      String request = requests.take();
      if (request.equals("quit")) {
        return;
      }
      if (!request.matches("round [1-9][0-9]{0,6}")) {
        throw new IllegalArgumentException(
            "expected 'round MILLIS' or 'quit' on standard input, not '" + request + "'");
      }
      Duration time = Duration.ofMillis(Long.parseLong(request.substring("round ".length())));
      StringBuilder line = new StringBuilder("result");
      for (Map.Entry<String, Double> value : subject.round(time).entrySet()) {
        line.append(String.format(Locale.ROOT, " %s=%.5f", value.getKey(), value.getValue()));
      }
      out.println(line);
      out.flush();
    }
  }

  /** Ends the process with the input, even in the middle of a round that hangs. */
  private static void listen(BlockingQueue<String> requests) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        requests.add(line);
      }
    } catch (IOException e) {
      // As good as the end.
    }
    if (!requests.contains("quit")) {
      Runtime.getRuntime().halt(0);
    }
  }
}
