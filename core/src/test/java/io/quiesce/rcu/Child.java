package io.quiesce.rcu;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a main class of the tests in a JVM of its own, on the class path, without test libraries.
 */
public record Child(int exit, String output) {
  public static Child run(
      Class<?> main, List<String> flags, List<String> environment, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Xmx256m"));
    if (!flags.contains("-Dquiesce.native=off")
        && !flags.contains("--illegal-native-access=deny")) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath(), main.getName()));
    command.addAll(Arrays.asList(arguments));
    Path log = Files.createTempFile("quiesce-child", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    for (String assignment : environment) {
      int equals = assignment.indexOf('=');
      builder.environment().put(assignment.substring(0, equals), assignment.substring(equals + 1));
    }
    Process process = builder.start();
    try {
      boolean ended = process.waitFor(60, TimeUnit.SECONDS);
      String output = Files.readString(log, StandardCharsets.UTF_8);
      return ended ? new Child(process.exitValue(), output) : new Child(-1, "hangs: " + output);
    } finally {
      process.destroyForcibly();
      Files.deleteIfExists(log);
    }
  }

  /** In a module, test classes say that they come from where the main classes are. */
  private static String classPath() {
    try {
      Path classes = Path.of(Rcu.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      Path tests = Path.of(Child.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (tests.equals(classes)) {
        tests = classes.resolveSibling("test-classes");
      }
      return classes + System.getProperty("path.separator") + tests;
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }
}
