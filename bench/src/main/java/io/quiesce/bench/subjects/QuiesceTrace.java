package io.quiesce.bench.subjects;

import io.quiesce.linux.CpuTopology;
import io.quiesce.trace.TraceHandler;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.TraceSessionBuilder;
import io.quiesce.trace.Tracepoint;
import io.quiesce.trace.TracepointProvider;
import io.quiesce.trace.Tracepoints;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Quiesce's tracer: a tracepoint of an interface, or its handler for {@code java.util.logging}. A
 * session for each round; babeltrace2 counts what a reader gets back, as it does for LTTng.
 */
abstract class QuiesceTrace extends TraceWay {
  private static final int SUB_BUFFERS = 4;
  private static final long OVERWRITE_BYTES = 256L << 10;
  private static final long DISCARD_BYTES = 8L << 20;
  private static final List<String> COUNT =
      List.of("--component=sink.utils.counter", "--params=step=+0");

  private final Setting setting;
  private @Nullable TraceSession session;
  private @Nullable Path folder;

  private QuiesceTrace(Setting setting) {
    this.setting = setting;
  }

  static QuiesceTrace of(Setting setting) {
    return switch (setting.event()) {
      case TWO_INTS -> new TwoInts(setting);
      case LONG_STRING -> new LongString(setting);
      case TEXT -> new Text(setting);
    };
  }

  @TracepointProvider("bench")
  interface Events {
    @Tracepoint
    void twoInts(int a, int b);

    @Tracepoint
    void longString(long a, String text);
  }

  private static final Events EVENTS = Tracepoints.of(MethodHandles.lookup(), Events.class);

  @Override
  void begin() throws IOException {
    Path fresh = Files.createTempDirectory("quiesce-bench-trace-");
    folder = fresh;
    if (setting.disabled()) {
      return;
    }
    long bytes = setting.discard() ? DISCARD_BYTES : OVERWRITE_BYTES;
    TraceSessionBuilder builder =
        setting.discard()
            ? TraceSession.record(fresh.resolve("trace"))
            : TraceSession.flightRecorder(fresh.resolve("trace"));
    session =
        builder
            .enable("*")
            .subBuffers(SUB_BUFFERS, bytes)
            .bufferBudget(bytes * SUB_BUFFERS * CpuTopology.tableSize())
            .reserveAtStart()
            .start();
  }

  @Override
  long end(long events) throws IOException, InterruptedException {
    Path place = folder;
    if (place == null) {
      throw new IllegalStateException("nothing was recorded");
    }
    try {
      TraceSession full = session;
      if (full == null) {
        return 0;
      }
      session = null;
      try (full) {
        if (!setting.discard()) {
          full.snapshot(place.resolve("kept"));
        }
      }
      return count(place.resolve(setting.discard() ? "trace" : "kept"));
    } finally {
      delete(place);
    }
  }

  /** As lttng.sh counts. */
  private static long count(Path trace) throws IOException, InterruptedException {
    Process reader =
        new ProcessBuilder(
                Stream.concat(Stream.of("babeltrace2", trace.toString()), COUNT.stream()).toList())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    long found = -1;
    try (BufferedReader lines = reader.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.strip().split("\\s+", -1);
        if (words.length >= 2 && words[1].equals("Event")) {
          found = Long.parseLong(words[0]);
        }
      }
    }
    if (reader.waitFor() != 0) {
      throw new IOException("babeltrace2 does not read the trace " + trace);
    }
    return Math.max(0, found);
  }

  private static void delete(Path place) throws IOException {
    try (Stream<Path> files = Files.walk(place)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static final class TwoInts extends QuiesceTrace {
    TwoInts(Setting setting) {
      super(setting);
    }

    @Override
    long batch(long sum, int from) {
      long last = sum;
      for (int i = from; i < from + Team.BATCH; i++) {
        last = next(last, i);
        EVENTS.twoInts(i, (int) last);
      }
      return last;
    }
  }

  private static final class LongString extends QuiesceTrace {
    LongString(Setting setting) {
      super(setting);
    }

    @Override
    long batch(long sum, int from) {
      long last = sum;
      for (int i = from; i < from + Team.BATCH; i++) {
        last = next(last, i);
        EVENTS.longString(last, string(i));
      }
      return last;
    }
  }

  private static final class Text extends QuiesceTrace {
    private final Logger logger = Logger.getLogger("quiesce.bench.text");

    Text(Setting setting) {
      super(setting);
    }

    @Override
    void open() {
      logger.setUseParentHandlers(false);
      logger.setLevel(Level.ALL);
      logger.addHandler(new TraceHandler());
    }

    @Override
    long batch(long sum, int from) {
      Logger own = logger;
      for (int i = from; i < from + Team.BATCH; i++) {
        own.info(text(i));
      }
      return sum + from;
    }
  }
}
