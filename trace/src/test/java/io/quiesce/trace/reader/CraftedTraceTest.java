package io.quiesce.trace.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.ctf.Babeltrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces as neither this project nor LTTng writes them, made bit by bit. */
class CraftedTraceTest {
  private static final String METADATA =
      """
      /* CTF 1.8 */
      typealias integer { size = 1; align = 1; } := bit;
      typealias integer { size = 8; } := u8;
      typealias integer { size = 16; } := u16;
      typealias integer { size = 32; } := u32;
      typealias integer { size = 64; } := u64;
      trace { major = 1; minor = 8; byte_order = ORDER;
        packet.header := struct { u32 magic; u32 stream_id; }; };
      env { hostname = "host"; };
      clock { name = c; freq = 1000; offset_s = 1000; offset = 500; };
      typealias integer { size = 27; align = 1; map = clock.c.value; } := stamp;
      stream { id = 9;
        packet.context := struct {
          integer { size = 64; map = clock.c.value; } timestamp_begin;
          integer { size = 64; map = clock.c.value; } timestamp_end;
          u32 content_size; u32 packet_size; u16 cpu_id; };
        event.header := struct {
          enum : integer { size = 5; align = 1; } { brief = 0 ... 30, full = 31 } id;
          variant <id> {
            struct { stamp timestamp; } brief;
            struct { u32 id; integer { size = 64; map = clock.c.value; } timestamp; } full;
          } v; } align(8);
        event.context := struct { u32 _vpid; u32 _count; }; };
      event { name = "bits"; id = 1; stream_id = 9; loglevel = 3;
        context := struct { u8 _own; };
        fields := struct {
          bit _one;
          integer { size = 3; align = 1; signed = true; } _three;
          integer { size = 33; align = 1; } _wide;
          integer { size = 63; align = 1; signed = true; } _nine;
          u16 _aligned;
          integer { size = 32; align = 32; byte_order = be; } _big;
          integer { size = 32; byte_order = le; } _little;
        }; };
      event { name = "deep"; id = 4000; stream_id = 9;
        fields := struct {
          struct { u8 n; string s; } _structs[2];
          u8 _len;
          struct { u8 _k; u16 _inner[_k]; string _texts[_k]; } _list[_len];
          integer { size = 4; align = 1; } _nibbles[3][2];
          enum : u8 { a, b = 7 ... 9, c = 200 } _which;
          variant <_which> { u16 a; string b; struct { u8 x; u8 y; } c; } _choice;
          u8 _far[stream.event.context._count];
        }; };
      """;

  @TempDir Path folder;

  private void write(boolean bigEndian, BitWriter... packets) throws IOException {
    String order = bigEndian ? "be" : "le";
    Files.writeString(folder.resolve("metadata"), METADATA.replace("ORDER", order));
    for (int i = 0; i < packets.length; i++) {
      Files.write(folder.resolve("stream" + i), packets[i].bytes());
    }
  }

  private static BitWriter head(boolean bigEndian, int bits, int cpu) {
    return new BitWriter(bigEndian)
        .u(32, 0xc1fc1fc1)
        .u(32, 9)
        .u(64, 100)
        .u(64, 1L << 40)
        .u(32, bits)
        .u(32, (bits + 7L) & -8L)
        .u(16, cpu);
  }

  private static void bits(BitWriter to, long time, long wide) {
    to.align(8).u(5, 1).u(27, time).u(32, 77).u(32, 3).u(8, 9).align(32);
    to.u(1, 1).u(3, -2).u(33, wide).u(63, -wide).align(8).u(16, 0xabcd);
    to.align(32);
    for (int i = 0; i < 4; i++) {
      to.u(8, 0x12 + i);
    }
    for (int i = 0; i < 4; i++) {
      to.u(8, 0x12 + i);
    }
  }

  private static void deep(BitWriter to, long time, int which) {
    to.align(8).u(5, 31).align(8).u(32, 4000).u(64, time).u(32, 78).u(32, 2);
    to.u(8, 1).text("x").u(8, 2).text("");
    to.u(8, 3);
    for (int k = 0; k < 3; k++) {
      to.u(8, k);
      for (int i = 0; i < k; i++) {
        to.u(16, 1000 + k);
      }
      for (int i = 0; i < k; i++) {
        to.text("t" + i);
      }
    }
    for (int i = 1; i <= 6; i++) {
      to.u(4, i);
    }
    to.align(8).u(8, which);
    switch (which) {
      case 0 -> to.u(16, 4321);
      case 200 -> to.u(8, 5).u(8, 6);
      default -> to.text("chosen");
    }
    to.u(8, 41).u(8, 42);
  }

  private void sample(boolean bigEndian) throws IOException {
    BitWriter[] packets = new BitWriter[2];
    for (int cpu = 0; cpu < 2; cpu++) {
      int bits = 0;
      for (int pass = 0; pass < 2; pass++) {
        BitWriter to = head(bigEndian, bits, cpu);
        bits(to, 150 + cpu, 0x1_2345_6789L);
        deep(to, 200 + cpu, 0);
        deep(to, 0x800_0010L + cpu, 8);
        // 27 bits that are smaller than those of the time before: the clock has turned over.
        bits(to, 5 + cpu, 0x0_ffff_0001L);
        deep(to, 0x1000_0010L + cpu, 200);
        bits = to.bits();
        packets[cpu] = to.align(8);
      }
    }
    write(bigEndian, packets);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void bitFieldsListsChoicesAndPathsInBothOrders(boolean bigEndian) throws Exception {
    sample(bigEndian);
    List<Event> events = TraceReaderTest.readAll(folder);
    assertThat(events).hasSize(10);
    assertThat(events.stream().map(Event::ticks))
        .containsExactly(
            150L,
            151L,
            200L,
            201L,
            0x800_0010L,
            0x800_0011L,
            0x1000_0005L,
            0x1000_0006L,
            0x1000_0010L,
            0x1000_0011L);
    Event first = events.get(1);
    assertThat(first.timeNanos()).isEqualTo(1_000_651_000_000L);
    assertThat(first.cpu()).isEqualTo(1);
    assertThat(first.level()).isEqualTo(3);
    assertThat(first.vpid()).isEqualTo(77);
    assertThat(first.context()).hasToString("{ own = 9 }");
    assertThat(first.fields())
        .hasToString(
            "{ one = 1, three = -2, wide = 4886718345, nine = -4886718345, aligned = 43981,"
                + " big = 303240213, little = 353637138 }");
    Event deep = events.get(4);
    assertThat(deep.level()).isEqualTo(EventClass.NO_LEVEL);
    Value list = Objects.requireNonNull(deep.field("list"));
    assertThat(list.size()).isEqualTo(3);
    Value inner = Objects.requireNonNull(list.at(2).field("inner"));
    assertThat(inner.longAt(1)).isEqualTo(1002);
    Value choice = Objects.requireNonNull(deep.field("choice"));
    assertThat(choice.chosenName()).isEqualTo("b");
    assertThat(choice.asText()).isEqualTo("chosen");
    assertThat(deep.fields())
        .hasToString(
            "{ structs = [ [0] = { n = 1, s = \"x\" }, [1] = { n = 2, s = \"\" } ], len = 3,"
                + " list = [ [0] = { k = 0, inner = [ ], texts = [ ] },"
                + " [1] = { k = 1, inner = [ [0] = 1001 ], texts = [ [0] = \"t0\" ] },"
                + " [2] = { k = 2, inner = [ [0] = 1002, [1] = 1002 ],"
                + " texts = [ [0] = \"t0\", [1] = \"t1\" ] } ],"
                + " nibbles = [ [0] = [ [0] = 1, [1] = 2 ], [1] = [ [0] = 3, [1] = 4 ],"
                + " [2] = [ [0] = 5, [1] = 6 ] ], which = ( \"b\" : container = 8 ),"
                + " choice = { \"chosen\" }, far = [ [0] = 41, [1] = 42 ] }");
    assertThat(Objects.requireNonNull(events.get(8).field("choice")).field("y")).hasToString("6");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void babeltraceReadsThemAlike(boolean bigEndian) throws Exception {
    Babeltrace.assumeInstalled();
    sample(bigEndian);
    assertThat(TraceReaderTest.lines(folder)).isEqualTo(TraceReaderTest.babeltraceLines(folder));
  }

  private void rejected(String fields, BitWriter events, String message) throws IOException {
    String metadata =
        "trace { major = 1; minor = 8; byte_order = le; };\n"
            + "typealias integer { size = 64; } := u64;\n"
            + "stream { packet.context := struct { u64 content_size; u64 packet_size; };\n"
            + " event.header := struct { integer { size = 8; } id; }; };\n"
            + "event { id = 1; fields := struct { "
            + fields
            + " }; };";
    Files.writeString(folder.resolve("metadata"), metadata);
    long bits = 128L + events.bits();
    BitWriter packet = new BitWriter(false).u(64, bits).u(64, bits);
    byte[] head = packet.bytes();
    byte[] whole = java.util.Arrays.copyOf(head, head.length + events.bytes().length);
    System.arraycopy(events.bytes(), 0, whole, head.length, events.bytes().length);
    Files.write(folder.resolve("s"), whole);
    assertThatThrownBy(() -> TraceReaderTest.readAll(folder))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining(message);
    try (TraceReader reader = TraceReader.openLenient(folder)) {
      while (reader.next()) {
        assertThat(reader.event().name()).isEqualTo("unnamed");
      }
      assertThat(reader.problemCount()).isPositive();
    }
  }

  private static BitWriter event() {
    return new BitWriter(false).u(8, 1);
  }

  @Test
  void hostileListsAreRefused() throws Exception {
    rejected("u64 n; u64 a[n];", event().u(64, -1), "is longer than its packet");
    rejected("u64 n; u64 a[n];", event().u(64, 1L << 61), "is longer than its packet");
    rejected("u64 n; u64 a[n];", event().u(64, 2).u(64, 1), "is longer than its packet");
    rejected("struct { } a[2000000000];", event(), "is not read");
    rejected("struct { } a[1000][1000][1000];", event(), "is not read");
    rejected("struct { } a[100000];", event(), "without content");
    rejected("u64 n; string a[n];", event().u(64, 1L << 32), "is not read");
    rejected("u64 n; string a[n];", event().u(64, 3).text("x"), "no end in its packet");
    rejected("string a;", event().u(16, 0x4141), "no end in its packet");
    rejected("u64 a;", event().u(16, 0x4141), "ends within a value");
  }

  @Test
  void aChoiceThatNothingChoosesIsRefused() throws Exception {
    rejected(
        "enum : integer { size = 8; } { a, b } t; variant <t> { u64 a; } v;",
        event().u(8, 1),
        "no choice");
  }

  @Test
  void packetsThatLieAboutTheirSize() throws Exception {
    sample(false);
    Path file = folder.resolve("stream0");
    byte[] sound = Files.readAllBytes(file);
    for (long size : new long[] {0, 8, 12, 1L << 32}) {
      for (int at : new int[] {24, 28}) {
        byte[] bytes = sound.clone();
        for (int i = 0; i < 4; i++) {
          bytes[at + i] = (byte) (size == 1L << 32 ? 0xf8 : size >>> (8 * i));
        }
        Files.write(file, bytes);
        assertThatThrownBy(() -> TraceReaderTest.readAll(folder))
            .as("%d at %d", size, at)
            .isInstanceOf(TraceFormatException.class)
            .hasMessageContaining("claims");
      }
    }
  }
}
