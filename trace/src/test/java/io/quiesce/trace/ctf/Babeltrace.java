package io.quiesce.trace.ctf;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads traces with babeltrace2, which knows nothing of this code, and parses what it prints. */
public final class Babeltrace {
  private static final Pattern LINE =
      Pattern.compile("\\[(\\d+)\\.(\\d{9})] (?:[A-Z_]+ )?\\((\\d+)\\) (.*)", Pattern.DOTALL);
  private static final String AFTER_NAME = ": { cpu_id = ";

  /** What the reader says of one event; times in nanoseconds since 1970. */
  public record Event(
      long nanos,
      int level,
      String name,
      int cpu,
      Map<String, Object> context,
      Map<String, Object> fields) {}

  /** An enumeration's value and its labels. */
  public record Labelled(List<String> labels, BigInteger value) {}

  /** All of a run: events in the reader's order, and what it warns of. */
  public record Reading(List<Event> events, String warnings) {}

  private Babeltrace() {}

  public static void assumeInstalled() {
    assumeTrue(runs("babeltrace2", "--version"), "skipped: babeltrace2 is not installed");
  }

  /** The first release that reads CTF 2. */
  public static void assumeReadsFragments() {
    String version = "none";
    try {
      Process process = new ProcessBuilder("babeltrace2", "--version").start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher matcher = Pattern.compile("Babeltrace (\\d+)\\.(\\d+)").matcher(said);
      if (matcher.find()) {
        version = matcher.group(1) + "." + matcher.group(2);
        int minor = Integer.parseInt(matcher.group(2));
        assumeTrue(
            Integer.parseInt(matcher.group(1)) > 2 || minor >= 1,
            "skipped: babeltrace2 reads CTF 2 from 2.1 on, and this is " + version);
        return;
      }
    } catch (IOException _) {
      // It is not installed.
    }
    assumeTrue(false, "skipped: babeltrace2 2.1 or later is not installed, but " + version);
  }

  public static void assumePython() {
    assumeTrue(
        runs("/usr/bin/python3", "-c", "import bt2"), "skipped: python3-bt2 is not installed");
  }

  private static boolean runs(String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0;
    } catch (IOException | InterruptedException _) {
      return false;
    }
  }

  /** Reads the traces together; the reader has to succeed. */
  public static Reading read(Path... folders) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of("babeltrace2", "--clock-seconds", "--no-delta", "--fields=loglevel"));
    for (Path folder : folders) {
      command.add(folder.toString());
    }
    Path out = Files.createTempFile("babeltrace", ".out");
    Path err = Files.createTempFile("babeltrace", ".err");
    try {
      String text = run(command, out, err);
      List<Event> events = new ArrayList<>();
      for (String line : text.split("\n", -1)) {
        if (!line.isEmpty()) {
          events.add(event(line));
        }
      }
      return new Reading(events, Files.readString(err));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }

  public static String run(List<String> command, Path out, Path err)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    if (process.waitFor() != 0) {
      throw new AssertionError(command + " failed: " + Files.readString(err));
    }
    return new String(Files.readAllBytes(out), StandardCharsets.UTF_8);
  }

  private static Event event(String line) {
    Matcher matcher = LINE.matcher(line);
    int end = line.indexOf(AFTER_NAME);
    if (!matcher.matches() || end < 0) {
      throw new AssertionError("not an event: " + line);
    }
    long nanos =
        Math.addExact(
            Math.multiplyExact(Long.parseLong(matcher.group(1)), 1_000_000_000L),
            Long.parseLong(matcher.group(2)));
    String name = line.substring(matcher.start(4), end);
    PrettyParser parser = new PrettyParser(line, end + 2);
    List<Map<String, Object>> scopes = parser.scopes();
    if (!(scopes.getFirst().get("cpu_id") instanceof BigInteger cpu)) {
      throw new AssertionError("no CPU: " + line);
    }
    Map<String, Object> context = scopes.size() == 3 ? scopes.get(1) : new LinkedHashMap<>();
    return new Event(
        nanos,
        Integer.parseInt(matcher.group(3)),
        name,
        cpu.intValueExact(),
        context,
        scopes.getLast());
  }
}
