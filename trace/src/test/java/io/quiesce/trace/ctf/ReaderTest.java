package io.quiesce.trace.ctf;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.ctf.PacketWriter.Outcome;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What babeltrace2 makes of the traces. */
class ReaderTest {
  private static final Object[] NONE = {};
  private static final long NANOS = 1_000_000_000L;

  @TempDir Path folder;

  @BeforeEach
  void reader() {
    Babeltrace.assumeInstalled();
  }

  /** One event that is in a trace. */
  private record Written(
      EventType type, long time, int cpu, List<Object> context, List<Object> values) {}

  /** One CPU's stream; packets are closed when they are full. */
  private static final class Stream implements AutoCloseable {
    private final PacketWriter writer;
    private final StreamFile file;
    private final int cpu;
    private final List<Written> written = new ArrayList<>();
    long last;
    private long lost;

    Stream(Path folder, TraceDescription trace, int cpu, int bytes, long begin) throws IOException {
      this.cpu = cpu;
      writer = new PacketWriter(trace, cpu, MemorySegment.ofArray(new byte[bytes]));
      file = StreamFile.create(folder, cpu);
      last = begin;
      writer.open(begin);
    }

    void write(EventType type, long time, Object[] context, Object... values) throws IOException {
      last = time;
      Outcome outcome = writer.write(type, time, context, values);
      if (outcome == Outcome.FULL) {
        next();
        outcome = writer.write(type, time, context, values);
      }
      if (outcome == Outcome.WRITTEN) {
        written.add(new Written(type, time, cpu, List.of(context), List.of(values)));
      } else {
        assertThat(outcome).isEqualTo(Outcome.TOO_LARGE);
        lost++;
      }
    }

    void next() throws IOException {
      file.append(writer.close(last, lost));
      writer.open(last);
    }

    @Override
    public void close() throws IOException {
      file.append(writer.close(last, lost));
      file.close();
    }
  }

  private static TraceDescription trace(Field... context) {
    return TraceDescription.ofThisProcess("reader test", List.of(context));
  }

  private static EventType type(int id, Field... fields) {
    return new EventType(id, "p", "e" + id, 6, List.of(fields));
  }

  private static void check(
      List<Babeltrace.Event> read, TraceDescription trace, List<Written> written) {
    assertThat(read).hasSameSizeAs(written);
    long offset = trace.clock().offsetSeconds() * NANOS + trace.clock().offsetTicks();
    for (int i = 0; i < written.size(); i++) {
      Written expected = written.get(i);
      Babeltrace.Event event = read.get(i);
      assertThat(event.nanos()).isEqualTo(offset + expected.time);
      assertThat(event.cpu()).isEqualTo(expected.cpu);
      assertThat(event.level()).isEqualTo(expected.type.level());
      String name = expected.type.fullName().replaceAll("\\p{Cntrl}", "\ufffd");
      assertThat(event.name()).isEqualTo(RandomEvents.legible(name));
      RandomEvents.check(event.context(), trace.context(), expected.context);
      RandomEvents.check(event.fields(), expected.type.fields(), expected.values);
    }
  }

  @Test
  void randomTypesAndValuesOnTwoCpusWhileTypesAreAdded() throws Exception {
    for (int seed = 0; seed < 4; seed++) {
      Path traceFolder = folder.resolve("trace" + seed);
      RandomEvents events = new RandomEvents(seed);
      Random random = new Random(seed);
      TraceDescription trace = TraceDescription.ofThisProcess("random", events.fields(3));
      long begin = System.nanoTime();
      List<EventType> types = new ArrayList<>();
      List<Written> written = new ArrayList<>();
      try (Metadata metadata = Metadata.create(traceFolder, trace);
          Stream zero = new Stream(traceFolder, trace, 0, 4096, begin);
          Stream one = new Stream(traceFolder, trace, 1, 4000, begin)) {
        long time = begin;
        for (int i = 0; i < 3000; i++) {
          if (random.nextInt(30) == 0 || types.isEmpty()) {
            EventType type = events.type(types.size() * (1 + seed));
            metadata.add(type);
            types.add(type);
          }
          time += step(random);
          EventType type = types.get(random.nextInt(types.size()));
          Object[] context = events.values(trace.context());
          Stream stream = random.nextInt(4) == 0 ? one : zero;
          stream.write(type, time, context, events.values(type.fields()));
          written.add(stream.written.getLast());
        }
        assertThat(zero.lost + one.lost).isZero();
      }
      Babeltrace.Reading reading = Babeltrace.read(traceFolder);
      assertThat(reading.warnings()).isEmpty();
      check(reading.events(), trace, written);
    }
  }

  /** Now and then on either side of what a short header can express. */
  private static long step(Random random) {
    return switch (random.nextInt(20)) {
      case 0 -> (1L << 27) - 1;
      case 1 -> 1L << 27;
      case 2 -> (1L << 27) + 1;
      case 3 -> 10 * NANOS;
      case 4 -> (1L << 28) - 1;
      default -> 1 + random.nextInt(10_000);
    };
  }

  @Test
  void emptyStringsAreEmpty() throws Exception {
    Babeltrace.assumePython();
    TraceDescription trace = trace();
    EventType type = type(0, Field.text("s"));
    StringBuilder expected = new StringBuilder();
    try (Metadata metadata = Metadata.create(folder, trace);
        Stream stream = new Stream(folder, trace, 0, 4096, 1)) {
      metadata.add(type);
      for (int i = 0; i < 80; i++) {
        stream.write(type, 2 + i, NONE, i < 40 ? "abc" : "");
        expected.append(i < 40 ? 3 : 0).append('\n');
      }
    }
    String script =
        """
        import bt2, sys
        for m in bt2.TraceCollectionMessageIterator(sys.argv[1]):
            if type(m) is bt2._EventMessageConst:
                print(len(m.event['s']))
        """;
    Path out = folder.resolveSibling("lengths.txt");
    Path err = folder.resolveSibling("lengths.err");
    List<String> command = List.of("/usr/bin/python3", "-c", script, folder.toString());
    assertThat(Babeltrace.run(command, out, err)).isEqualTo(expected.toString());
  }

  /** Not longer, since the reader's time grows with the square of the length. */
  @Test
  void aStringOf330Kilobytes() throws Exception {
    TraceDescription trace = trace();
    EventType type = type(0, Field.text("s"), Field.signed("behind", 32));
    String text = "\u65e5\u672cx\ud83d\ude00".repeat(30_000);
    List<Written> written;
    try (Metadata metadata = Metadata.create(folder, trace);
        Stream stream = new Stream(folder, trace, 0, 2 << 20, 1)) {
      metadata.add(type);
      stream.write(type, 2, NONE, text, 7L);
      stream.write(type, 3, NONE, text + "y", 8L);
      written = stream.written;
    }
    check(Babeltrace.read(folder).events(), trace, written);
  }

  @Test
  void seventyThousandEventTypes() throws Exception {
    TraceDescription trace = trace();
    List<EventType> types = IntStream.range(0, 70_000).mapToObj(id -> type(id)).toList();
    List<Written> written;
    try (Metadata metadata = Metadata.create(folder, trace);
        Stream stream = new Stream(folder, trace, 0, 64 << 10, 1)) {
      metadata.addAll(types);
      for (EventType type : types) {
        stream.write(type, stream.last + 1, NONE);
      }
      written = stream.written;
    }
    check(Babeltrace.read(folder).events(), trace, written);
  }

  @Test
  void manySmallPacketsSomeOfThemEmptyAndAStreamWithoutAny() throws Exception {
    TraceDescription trace = trace();
    EventType type = type(0, Field.signed("n", 64));
    List<Written> written;
    try (Metadata metadata = Metadata.create(folder, trace);
        Stream stream = new Stream(folder, trace, 5, 120, 1);
        StreamFile _ = StreamFile.create(folder, 6)) {
      metadata.add(type);
      for (long i = 0; i < 5000; i++) {
        stream.write(type, 10 + i, NONE, i);
        if (i % 7 == 0) {
          stream.next();
          stream.next();
        }
      }
      written = stream.written;
    }
    Babeltrace.Reading reading = Babeltrace.read(folder);
    assertThat(reading.warnings()).isEmpty();
    check(reading.events(), trace, written);
  }

  @Test
  void aTraceWithoutAnyPacket() throws Exception {
    TraceDescription trace = trace();
    try (Metadata _ = Metadata.create(folder, trace);
        StreamFile _ = StreamFile.create(folder, 0)) {
      assertThat(Babeltrace.read(folder).events()).isEmpty();
    }
  }

  @Test
  void lossesAndMissingPacketsAreSeen() throws Exception {
    TraceDescription trace = trace();
    EventType type = type(0, Field.text("s"));
    List<Written> written;
    try (Metadata metadata = Metadata.create(folder, trace);
        Stream stream = new Stream(folder, trace, 0, 256, 1)) {
      metadata.add(type);
      stream.write(type, 10, NONE, "a");
      stream.next();
      for (int i = 0; i < 5; i++) {
        stream.write(type, 20 + i, NONE, "too large".repeat(100));
      }
      stream.write(type, 30, NONE, "b");
      stream.next();
      stream.writer.close(40, stream.lost); // as when the disk is full
      stream.writer.open(50);
      stream.write(type, 60, NONE, "c");
      written = stream.written;
    }
    Babeltrace.Reading reading = Babeltrace.read(folder);
    check(reading.events(), trace, written);
    assertThat(reading.warnings())
        .containsOnlyOnce("discarded 5 events")
        .containsOnlyOnce("discarded 1 packet");
  }

  @Test
  void tracesOfOneClockMergeByTime() throws Exception {
    Clock clock = Clock.monotonic();
    long begin = System.nanoTime();
    EventType type = type(0, Field.signed("n", 64));
    Path[] folders = {folder.resolve("a"), folder.resolve("b")};
    for (int t = 0; t < 2; t++) {
      Map<String, Object> environment = TraceDescription.environment("merge");
      // The second one's clock has no id: the tracer's name has to make it absolute.
      Clock own =
          t == 0
              ? clock
              : new Clock(UUID.randomUUID(), NANOS, clock.offsetSeconds(), clock.offsetTicks());
      TraceDescription trace = new TraceDescription(UUID.randomUUID(), own, environment, List.of());
      try (Metadata metadata = Metadata.create(folders[t], trace);
          Stream stream = new Stream(folders[t], trace, t, 4096, begin)) {
        metadata.add(type);
        for (long n = t; n < 2000; n += 2) {
          stream.write(type, begin + n * 100_000, NONE, n);
        }
      }
    }
    List<Babeltrace.Event> events = Babeltrace.read(folders).events();
    assertThat(events).hasSize(2000);
    for (int n = 0; n < 2000; n++) {
      assertThat(events.get(n).fields()).containsEntry("n", BigInteger.valueOf(n));
      assertThat(events.get(n).cpu()).isEqualTo(n % 2);
    }
  }

  @Test
  void aClockOfAnotherFrequency() throws Exception {
    Clock clock = new Clock(null, 3_000_000_000L, 1_800_000_000L, 2_999_999_998L);
    TraceDescription trace =
        new TraceDescription(
            UUID.randomUUID(), clock, TraceDescription.environment("fast"), List.of());
    EventType type = type(0);
    try (Metadata metadata = Metadata.create(folder, trace);
        Stream stream = new Stream(folder, trace, 0, 4096, 0)) {
      metadata.add(type);
      stream.write(type, 1, NONE);
      stream.write(type, 3_000_000_001L, NONE);
    }
    List<Babeltrace.Event> events = Babeltrace.read(folder).events();
    assertThat(events.stream().map(Babeltrace.Event::nanos))
        .as("the reader rounds down")
        .containsExactly(1_800_000_001L * NANOS - 1, 1_800_000_002L * NANOS - 1);
  }

  @Test
  void whatRecoveryLeavesIsRead() throws Exception {
    TraceDescription trace = trace();
    EventType type = type(0, Field.signed("n", 64));
    List<Written> written;
    try (Metadata metadata = Metadata.create(folder, trace);
        Stream stream = new Stream(folder, trace, 0, 120, 1)) {
      metadata.add(type);
      metadata.add(type(1));
      for (long i = 0; i < 10; i++) {
        stream.write(type, 10 + i, NONE, i);
      }
      written = stream.written;
    }
    cut(folder.resolve("metadata"), 10);
    cut(folder.resolve("channel0_0"), 20);
    StreamFile.recover(folder, 0, Metadata.recover(folder)).close();
    // Three events each, and the last packet is gone.
    check(Babeltrace.read(folder).events(), trace, written.subList(0, 9));
  }

  private static void cut(Path file, int bytes) throws IOException {
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, whole.length - bytes));
  }
}
