package io.quiesce.linux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a main class of the tests in a JVM of its own, on the class path. */
public final class ChildJvm {
  public record Result(int exit, String out, String err) {}

  private ChildJvm() {}

  public static Result run(Class<?> main, Map<String, String> environment, String... flags) {
    Path base = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(flags));
    command.add("-cp");
    command.add(base.resolve("target/classes") + ":" + base.resolve("target/test-classes"));
    command.add(main.getName());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    builder.environment().putAll(environment);
    try {
      Path err = java.nio.file.Files.createTempFile("child", ".err");
      Process process = builder.redirectError(err.toFile()).start();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("the child did not end: " + command);
      }
      String errors = java.nio.file.Files.readString(err);
      java.nio.file.Files.delete(err);
      return new Result(process.exitValue(), out, errors);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
