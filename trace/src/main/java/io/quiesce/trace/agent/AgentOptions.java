package io.quiesce.trace.agent;

import io.quiesce.trace.ContextField;
import io.quiesce.trace.TraceFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the agent is told. Immutable.
 *
 * <p>Either {@code key=value,key=value}, where no value can hold a comma and the patterns of {@code
 * enable} are separated by semicolons; or {@code @FILE}, a file in UTF-8 with one {@code key=value}
 * in each line, where a value may hold anything but a line end, and {@code enable} may be repeated.
 * Lines that are empty or begin with {@code #} do not count.
 *
 * @param output the trace's folder; {@code quiesce-DATE-TIME} where the program starts, by default
 * @param overwrite {@code mode=overwrite}, a flight recorder; {@code discard} by default
 * @param patterns {@code enable}; all tracepoints by default
 * @param level the highest wanted: 0 to 14, or a name
 * @param lowering whether {@code level} is there: loggers that would keep such records back are
 *     lowered to it
 * @param context fields of every event; several are separated by semicolons, or by commas in a file
 * @param filter an expression on fields; empty by default
 * @param buffers folder of the buffers' file, or null for the session's choice
 * @param budget bytes of all buffers, with K, M or G behind them; 0 for the session's choice
 * @param name of the session; {@code trace} by default
 * @param snapshotOnException {@code snapshot-on=exception}: a flight recorder also writes what it
 *     holds when a thread ends by an exception
 * @param exitOnFailure {@code on-failure=exit}: no program without a trace; {@code continue} by
 *     default
 * @param perProcess {@code per-process=true}: the trace goes to a folder in {@code output} with the
 *     process number as its name
 * @param result {@code result=true}: the file {@code .result} in the trace says at the end how it
 *     went
 * @param format {@code format=ctf-2} or {@code ctf-1.8}, the default
 */
record AgentOptions(
    Path output,
    boolean overwrite,
    List<String> patterns,
    int level,
    boolean lowering,
    List<ContextField> context,
    String filter,
    @Nullable Path buffers,
    long budget,
    String name,
    boolean snapshotOnException,
    boolean exitOnFailure,
    boolean perProcess,
    boolean result,
    TraceFormat format) {

  private record Entry(String key, String value) {}

  static AgentOptions parse(@Nullable String text) throws AgentException {
    Parser parser = new Parser();
    for (Entry entry : entries(text)) {
      try {
        parser.take(entry.key, entry.value);
      } catch (IllegalArgumentException e) {
        throw new AgentException(
            "The agent's option " + entry.key + " is wrong: " + e.getMessage(), e);
      }
    }
    return parser.options();
  }

  /** Whether the option is there, even if others are wrong. */
  static boolean isExitOnFailure(@Nullable String text) throws AgentException {
    return entries(text).contains(new Entry("on-failure", "exit"));
  }

  private static List<Entry> entries(@Nullable String text) throws AgentException {
    List<Entry> entries = new ArrayList<>();
    if (text == null || text.isBlank()) {
      return entries;
    }
    if (text.startsWith("@")) {
      for (String line : lines(text.substring(1))) {
        if (!line.isBlank() && !line.startsWith("#")) {
          entries.add(entry(line));
        }
      }
      return entries;
    }
    for (String part : text.split(",", -1)) {
      Entry entry = entry(part);
      if (entry.key.equals("enable")) {
        for (String pattern : entry.value.split(";", -1)) {
          entries.add(new Entry("enable", pattern));
        }
      } else {
        entries.add(entry);
      }
    }
    return entries;
  }

  private static List<String> lines(String file) throws AgentException {
    try {
      return Files.readAllLines(Path.of(file), StandardCharsets.UTF_8);
    } catch (IOException | InvalidPathException e) {
      throw new AgentException("The agent's options cannot be read from " + file + ": " + e, e);
    }
  }

  private static Entry entry(String text) throws AgentException {
    int equals = text.indexOf('=');
    if (equals <= 0) {
      throw new AgentException(
          "The agent's options are key=value, separated by commas, or @FILE with one in each line;"
              + " this is none: "
              + text);
    }
    return new Entry(text.substring(0, equals).strip(), text.substring(equals + 1).strip());
  }

  /** Collects. */
  private static final class Parser {
    private static final DateTimeFormatter STAMP =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

    private Path output =
        Path.of("quiesce-" + STAMP.format(LocalDateTime.now(ZoneId.systemDefault())));
    private boolean overwrite;
    private final List<String> patterns = new ArrayList<>();
    private int level = TraceValues.ALL_LEVELS;
    private boolean lowering;
    private List<ContextField> context = List.of();
    private String filter = "";
    private @Nullable Path buffers;
    private long budget;
    private String name = "trace";
    private boolean snapshotOnException;
    private boolean exitOnFailure;
    private boolean perProcess;
    private boolean result;
    private TraceFormat format = TraceFormat.CTF_1_8;

    void take(String key, String value) {
      switch (key) {
        case "output" -> output = Path.of(value);
        case "mode" -> overwrite = either(value, "overwrite", "discard");
        case "enable" -> patterns.add(value);
        case "level" -> {
          level = TraceValues.level(value);
          lowering = true;
        }
        case "context" -> context = TraceValues.context(value);
        case "filter" -> filter = value;
        case "buffers" -> buffers = Path.of(value);
        case "budget" -> budget = TraceValues.bytes(value);
        case "name" -> name = value;
        case "snapshot-on" -> snapshotOnException = either(value, "exception", "demand");
        case "on-failure" -> exitOnFailure = either(value, "exit", "continue");
        case "per-process" -> perProcess = either(value, "true", "false");
        case "result" -> result = either(value, "true", "false");
        case "format" ->
            format = either(value, "ctf-2", "ctf-1.8") ? TraceFormat.CTF_2 : TraceFormat.CTF_1_8;
        default ->
            throw new IllegalArgumentException(
                "there are output, mode, enable, level, context, filter, buffers, budget, name,"
                    + " snapshot-on, on-failure, per-process, result and format");
      }
    }

    private static boolean either(String value, String yes, String no) {
      if (value.equals(yes) || value.equals(no)) {
        return value.equals(yes);
      }
      throw new IllegalArgumentException("it is " + yes + " or " + no + ", not " + value);
    }

    AgentOptions options() throws AgentException {
      if (snapshotOnException && !overwrite) {
        throw new AgentException(
            "The agent's option snapshot-on=exception needs mode=overwrite: otherwise everything is"
                + " written anyway");
      }
      return new AgentOptions(
          output,
          overwrite,
          patterns.isEmpty() ? List.of("*") : List.copyOf(patterns),
          level,
          lowering,
          context,
          filter,
          buffers,
          budget,
          name,
          snapshotOnException,
          exitOnFailure,
          perProcess,
          result,
          format);
    }
  }
}
