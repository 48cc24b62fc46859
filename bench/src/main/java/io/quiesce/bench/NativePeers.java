package io.quiesce.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The programs of bench/native: built on first use with the system's compiler, or missing. */
public final class NativePeers {
  private static final String SKIPPED = "skipped ";

  private final Path sources;
  private final Path folder;
  private final Map<String, String> missing;
  private final String fallback;

  private NativePeers(Path sources, Path folder, Map<String, String> missing, String fallback) {
    this.sources = sources;
    this.folder = folder;
    this.missing = missing;
    this.fallback = fallback;
  }

  /**
   * No native peer at all.
   *
   * @param why one sentence
   * @return the peers
   */
  public static NativePeers none(String why) {
    Path nowhere = Path.of("/nonexistent");
    return new NativePeers(nowhere, nowhere, Map.of(), why);
  }

  /**
   * Builds what this machine can build. Never fails: what is missing says so when asked for.
   *
   * @param home the folder of the project
   * @return the peers
   * @throws InterruptedException if interrupted while the compiler runs
   */
  public static NativePeers build(Path home) throws InterruptedException {
    Path sources = home.resolve("bench/native");
    Path script = sources.resolve("build.sh");
    if (!Files.isReadable(script)) {
      return none("The sources of the native peers are missing; run ./quiesce in a checkout.");
    }
    Path out = home.resolve("bench/target/native");
    Map<String, String> missing = new HashMap<>();
    try {
      Process process =
          new ProcessBuilder("sh", script.toString(), out.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.outputWriter().close();
      try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          int colon = line.indexOf(": ");
          if (line.startsWith(SKIPPED) && colon > 0) {
            missing.put(
                line.substring(SKIPPED.length(), colon), sentence(line.substring(colon + 2)));
          }
        }
      }
      if (!process.waitFor(2, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        return none("The compiler hung while building the native peers.");
      }
    } catch (IOException e) {
      return none("The native peers cannot be built: " + e.getMessage() + ".");
    }
    return new NativePeers(
        sources, out, missing, "It was not built; run bench/native/build.sh to see why.");
  }

  private static String sentence(String cure) {
    return "Not built on this machine: " + cure + ".";
  }

  Optional<Path> program(String name) {
    Path program = folder.resolve(name);
    return Files.isExecutable(program) && !missing.containsKey(name)
        ? Optional.of(program)
        : Optional.empty();
  }

  /** A script beside the sources, which needs no building. */
  Optional<Path> script(String name) {
    Path script = sources.resolve(name);
    return Files.isReadable(script) ? Optional.of(script) : Optional.empty();
  }

  String whyMissing(String name) {
    return missing.getOrDefault(name, fallback);
  }
}
