package io.quiesce.trace.reader;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads traces of the Common Trace Format 1.8 and 2: the events of all streams in the order of
 * time.
 *
 * <pre>{@code
 * try (TraceReader reader = TraceReader.open(folder)) {
 *   while (reader.next()) {
 *     Event event = reader.event();
 *     ...
 *   }
 * }
 * }</pre>
 *
 * <p>A folder is a trace if it has a file {@code metadata}; of any other folder all traces below it
 * are read together, as LTTng makes one for each user and width of address. Each stream has one
 * packet in memory. Events of one time come in the order of their streams' file names.
 *
 * <p>Damage is a {@link TraceFormatException} when it is reached: all events before it were given,
 * and {@link #next} may be called again, for those of the other streams. A lenient reader keeps it
 * in {@link #problems} and goes on: with the next packet, with the event types before what is wrong
 * in the metadata, with what there is of a packet that was cut off.
 *
 * <p>Not thread-safe.
 */
public final class TraceReader implements AutoCloseable {
  /** So many problems are kept; the rest is counted. */
  private static final int MAX_PROBLEMS = 1000;

  private static final String METADATA = "metadata";
  private static final int MAX_DEPTH = 8;
  private static final Comparator<TraceStream> BY_TIME =
      Comparator.<TraceStream>comparingLong(stream -> stream.event().timeNanos())
          .thenComparingInt(TraceStream::ordinal);

  private final boolean lenient;
  private final List<Trace> traces = new ArrayList<>();
  private final List<TraceStream> streams = new ArrayList<>();
  private final ArrayDeque<TraceStream> unread = new ArrayDeque<>();
  private final PriorityQueue<TraceStream> others = new PriorityQueue<>(BY_TIME);
  private final List<TraceFormatException> problems = new ArrayList<>();
  private long problemCount;
  private @Nullable TraceStream current;
  private boolean standing;

  private TraceReader(boolean lenient) {
    this.lenient = lenient;
  }

  /**
   * Opens a trace, or all traces below a folder.
   *
   * @throws TraceFormatException if there is none, or the metadata of one is damaged
   * @throws IOException if a file cannot be read
   */
  public static TraceReader open(Path folder) throws IOException {
    return open(folder, false);
  }

  /**
   * As {@link #open(Path)}, but damage is kept in {@link #problems}.
   *
   * @throws TraceFormatException if there is no trace, or nothing of its metadata is of use
   * @throws IOException if a file cannot be read
   */
  public static TraceReader openLenient(Path folder) throws IOException {
    return open(folder, true);
  }

  private static TraceReader open(Path folder, boolean lenient) throws IOException {
    List<Path> folders = traceFolders(folder);
    if (folders.isEmpty()) {
      throw new TraceFormatException(
          folder, TraceFormatException.NOWHERE, "no trace, which has a file metadata, is here");
    }
    TraceReader reader = new TraceReader(lenient);
    for (Path each : folders) {
      reader.add(each);
    }
    return reader;
  }

  private static List<Path> traceFolders(Path folder) throws IOException {
    if (Files.exists(folder.resolve(METADATA)) || !Files.isDirectory(folder)) {
      return Files.isDirectory(folder) ? List.of(folder) : List.of();
    }
    try (Stream<Path> below =
        Files.find(
            folder,
            MAX_DEPTH,
            (path, attributes) ->
                attributes.isRegularFile() && path.getFileName().toString().equals(METADATA))) {
      return below.map(Path::getParent).sorted(NaturalOrder.PATHS).toList();
    } catch (java.io.UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void add(Path folder) throws IOException {
    MetadataText text = MetadataText.read(folder.resolve(METADATA), this::found);
    Trace trace = new Trace(folder, SchemaParser.parse(text, this::found));
    traces.add(trace);
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.filter(TraceReader::isStream).sorted(NaturalOrder.PATHS).toList();
    }
    for (List<Path> group : groups(trace, files)) {
      TraceStream stream = new TraceStream(trace, group, streams.size(), lenient, this::found);
      streams.add(stream);
      unread.add(stream);
    }
  }

  private static boolean isStream(Path path) {
    String name = path.getFileName().toString();
    return !name.equals(METADATA) && !name.startsWith(".") && Files.isRegularFile(path);
  }

  /** What a file's first packet says of its place. */
  private record Head(Path file, long begin) {}

  /** Files that are parts of one stream, as when LTTng limits the size of files. */
  private static List<List<Path>> groups(Trace trace, List<Path> files) throws IOException {
    Map<String, List<Head>> groups = new LinkedHashMap<>();
    for (Path file : files) {
      String group = "file " + file;
      long begin = 0;
      try (PacketFile packets = new PacketFile(file, trace.schema())) {
        if (packets.next()) {
          NumberValue instance = packets.instance();
          NumberValue time = packets.context().number("timestamp_begin");
          if (instance != null && time != null) {
            group = packets.streamClass().id() + " " + instance.asLong();
            begin = time.asLong();
          }
        }
      } catch (TraceFormatException _) {
        // It will be found again when the stream is read.
      }
      groups.computeIfAbsent(group, _ -> new ArrayList<>()).add(new Head(file, begin));
    }
    List<List<Path>> paths = new ArrayList<>();
    for (List<Head> group : groups.values()) {
      group.sort((a, b) -> Long.compareUnsigned(a.begin, b.begin));
      paths.add(group.stream().map(Head::file).toList());
    }
    return paths;
  }

  private void found(TraceFormatException problem) throws TraceFormatException {
    if (!lenient) {
      throw problem;
    }
    problemCount++;
    if (problems.size() < MAX_PROBLEMS) {
      problems.add(problem);
    }
  }

  /** The traces that are read together. */
  public List<Trace> traces() {
    return Collections.unmodifiableList(traces);
  }

  /** The streams of all traces. */
  public List<TraceStream> streams() {
    return Collections.unmodifiableList(streams);
  }

  /** What a lenient reader found so far; of very many the first 1000. */
  public List<TraceFormatException> problems() {
    return Collections.unmodifiableList(problems);
  }

  /** How much a lenient reader found so far. */
  public long problemCount() {
    return problemCount;
  }

  /**
   * Goes to the next event; false at the end.
   *
   * @throws TraceFormatException at damage, after the events before it; the stream ends there
   * @throws IOException if a file cannot be read; the stream ends there
   */
  public boolean next() throws IOException {
    standing = false;
    TraceStream last = current;
    current = null;
    if (last != null && last.advance()) {
      TraceStream other = others.peek();
      if (other == null || BY_TIME.compare(last, other) <= 0) {
        current = last;
      } else {
        others.add(last);
      }
    }
    while (!unread.isEmpty()) {
      TraceStream stream = unread.remove();
      if (stream.advance()) {
        others.add(stream);
      }
    }
    if (current == null) {
      current = others.poll();
    }
    standing = current != null;
    return standing;
  }

  /**
   * The event on which the reader stands: a view that the next {@link #next} changes.
   *
   * @throws IllegalStateException if it stands on none
   */
  public Event event() {
    if (!standing || current == null) {
      throw new IllegalStateException("The reader stands on no event");
    }
    return current.event();
  }

  /** Closes the files. */
  @Override
  public void close() throws IOException {
    current = null;
    standing = false;
    unread.clear();
    others.clear();
    IOException failure = null;
    for (TraceStream stream : streams) {
      try {
        stream.close();
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
