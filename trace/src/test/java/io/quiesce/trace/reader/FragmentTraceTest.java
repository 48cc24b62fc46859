package io.quiesce.trace.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.TraceFormat;
import io.quiesce.trace.ctf.Babeltrace;
import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ctf.FieldType;
import io.quiesce.trace.ctf.RandomEvents;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces in CTF 2 of the own writer: what they hold, and that their events are those of 1.8. */
class FragmentTraceTest {
  @TempDir Path folder;

  /** Writes what the seed makes, in one format. */
  private SampleTrace random(int seed, TraceDescription trace) throws IOException {
    RandomEvents kit = new RandomEvents(seed);
    Random random = new Random(seed);
    Path target = folder.resolve(trace.format() + "-" + seed);
    SampleTrace sample = new SampleTrace(target, trace, 2, 4096, 1_000_000);
    try (sample) {
      List<EventType> types = new ArrayList<>();
      long time = 1_000_000;
      for (int i = 0; i < 1500; i++) {
        if (types.isEmpty() || random.nextInt(30) == 0) {
          types.add(kit.type(types.size() * (1 + seed)));
          sample.add(types.getLast());
        }
        int far = random.nextInt(20);
        time += far == 0 ? (1L << 27) - 1 + random.nextInt(3) : 1 + random.nextInt(10_000);
        EventType type = types.get(random.nextInt(types.size()));
        Object[] context = kit.values(sample.context());
        sample.write(random.nextInt(2), type, time, context, kit.values(type.fields()));
      }
    }
    return sample;
  }

  private static void assertSameStreams(Path one, Path other) throws IOException {
    try (Stream<Path> files = Files.walk(one)) {
      List<Path> all = files.filter(Files::isRegularFile).toList();
      assertThat(all).hasSizeGreaterThan(2);
      for (Path file : all) {
        if (!file.endsWith("metadata")) {
          assertThat(other.resolve(one.relativize(file))).hasSameBinaryContentAs(file);
        }
      }
    }
  }

  @Test
  void randomTypesAndValuesInTheBytesOfTheOlderFormat() throws Exception {
    for (int seed = 0; seed < 5; seed++) {
      List<Field> context = new RandomEvents(1000 + seed).fields(3);
      TraceDescription trace = TraceDescription.ofThisProcess("random", context);
      SampleTrace older = random(seed, trace);
      SampleTrace sample = random(seed, trace.in(TraceFormat.CTF_2));
      assertSameStreams(older.folder(), sample.folder());
      List<Event> read = TraceReaderTest.readAll(sample.folder());
      assertThat(read).hasSameSizeAs(sample.written());
      for (int i = 0; i < read.size(); i++) {
        check(read.get(i), sample, sample.written().get(i));
      }
      assertSameSchema(older.folder(), sample.folder());
    }
  }

  private static void check(Event event, SampleTrace trace, SampleTrace.Written expected) {
    assertThat(event.timeNanos()).isEqualTo(trace.epoch(expected.time()));
    assertThat(event.cpu()).isEqualTo(expected.cpu());
    assertThat(event.level()).isEqualTo(expected.type().level());
    String name = expected.type().fullName().replaceAll("\\p{Cntrl}", "\ufffd");
    assertThat(event.name()).isEqualTo(RandomEvents.legible(name));
    RandomEvents.check(
        SampleTrace.plain(event.fields()),
        expected.type().fields(),
        expected.values(),
        TraceFormat.CTF_2);
    RandomEvents.check(
        SampleTrace.plain(event.streamContext()),
        trace.context(),
        expected.context(),
        TraceFormat.CTF_2);
  }

  private static void assertSameSchema(Path older, Path newer) throws IOException {
    try (TraceReader one = TraceReader.open(older);
        TraceReader two = TraceReader.open(newer)) {
      TraceSchema expected = one.traces().getFirst().schema();
      TraceSchema schema = two.traces().getFirst().schema();
      assertThat(schema.uuid()).isEqualTo(expected.uuid());
      assertThat(schema.environment()).isEqualTo(expected.environment());
      assertThat(schema.clocks()).isEqualTo(expected.clocks());
      assertThat(schema.streams().keySet()).isEqualTo(expected.streams().keySet());
    }
  }

  /** Plain names, so that both formats show them alike. */
  private SampleTrace plain(TraceDescription trace) throws IOException {
    EventType type =
        new EventType(
            3,
            "shop",
            "order",
            9,
            List.of(
                Field.signed("qty", 32),
                Field.hex("address", 64),
                Field.real("price", 64),
                Field.text("symbol"),
                new Field("state", FieldType.Enumeration.of(List.of("open", "done"))),
                Field.array("pair", new FieldType.Int(16, false, 10), 2),
                Field.sequence("rest", new FieldType.Real(32)),
                Field.bytes("raw")));
    SampleTrace sample =
        new SampleTrace(folder.resolve("plain" + trace.format()), trace, 1, 4096, 10);
    try (sample) {
      sample.add(type);
      for (int i = 0; i < 100; i++) {
        sample.write(
            0,
            type,
            20L + i,
            new Object[] {(long) i},
            (long) -i,
            0xfeedL + i,
            i / 3.0,
            "Q" + i,
            (long) (i % 3),
            new long[] {i, 7},
            new double[i % 4],
            new long[] {i & 0xff});
      }
      sample.next(0, 5);
    }
    return sample;
  }

  private static List<String> lines(Path trace) throws IOException {
    List<String> lines = new ArrayList<>();
    TraceText text = new TraceText();
    try (TraceReader reader = TraceReader.open(trace)) {
      TraceStatistics.Counter counter = new TraceStatistics.Counter();
      while (reader.next()) {
        lines.add(text.line(reader.event()));
        counter.add(reader.event());
      }
      TraceStatistics statistics = counter.result(reader.streams());
      lines.add(statistics.events() + " events");
      for (TraceStream stream : reader.streams()) {
        lines.add(stream.cpu() + " " + stream.packets() + " " + stream.lostBefore());
        lines.add(String.valueOf(Objects.requireNonNull(stream.packet()).sequence()));
      }
    }
    return lines;
  }

  @Test
  void theTextIsTheSame() throws Exception {
    TraceDescription trace =
        TraceDescription.ofThisProcess("plain", List.of(Field.signed("vtid", 32)));
    List<String> older = lines(plain(trace).folder());
    List<String> newer = lines(plain(trace.in(TraceFormat.CTF_2)).folder());
    assertThat(newer).isEqualTo(older).hasSize(103);
    assertThat(newer.getFirst()).contains("shop:order", "qty = 0", "_rest_length = 0");
  }

  @Test
  void namesStayAsTheyAre() throws Exception {
    TraceDescription trace = TraceDescription.ofThisProcess("n", List.of()).in(TraceFormat.CTF_2);
    List<Field> fields =
        List.of(
            Field.signed("gr\u00f6\u00dfe", 8),
            Field.signed("a b.c", 8),
            Field.signed("a b.c", 8),
            Field.signed("", 8),
            Field.signed("_x", 8),
            Field.signed("x", 8),
            Field.sequence("event.fields", new FieldType.Int(8, false, 10)),
            Field.signed("n".repeat(300), 8));
    SampleTrace sample = new SampleTrace(folder.resolve("names"), trace, 1, 4096, 10);
    try (sample) {
      EventType type = new EventType(0, "p", "e", 6, fields);
      sample.add(type);
      sample.write(0, type, 11, new Object[0], 1L, 2L, 3L, 4L, 5L, 6L, new long[] {7, 8}, 9L);
    }
    Value read = TraceReaderTest.readAll(sample.folder()).getFirst().fields();
    assertThat(SampleTrace.plain(read).keySet())
        .containsExactly(
            "gr\u00f6\u00dfe",
            "a b.c",
            "a b.c_2",
            "",
            "_x",
            "x",
            "_event.fields_length",
            "event.fields",
            "n".repeat(255));
    assertThat(Objects.requireNonNull(read.field("event.fields")).longAt(1)).isEqualTo(8);
  }

  /** A lenient reader has the event types before the cut, a strict one says where it is. */
  @Test
  void metadataThatIsCutOff() throws Exception {
    TraceDescription trace =
        TraceDescription.ofThisProcess("plain", List.of(Field.signed("vtid", 32)));
    SampleTrace sample = plain(trace.in(TraceFormat.CTF_2));
    Path metadata = sample.folder().resolve("metadata");
    byte[] whole = Files.readAllBytes(metadata);
    int last =
        new String(whole, java.nio.charset.StandardCharsets.ISO_8859_1).lastIndexOf('\u001e');
    for (int length = last + 2; length < whole.length - 1; length++) {
      Files.write(metadata, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> TraceReader.open(sample.folder()))
          .isInstanceOf(TraceFormatException.class)
          .hasMessageStartingWith(metadata + ", byte ");
      try (TraceReader reader = TraceReader.openLenient(sample.folder())) {
        assertThat(reader.problemCount()).isEqualTo(1);
        assertThat(reader.traces().getFirst().schema().streams()).hasSize(1);
      }
    }
  }

  @Test
  void babeltraceReadsThem() throws Exception {
    Babeltrace.assumeReadsFragments();
    TraceDescription trace =
        TraceDescription.ofThisProcess("plain", List.of(Field.signed("vtid", 32)));
    Babeltrace.Reading older = Babeltrace.read(plain(trace).folder());
    Babeltrace.Reading newer = Babeltrace.read(plain(trace.in(TraceFormat.CTF_2)).folder());
    assertThat(newer.warnings()).isEqualTo(older.warnings());
    assertThat(newer.events()).isEqualTo(older.events()).hasSize(100);
    for (int seed = 0; seed < 3; seed++) {
      List<Field> context = new RandomEvents(1000 + seed).fields(3);
      TraceDescription described =
          TraceDescription.ofThisProcess("random", context).in(TraceFormat.CTF_2);
      SampleTrace sample = random(seed, described);
      assertThat(Babeltrace.read(sample.folder()).events()).hasSameSizeAs(sample.written());
    }
  }
}
