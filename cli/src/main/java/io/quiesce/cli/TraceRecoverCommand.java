package io.quiesce.cli;

import io.quiesce.bench.Json;
import io.quiesce.trace.TraceRecovery;
import io.quiesce.trace.TraceSession;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code quiesce trace recover}: finishes what a killed program left. */
@Command(
    name = "recover",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Finish the trace of a program that was killed: cut off what is not whole, and add the events"
          + " that were still in its buffers. A trace that was ended well stays as it is.",
    })
final class TraceRecoverCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "Folder of the trace, or of several.")
  private Path folder;

  @Option(names = "--json", paramLabel = "FILE", description = "Write what was found as JSON.")
  private @Nullable Path json;

  @SuppressWarnings("NullAway.Init") // The parser sets the fields.
  TraceRecoverCommand() {}

  @Override
  public Integer call() throws Failure {
    if (json != null) {
      Home.checkWritable(spec.commandLine(), "--json", json);
    }
    List<Map<String, Object>> results = new ArrayList<>();
    for (Path trace : traces()) {
      TraceRecovery found;
      try {
        found = TraceSession.recover(trace);
      } catch (IOException e) {
        throw new Failure(String.valueOf(e.getMessage()), e);
      }
      results.add(result(trace, found));
      spec.commandLine()
          .getOut()
          .printf(
              Locale.ROOT,
              "%s: %,d events in %,d packets were still in the buffers; %,d that were being stored"
                  + " are lost, and %,d of unknown type.%n",
              Home.display(trace),
              found.events(),
              found.packets(),
              found.uncommitted(),
              found.unknown());
    }
    if (json != null) {
      Home.write(json, Json.write(Map.of("schema", Json.SCHEMA, "traces", results)));
    }
    return Main.FINE;
  }

  /** The folder itself, or those in it, as a script's JVMs leave them. */
  private List<Path> traces() throws Failure {
    if (!Files.isDirectory(folder)) {
      throw new Failure(folder + " is no folder; name that of a trace");
    }
    List<Path> traces = new ArrayList<>();
    if (!Files.exists(folder.resolve("metadata"))) {
      try (DirectoryStream<Path> inside = Files.newDirectoryStream(folder, Files::isDirectory)) {
        for (Path each : inside) {
          if (Files.exists(each.resolve("metadata"))) {
            traces.add(each);
          }
        }
      } catch (IOException e) {
        throw new Failure(folder + " cannot be read (" + e + ")", e);
      }
      if (traces.isEmpty()) {
        throw new Failure(folder + " holds no trace; name the folder that has a file 'metadata'");
      }
      return traces;
    }
    traces.add(folder);
    return traces;
  }

  private static Map<String, Object> result(Path trace, TraceRecovery found) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("folder", trace.toString());
    result.put("packets", found.packets());
    result.put("events", found.events());
    result.put("uncommitted", found.uncommitted());
    result.put("unknown", found.unknown());
    return result;
  }
}
