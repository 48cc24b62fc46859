package io.quiesce.trace.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.quiesce.trace.ctf.Babeltrace;
import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ctf.FieldType;
import io.quiesce.trace.ctf.RandomEvents;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written is read, and what is damaged is told. */
class TraceReaderTest {
  private static final Object[] NONE = {};

  @TempDir Path folder;

  private static EventType type(int id, Field... fields) {
    return new EventType(id, "p", "e" + id, 6, List.of(fields));
  }

  private static TraceDescription trace(Field... context) {
    return TraceDescription.ofThisProcess("reader test", List.of(context));
  }

  /** Copies of all events, and a check that the views said the same. */
  static List<Event> readAll(Path folder) throws IOException {
    try (TraceReader reader = TraceReader.open(folder)) {
      return readAll(reader);
    }
  }

  private static List<Event> readAll(TraceReader reader) throws IOException {
    List<Event> events = new ArrayList<>();
    TraceText text = new TraceText();
    while (reader.next()) {
      Event copy = reader.event().copy();
      assertThat(text.line(copy)).isEqualTo(text.line(reader.event()));
      events.add(copy);
    }
    assertThat(reader.next()).isFalse();
    assertThatThrownBy(reader::event).isInstanceOf(IllegalStateException.class);
    return events;
  }

  private static void check(Event event, SampleTrace trace, SampleTrace.Written expected) {
    assertThat(event.timeNanos()).isEqualTo(trace.epoch(expected.time()));
    assertThat(event.ticks()).isEqualTo(expected.time());
    assertThat(event.cpu()).isEqualTo(expected.cpu());
    assertThat(event.level()).isEqualTo(expected.type().level());
    String name = expected.type().fullName().replaceAll("\\p{Cntrl}", "\ufffd");
    assertThat(event.name()).isEqualTo(RandomEvents.legible(name));
    RandomEvents.check(
        SampleTrace.plain(event.fields()), expected.type().fields(), expected.values());
    checkExactly(event.fields(), expected);
  }

  /** The kit is made for a reader that shows six digits and no empty texts. */
  private static void checkExactly(Value fields, SampleTrace.Written expected) {
    int at = 0;
    for (int i = 0; i < expected.values().size(); i++) {
      FieldType type = expected.type().fields().get(i).type();
      at += type instanceof FieldType.Sequence ? 1 : 0;
      Value read = fields.at(at++);
      Object value = expected.values().get(i);
      switch (type) {
        case FieldType.Text _ ->
            assertThat(read.asText()).isEqualTo(RandomEvents.legible((String) value));
        case FieldType.Real real -> checkReal(read.asDouble(), real, (Double) value);
        case FieldType.Array(FieldType.Real real, int _) -> checkReals(read, real, value);
        case FieldType.Sequence(FieldType.Real real) -> checkReals(read, real, value);
        default -> {
          // The kit is exact.
        }
      }
    }
  }

  private static void checkReals(Value read, FieldType.Real type, Object values) {
    for (int i = 0; i < read.size(); i++) {
      checkReal(read.doubleAt(i), type, Array.getDouble(values, i));
    }
  }

  private static void checkReal(double read, FieldType.Real type, double value) {
    assertThat(Double.valueOf(read))
        .isEqualTo(Double.valueOf(type.bits() == 32 ? (float) value : value));
  }

  private SampleTrace random(int seed, int events) throws IOException {
    RandomEvents kit = new RandomEvents(seed);
    Random random = new Random(seed);
    SampleTrace sample =
        new SampleTrace(folder.resolve("random" + seed), trace(kit.fields(3)), 3, 4096, 1_000_000);
    try (sample) {
      List<EventType> types = new ArrayList<>();
      long time = 1_000_000;
      for (int i = 0; i < events; i++) {
        if (types.isEmpty() || random.nextInt(30) == 0) {
          types.add(kit.type(types.size() * (1 + seed)));
          sample.add(types.getLast());
        }
        int far = random.nextInt(20);
        time += far == 0 ? (1L << 27) - 1 + random.nextInt(3) : 1 + random.nextInt(10_000);
        EventType type = types.get(random.nextInt(types.size()));
        Object[] context = kit.values(sample.context());
        sample.write(random.nextInt(3), type, time, context, kit.values(type.fields()));
      }
    }
    return sample;
  }

  private static TraceDescription trace(List<Field> context) {
    return TraceDescription.ofThisProcess("random", context);
  }

  @Test
  void randomTypesAndValuesOnThreeCpus() throws Exception {
    for (int seed = 0; seed < 6; seed++) {
      SampleTrace sample = random(seed, 2000);
      List<Event> read = readAll(sample.folder());
      assertThat(read).hasSameSizeAs(sample.written());
      for (int i = 0; i < read.size(); i++) {
        SampleTrace.Written expected = sample.written().get(i);
        check(read.get(i), sample, expected);
        RandomEvents.check(
            SampleTrace.plain(read.get(i).streamContext()), sample.context(), expected.context());
      }
    }
  }

  /**
   * Values that babeltrace2 prints otherwise are left to {@link #randomTypesAndValuesOnThreeCpus}.
   */
  @Test
  void theTextIsThatOfBabeltrace() throws Exception {
    Babeltrace.assumeInstalled();
    EventType all =
        type(
            1,
            Field.signed("s8", 8),
            Field.hex("h16", 16),
            Field.unsigned("u64", 64),
            new Field("b", new FieldType.Int(8, true, 2)),
            Field.real("d", 64),
            Field.real("f", 32),
            Field.text("t"),
            new Field("e", FieldType.Enumeration.of(List.of("zero", "o\"ne"))),
            Field.array("a", new FieldType.Int(16, true, 10), 2),
            Field.bytes("q"));
    SampleTrace sample =
        new SampleTrace(
            folder, trace(Field.signed("vtid", 32), Field.text("thread")), 2, 4096, 1000);
    try (sample) {
      sample.add(all);
      sample.add(type(40));
      for (int i = 0; i < 300; i++) {
        Object[] context = {i % 7, "t\t" + i % 7};
        sample.write(
            i % 2,
            all,
            1000 + 7_654_321_098L * i,
            context,
            i - 100,
            -i,
            -i,
            i,
            i / 8.0 - 5,
            i / 4.0f,
            "a\"\\\n\u0001\u00e4 " + i,
            i % 3,
            new int[] {i, -i},
            new byte[i % 4]);
        sample.write(1 - i % 2, type(40), 1001 + 7_654_321_098L * i, context);
      }
    }
    assertThat(lines(folder)).isEqualTo(babeltraceLines(folder));
  }

  static List<String> lines(Path folder) throws IOException {
    TraceText text = new TraceText(java.time.ZoneOffset.UTC, true);
    List<String> lines = new ArrayList<>();
    try (TraceReader reader = TraceReader.open(folder)) {
      while (reader.next()) {
        lines.add(text.line(reader.event()));
      }
    }
    return lines;
  }

  static List<String> babeltraceLines(Path folder) throws Exception {
    Path out = Files.createTempFile("babeltrace", ".out");
    Path err = Files.createTempFile("babeltrace", ".err");
    try {
      return Babeltrace.run(List.of("babeltrace2", "--clock-gmt", folder.toString()), out, err)
          .lines()
          .toList();
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }

  @Test
  void fieldsByNameAndWrongQuestions() throws Exception {
    EventType type = type(1, Field.signed("n", 32), Field.text("t"), Field.real("r", 64));
    SampleTrace sample = new SampleTrace(folder, trace(Field.signed("vtid", 32)), 1, 4096, 0);
    try (sample) {
      sample.add(type);
      sample.write(0, type, 5, new Object[] {77}, 7, "text", 1.5);
    }
    Event event = readAll(folder).getFirst();
    assertThat(event.getLong("n")).isEqualTo(7);
    assertThat(event.getText("t")).isEqualTo("text");
    assertThat(event.getDouble("r")).isEqualTo(1.5);
    assertThat(event.getLong("vtid")).as("of the context").isEqualTo(77);
    assertThat(event.vtid()).isEqualTo(77);
    assertThat(event.vpid()).isEqualTo(Event.UNKNOWN);
    assertThat(event.field("none")).isNull();
    assertThat(event.packet().sequence()).isZero();
    assertThat(event.stream().trace().schema().environment("writer")).isEqualTo("quiesce");
    assertThatThrownBy(() -> event.getLong("none")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> event.getLong("t"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("This value is no number but a text");
    assertThatThrownBy(() -> event.getText("n")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void lossesAndGapsByCpu() throws Exception {
    EventType type = type(1, Field.signed("n", 32));
    SampleTrace sample = new SampleTrace(folder, trace(Field.signed("vtid", 32)), 2, 4096, 0);
    try (sample) {
      sample.add(type);
      sample.write(0, type, 1, new Object[] {5}, 1);
      sample.next(0, 3);
      sample.write(0, type, 2, new Object[] {5}, 1);
      sample.next(0, 10);
      sample.lose(0);
      sample.lose(0);
      sample.write(1, type, 3, new Object[] {6}, 1);
      sample.next(1, 0);
      sample.next(1, 4);
      sample.write(0, type, 1_000_000_001, new Object[] {5}, 1);
      sample.write(0, type, 1_000_000_001, new Object[] {6}, 1);
    }
    try (TraceReader reader = TraceReader.open(folder)) {
      TraceStatistics statistics = TraceStatistics.of(reader);
      assertThat(statistics.events()).isEqualTo(5);
      assertThat(statistics.duration()).isEqualTo(1_000_000_000);
      assertThat(statistics.rate()).isEqualTo(5.0);
      assertThat(statistics.lostEvents()).isEqualTo(7 + 4);
      assertThat(statistics.lostBefore()).isEqualTo(3);
      assertThat(statistics.lostPackets()).isEqualTo(2);
      assertThat(statistics.packets()).isEqualTo(6);
      assertThat(statistics.cpus())
          .containsExactly(
              new TraceStatistics.CpuCount(0, 4, 7, 3, 2),
              new TraceStatistics.CpuCount(1, 1, 4, 0, 0));
      assertThat(statistics.threads())
          .containsExactly(
              new TraceStatistics.ThreadCount(5, "", 3), new TraceStatistics.ThreadCount(6, "", 2));
      assertThat(statistics.types()).containsExactly(new TraceStatistics.TypeCount("p:e1", 5));
      assertThat(statistics.first()).isEqualTo(sample.epoch(1));
    }
  }

  @Test
  void tracesBelowAFolderAreReadTogether() throws Exception {
    EventType type = type(1, Field.signed("n", 32));
    TraceDescription one = trace();
    TraceDescription two =
        new TraceDescription(UUID.randomUUID(), one.clock(), one.environment(), List.of());
    List<SampleTrace> samples =
        List.of(
            new SampleTrace(folder.resolve("x/one"), one, 1, 128, 0),
            new SampleTrace(folder.resolve("x/two"), two, 1, 128, 0));
    for (int t = 0; t < 2; t++) {
      try (SampleTrace sample = samples.get(t)) {
        sample.add(type);
        for (int n = t; n < 1000; n += 2) {
          sample.write(0, type, 100L + n, NONE, n);
        }
      }
    }
    List<Event> events = readAll(folder);
    assertThat(events).hasSize(1000);
    for (int n = 0; n < 1000; n++) {
      assertThat(events.get(n).getLong("n")).isEqualTo(n);
    }
    assertThatThrownBy(() -> TraceReader.open(folder.resolve("x/none")))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("no trace");
  }

  /** As LTTng's with a limit on the size of files: one stream in several of them. */
  @Test
  void filesOfOneStreamAreOneStream() throws Exception {
    EventType type = type(1, Field.signed("n", 32));
    SampleTrace sample = new SampleTrace(folder, trace(), 1, 4096, 0);
    try (sample) {
      sample.add(type);
      for (int i = 0; i < 3; i++) {
        sample.write(0, type, 10L + i, NONE, i);
        sample.next(0, i * 5L);
      }
    }
    Path file = folder.resolve("channel0_0");
    byte[] all = Files.readAllBytes(file);
    Files.delete(file);
    int part = all.length / 4;
    // The names are in another order than the times.
    Files.write(folder.resolve("c_9"), Arrays.copyOfRange(all, 0, 2 * 96));
    Files.write(folder.resolve("c_1"), Arrays.copyOfRange(all, 2 * 96, all.length));
    assertThat(part).as("the last of the packets is empty").isLessThan(96);
    try (TraceReader reader = TraceReader.open(folder)) {
      assertThat(reader.streams()).hasSize(1);
      assertThat(reader.streams().getFirst().files())
          .containsExactly(folder.resolve("c_9"), folder.resolve("c_1"));
      assertThat(TraceStatistics.of(reader).lostEvents()).isEqualTo(10);
    }
  }

  private SampleTrace numbered(int events) throws IOException {
    EventType type = type(1, Field.signed("n", 64));
    SampleTrace sample = new SampleTrace(folder, trace(), 2, 120, 0);
    try (sample) {
      sample.add(type);
      for (int i = 0; i < events; i++) {
        sample.write(i % 2, type, 10L + i, NONE, i);
      }
    }
    return sample;
  }

  private static void cut(Path file, long bytes) throws IOException {
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, (int) (whole.length - bytes)));
  }

  @Test
  void aPacketThatIsCutOffIsToldAfterTheEventsBefore() throws Exception {
    // Three events of 12 bytes in each packet of 120 bytes.
    numbered(60);
    Path file = folder.resolve("channel0_1");
    cut(file, 20);
    List<Long> before = new ArrayList<>();
    try (TraceReader reader = TraceReader.open(folder)) {
      TraceFormatException e =
          catchThrowableOfType(
              TraceFormatException.class,
              () -> {
                while (reader.next()) {
                  before.add(reader.event().getLong("n"));
                }
              });
      assertThat(e)
          .hasMessage(file + ", byte 1080: the last packet claims 120 bytes, of which 100 exist.");
      assertThat(before).hasSize(54).last().isEqualTo(53L);
      while (reader.next()) {
        before.add(reader.event().getLong("n"));
      }
      assertThat(before).as("the rest of the other stream").hasSize(57).endsWith(54L, 56L, 58L);
    }
    try (TraceReader reader = TraceReader.openLenient(folder)) {
      List<Event> events = readAll(reader);
      assertThat(events).as("and what is whole of the packet").hasSize(58);
      assertThat(events.get(55).getLong("n")).isEqualTo(55);
      assertThat(reader.problems()).hasSize(1);
      assertThat(reader.problemCount()).isEqualTo(1);
    }
  }

  @Test
  void zerosBehindThePacketsAreTold() throws Exception {
    numbered(60);
    Path file = folder.resolve("channel0_0");
    Files.write(file, new byte[4096], java.nio.file.StandardOpenOption.APPEND);
    try (TraceReader reader = TraceReader.openLenient(folder)) {
      assertThat(readAll(reader)).hasSize(60);
      assertThat(reader.problems().getFirst())
          .hasMessage(file + ", byte 1200: no packet begins here.");
    }
  }

  @Test
  void anUnknownEventCostsALenientReaderOnePacket() throws Exception {
    numbered(60);
    Path file = folder.resolve("channel0_0");
    byte[] bytes = Files.readAllBytes(file);
    bytes[2 * 120 + 84] = 7;
    Files.write(file, bytes);
    assertThatThrownBy(() -> readAll(folder))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("unknown id 7");
    try (TraceReader reader = TraceReader.openLenient(folder)) {
      assertThat(readAll(reader)).hasSize(57);
      assertThat(reader.problemCount()).isEqualTo(1);
    }
  }

  @Test
  void aPacketOfAnotherTraceIsTold() throws Exception {
    numbered(6);
    Path file = folder.resolve("channel0_0");
    byte[] bytes = Files.readAllBytes(file);
    bytes[19] ^= 1;
    Files.write(file, bytes);
    assertThatThrownBy(() -> readAll(folder))
        .isInstanceOf(TraceFormatException.class)
        .hasMessage(file + ", byte 0: a packet is of another trace.");
  }

  @Test
  void aLargePacketIsMapped() throws Exception {
    EventType type = type(1, Field.text("s"));
    SampleTrace sample = new SampleTrace(folder, trace(), 1, 24 << 20, 0);
    String text = "x".repeat(1 << 20);
    try (sample) {
      sample.add(type);
      for (int i = 0; i < 20; i++) {
        sample.write(0, type, 10L + i, NONE, text + i);
      }
    }
    try (TraceReader reader = TraceReader.open(folder)) {
      for (int i = 0; i < 20; i++) {
        assertThat(reader.next()).isTrue();
        assertThat(reader.event().getText("s")).isEqualTo(text + i);
      }
      assertThat(reader.next()).isFalse();
    }
  }

  @Test
  void aTraceWithoutEventsAndCpusInOrderOfNumbers() throws Exception {
    SampleTrace sample = new SampleTrace(folder, trace(), 12, 4096, 0);
    sample.close();
    try (TraceReader reader = TraceReader.open(folder)) {
      TraceStatistics statistics = TraceStatistics.of(reader);
      assertThat(statistics.events()).isZero();
      assertThat(statistics.rate()).isZero();
      assertThat(reader.streams().stream().map(TraceStream::cpu))
          .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    }
  }
}
