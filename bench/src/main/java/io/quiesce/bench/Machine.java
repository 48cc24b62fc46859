package io.quiesce.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Where something was measured.
 *
 * @param facts name to string or number, in a fixed order; what is unknown is absent
 */
public record Machine(Map<String, Object> facts) {

  /** Copies the facts, keeping their order. */
  public Machine {
    facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
  }

  /**
   * Reads what this machine is.
   *
   * @return its facts
   */
  public static Machine read() {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    facts.put("arch", System.getProperty("os.arch"));
    field("/proc/cpuinfo", "model name").ifPresent(model -> facts.put("cpu", model));
    facts.put("cpus", Runtime.getRuntime().availableProcessors());
    field("/proc/meminfo", "MemTotal")
        .map(text -> text.replace(" kB", ""))
        .filter(text -> text.matches("[0-9]+"))
        .ifPresent(kib -> facts.put("memory_mib", Long.parseLong(kib) / 1024));
    facts.put(
        "jdk", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .ifPresent(clock -> facts.put("clocksource", clock));
    text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        .ifPresent(governor -> facts.put("governor", governor));
    text("/etc/os-release")
        .flatMap(all -> value(all.lines(), "PRETTY_NAME", "="))
        .ifPresent(name -> facts.put("distribution", name.replace("\"", "")));
    output("pkg-config", "--modversion", "liburcu-memb")
        .ifPresent(version -> facts.put("liburcu", version));
    output("pkg-config", "--modversion", "lttng-ust")
        .ifPresent(version -> facts.put("lttng_ust", version));
    facts.put("quiesce", version());
    return new Machine(facts);
  }

  /**
   * The version of this build.
   *
   * @return from the manifest, or {@code development}
   */
  public static String version() {
    return Optional.ofNullable(io.quiesce.rcu.Rcu.class.getPackage().getImplementationVersion())
        .orElse("development");
  }

  private static Optional<String> field(String file, String name) {
    return text(file).flatMap(all -> value(all.lines(), name, ":"));
  }

  private static Optional<String> value(Stream<String> lines, String name, String separator) {
    return lines
        .filter(line -> line.startsWith(name) && line.contains(separator))
        .map(line -> line.substring(line.indexOf(separator) + 1).strip())
        .findFirst();
  }

  private static Optional<String> text(String file) {
    try {
      return Optional.of(Files.readString(Path.of(file)).strip()).filter(t -> !t.isEmpty());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> output(String... command) {
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      boolean well = process.waitFor(5, TimeUnit.SECONDS) && process.exitValue() == 0;
      return Optional.of(text.strip()).filter(t -> well && !t.isEmpty());
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
