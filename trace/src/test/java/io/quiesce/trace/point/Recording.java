package io.quiesce.trace.point;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.Metadata;
import io.quiesce.trace.ctf.TraceDescription;
import io.quiesce.trace.ring.HotPathKind;
import io.quiesce.trace.ring.RingSession;
import io.quiesce.trace.ring.RingStatistics;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The smallest session: rings, one trace, and what babeltrace2 reads in it. */
final class Recording implements AutoCloseable {
  private static final String PYTHON = "/usr/bin/python3";

  /** Values in a form that loses nothing: reals as their bits, text as its bytes. */
  private static final String SCRIPT =
      """
      import bt2, struct, sys
      def show(v):
          if isinstance(v, bt2._EnumerationFieldConst):
              return 'e' + str(int(v)) + ':' + ','.join(v.labels)
          if isinstance(v, bt2._BoolFieldConst) or isinstance(v, bt2._IntegerFieldConst):
              return 'i' + str(int(v))
          if isinstance(v, bt2._RealFieldConst):
              return 'r' + struct.pack('>d', float(v)).hex()
          if isinstance(v, bt2._StringFieldConst):
              # babeltrace2 2.0 returns an earlier text for an empty one, but its length is right.
              return 's' + (str(v).encode('utf-8').hex() if len(v) > 0 else '')
          return 'a' + ' '.join(show(x) for x in v)
      for m in bt2.TraceCollectionMessageIterator(sys.argv[1]):
          if type(m) is bt2._EventMessageConst:
              print('E\\t' + m.event.name)
              for scope, part in (('C', m.event.common_context_field), ('F', m.event.payload_field)):
                  if part is not None:
                      for name, v in part.items():
                          print(scope + '\\t' + name + '\\t' + show(v))
      """;

  /** An event as it was read. */
  record Event(String name, Map<String, Object> context, Map<String, Object> fields) {}

  /** An enum's value. */
  record Constant(long value, List<String> labels) {}

  private final Path folder;
  private final EventContext context;
  private final Metadata metadata;
  private final RingSession session;
  private int types;
  private boolean closed;

  Recording(Path folder) throws IOException {
    this(folder, EventContext.NONE, false);
  }

  Recording(Path folder, EventContext context, boolean overwrite) throws IOException {
    this.folder = folder;
    this.context = context;
    TraceDescription trace = TraceDescription.ofThisProcess("points", context.fields());
    metadata = Metadata.create(folder, trace);
    session =
        RingSession.create(
            folder.resolveSibling(folder.getFileName() + ".ring"),
            32 << 20,
            4,
            1 << 20,
            overwrite,
            HotPathKind.best(),
            folder,
            trace,
            id -> true);
  }

  static void assumeReader() throws Exception {
    Process process =
        new ProcessBuilder(PYTHON, "-c", "import bt2")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assumeTrue(process.waitFor() == 0, "skipped: python3-bt2 is not installed");
  }

  /** The tracepoints of a provider, by name. */
  static Map<String, Point> points(String provider) {
    Map<String, Point> points = new LinkedHashMap<>();
    Points.forEach(
        point -> {
          if (point.provider().equals(provider)) {
            points.put(point.name(), point);
          }
        });
    return points;
  }

  Recording on(String provider) throws IOException {
    for (Point point : points(provider).values()) {
      on(point, EventFilter.ALL);
    }
    return this;
  }

  Recording on(Point point, EventFilter filter) throws IOException {
    int id = types++;
    metadata.add(new EventType(id, point.provider(), point.name(), point.level(), point.fields()));
    Points.attach(point, this, session.buffers(), id, filter, context);
    return this;
  }

  void pass() {
    session.pass(true);
  }

  RingStatistics statistics() {
    return session.statistics();
  }

  /** Ends it, and reads. */
  List<Event> read() throws Exception {
    close();
    Path out = folder.resolveSibling(folder.getFileName() + ".out");
    Path err = folder.resolveSibling(folder.getFileName() + ".err");
    Process process =
        new ProcessBuilder(PYTHON, "-c", SCRIPT, folder.toString())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.waitFor() != 0) {
      process.destroyForcibly();
      throw new AssertionError(Files.readString(err));
    }
    List<Event> events = new ArrayList<>();
    for (String line : Files.readAllLines(out)) {
      String[] parts = line.split("\t", -1);
      if (parts[0].equals("E")) {
        events.add(new Event(parts[1], new LinkedHashMap<>(), new LinkedHashMap<>()));
      } else if (!parts[1].endsWith("_length")) {
        Event event = events.getLast();
        (parts[0].equals("C") ? event.context : event.fields).put(parts[1], value(parts[2]));
      }
    }
    return events;
  }

  private static Object value(String text) {
    String rest = text.substring(1);
    return switch (text.charAt(0)) {
      case 'i' -> new BigInteger(rest);
      case 'r' -> Double.longBitsToDouble(Long.parseUnsignedLong(rest, 16));
      case 's' -> new String(HexFormat.of().parseHex(rest), StandardCharsets.UTF_8);
      case 'e' -> {
        int colon = rest.indexOf(':');
        yield new Constant(
            Long.parseLong(rest.substring(0, colon)),
            List.of(rest.substring(colon + 1).split(",")));
      }
      default ->
          rest.isEmpty()
              ? List.of()
              : Arrays.stream(rest.split(" ")).map(Recording::value).toList();
    };
  }

  @Override
  public void close() throws IOException {
    if (!closed) {
      closed = true;
      Points.forEach(point -> Points.detach(point, this));
      session.close();
      metadata.close();
    }
  }
}
