package io.quiesce.trace.reader;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The language of the metadata. */
class SchemaParserTest {
  private static final Path FILE = Path.of("folder", "metadata");
  private static final UUID ID = new UUID(0x0123456789abcdefL, 0x8123456789abcdefL);
  private static final String TRACE =
      "trace { major = 1; minor = 8; uuid = \"" + ID + "\"; byte_order = be; };\n";

  private static TraceSchema parse(String text) throws TraceFormatException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return SchemaParser.parse(MetadataText.of(FILE, bytes, Damage.STRICT), Damage.STRICT);
  }

  private static EventClass event(TraceSchema schema, long stream, long id) {
    return requireNonNull(requireNonNull(schema.streams().get(stream)).event(id));
  }

  /** The fields of one event. */
  private static Type.Struct fields(String declarations) throws TraceFormatException {
    TraceSchema schema =
        parse(TRACE + "event { name = e; fields := struct {" + declarations + "}; };");
    EventClass event = event(schema, 0L, 0);
    return event.fields();
  }

  private static Type field(String declaration) throws TraceFormatException {
    return fields(declaration).fields().getFirst().type();
  }

  @Test
  void integersWithAllAttributesAndWithout() throws Exception {
    assertThat(field("integer { size = 5; } a;"))
        .isEqualTo(new Type.Int(5, 1, false, 10, true, false, null));
    assertThat(field("integer { size = 0x10; } a;"))
        .isEqualTo(new Type.Int(16, 8, false, 10, true, false, null));
    assertThat(
            field(
                "integer { size = 8; align = 32; signed = true; base = hex; encoding = UTF8;"
                    + " byte_order = le; map = clock.m.value; } a;"))
        .isEqualTo(new Type.Int(8, 32, true, 16, false, true, "m"));
    for (String base : List.of("8", "octal", "o")) {
      assertThat(((Type.Int) field("integer { size = 8; base = " + base + "; } a;")).base())
          .isEqualTo(8);
    }
    assertThat(((Type.Int) field("integer { size = 8; signed = 1; } a;")).signed()).isTrue();
    assertThat(((Type.Int) field("integer { size = 8; signed = 0; } a;")).signed()).isFalse();
  }

  @Test
  void theByteOrderHoldsForWhatIsDeclaredBeforeIt() throws Exception {
    TraceSchema schema =
        parse(
            "typealias integer { size = 32; byte_order = native; } := u32;\n"
                + TRACE
                + "event { name = e; fields := struct { u32 a; }; };");
    EventClass event = event(schema, 0L, 0);
    assertThat(((Type.Int) event.fields().fields().getFirst().type()).bigEndian()).isTrue();
    assertThat(schema.uuid()).isEqualTo(ID);
  }

  @Test
  void enumerationsCountOnAndHaveRanges() throws Exception {
    Type.Enumeration type =
        (Type.Enumeration)
            field(
                "enum : integer { size = 8; signed = true; }"
                    + " { A, B = -3, \"c d\", E = 0x10 ... 20, F, G = 18, } e;");
    assertThat(type.labels())
        .containsExactly(
            new Type.Label("A", 0, 0),
            new Type.Label("B", -3, -3),
            new Type.Label("c d", -2, -2),
            new Type.Label("E", 16, 20),
            new Type.Label("F", 21, 21),
            new Type.Label("G", 18, 18));
    assertThat(type.labelsOf(18)).containsExactly("E", "G");
    assertThat(type.labelOf(18)).isEqualTo("E");
    assertThat(type.labelOf(22)).isNull();
    Type.Enumeration large =
        (Type.Enumeration)
            field(
                "enum : integer { size = 64; } { X = 0xffffffffffffffff, Y = 1 ... 18446744073709551614 } e;");
    assertThat(large.labelsOf(-1)).containsExactly("X");
    assertThat(large.labelsOf(-2)).containsExactly("Y");
    assertThat(large.labelsOf(0)).isEmpty();
  }

  @Test
  void aliasesOfSeveralWordsNamedTypesAndScopes() throws Exception {
    Type.Struct type =
        fields(
            """
            typealias integer { size = 64; } := unsigned long int;
            typedef integer { size = 7; } odd;
            struct inner { odd a, b[2]; } align(32);
            enum kind : odd { p, q };
            variant choice { odd p; string q; };
            const unsigned long int x; // to the end of the line
            struct inner y /* in
            between */ ;
            enum kind z;
            variant choice <z> v;
            floating_point { exp_dig = 8; mant_dig = 24; align = 16; } f;
            string { encoding = ASCII; } s;
            odd m[2][x];
            struct { } none;
            """);
    assertThat(type.fields().stream().map(Type.Field::written))
        .containsExactly("x", "y", "z", "v", "f", "s", "m", "none");
    assertThat(type.fields().get(1).type().align()).isEqualTo(32);
    assertThat(type.align()).isEqualTo(32);
    assertThat(((Type.Variant) type.fields().get(3).type()).tag()).isEqualTo("z");
    assertThat(type.fields().get(4).type()).isEqualTo(new Type.Real(32, 16, true));
    Type.Array outer = (Type.Array) type.fields().get(6).type();
    assertThat(outer.length()).isEqualTo(2);
    assertThat(((Type.Sequence) outer.element()).length()).isEqualTo("x");
  }

  @Test
  void environmentClockAndEvents() throws Exception {
    TraceSchema schema =
        parse(
            TRACE
                + """
                env { a = "x\\n\\"\\\\\\x41\\101 ü"; b = -5; c = 0x10UL; };
                clock { name = m; freq = 3000000000; offset_s = 7; offset = -3; precision = 1; absolute = FALSE; };
                stream { id = 3; event.header := struct { integer { size = 8; } id; };
                  event.context := struct { integer { size = 32; } _vtid; }; };
                event { name = "p:n"; id = 2; stream_id = 3; loglevel = 6;
                  model.emf.uri = "u"; context := struct { string c; }; fields := struct { string _f; }; };
                callsite { name = "x"; func = "f"; ip = 0x40096c; };
                """);
    assertThat(schema.environment())
        .isEqualTo(java.util.Map.of("a", "x\n\"\\AA ü", "b", -5L, "c", 16L));
    assertThat(schema.clocks())
        .containsEntry("m", new TraceClock("m", null, "", 3_000_000_000L, 7, -3));
    StreamClass stream = requireNonNull(schema.streams().get(3L));
    assertThat(stream.eventContext().indexOf("vtid")).isZero();
    EventClass event = event(schema, 3L, 2);
    assertThat(event.name()).isEqualTo("p:n");
    assertThat(event.level()).isEqualTo(6);
    assertThat(event.fields().indexOf("f")).isZero();
    assertThat(event.context().indexOf("c")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "integer { } a;",
        "integer { size = 65; } a;",
        "integer { size = 8; align = 3; } a;",
        "integer { size = 8; base = 7; } a;",
        "integer { size = 8; byte_order = up; } a;",
        "integer { size = 8; } ;",
        "integer { size = 99999999999; } a;",
        "floating_point { exp_dig = 5; mant_dig = 11; } a;",
        "unknown a;",
        "a;",
        "struct nowhere a;",
        "struct a",
        "variant <nowhere> { string x; } v;",
        "variant { string x; } v;",
        "string s[nowhere];",
        "string t; string s[t];",
        "string s[s];",
        "string s[18446744073709551616];",
        "string s[4294967296];",
        "enum : string { A } e;",
        "enum { A } e;",
        "enum : integer { size = 8; } { A = -1 } e;",
        "enum : integer { size = 8; } { A B } e;",
        "typealias string := s; typealias string := s;",
        "string \"unclosed",
        "/* no end",
        "string a",
      })
  void whatIsWrongHasAPlace(String declarations) {
    TraceFormatException e =
        catchThrowableOfType(TraceFormatException.class, () -> fields(declarations));
    assertThat(e).isNotNull().hasMessageStartingWith(FILE + ", byte ").hasMessageEndingWith(".");
    assertThat(e.file()).isEqualTo(FILE);
    assertThat(e.offset()).isBetween(0L, 400L);
  }

  @Test
  void thePlaceIsWhereItIsWrong() {
    assertThatThrownBy(() -> parse(TRACE + "nonsense"))
        .isInstanceOf(TraceFormatException.class)
        .hasMessage(
            FILE
                + ", byte "
                + TRACE.length()
                + ": a block such as event is expected, not \"nonsense\".");
    assertThatThrownBy(() -> parse(""))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("no trace block");
    assertThatThrownBy(() -> parse("{\"type\":\"preamble\"}"))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("version 2");
    assertThatThrownBy(() -> parse(TRACE + "event { id = 1; }; event { id = 1; };"))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("has the id 1");
  }

  @Test
  void fewLinesThatDescribeEndlessValuesAreRefused() {
    StringBuilder doubling = new StringBuilder(TRACE + "struct s0 { string a; };\n");
    for (int i = 1; i < 50; i++) {
      doubling.append("struct s%d { struct s%d a; struct s%d b; };%n".formatted(i, i - 1, i - 1));
    }
    assertThatThrownBy(() -> parse(doubling.toString()))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("so many parts");
    for (String nest : List.of("struct { ", "enum : ", "variant <x> { ")) {
      assertThatThrownBy(() -> fields(nest.repeat(100_000)))
          .isInstanceOf(TraceFormatException.class)
          .hasMessageContaining("too deeply");
    }
    assertThatThrownBy(() -> fields("string a" + "[2]".repeat(100_000) + ";"))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining("too many dimensions");
  }

  private static byte[] packets(String text, ByteOrder order, int each) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    List<byte[]> packets = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += each) {
      int part = Math.min(each, bytes.length - at);
      ByteBuffer packet = ByteBuffer.allocate(37 + each + 11).order(order);
      packet.putInt(0x75d11d57).putLong(1).putLong(2).putInt(0);
      packet.putInt((37 + part) * 8).putInt(packet.capacity() * 8);
      packet.put(new byte[] {0, 0, 0, 1, 8}).put(bytes, at, part);
      packets.add(packet.array());
    }
    ByteBuffer all = ByteBuffer.allocate(packets.size() * (48 + each));
    packets.forEach(all::put);
    return all.array();
  }

  @Test
  void packetsInBothByteOrders() throws Exception {
    String text = TRACE + "event { name = \"something long\"; };\n";
    for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
      MetadataText read = MetadataText.of(FILE, packets(text, order, 10), Damage.STRICT);
      assertThat(new String(read.bytes(), StandardCharsets.UTF_8)).isEqualTo(text);
      // The 25th byte of text is the 6th of the third packet's.
      assertThat(read.damaged(25, "x").offset()).isEqualTo(2 * 58 + 37 + 5);
    }
  }

  @Test
  void aPacketThatIsCutOffEndsTheText() throws Exception {
    String text = TRACE + "event { name = \"something long\"; };\n";
    byte[] whole = packets(text, ByteOrder.LITTLE_ENDIAN, 10);
    byte[] cut = java.util.Arrays.copyOf(whole, 3 * 58 + 40);
    assertThatThrownBy(() -> MetadataText.of(FILE, cut, Damage.STRICT))
        .isInstanceOf(TraceFormatException.class)
        .hasMessage(FILE + ", byte 174: a packet of metadata claims 58 bytes, of which 40 exist.");
    List<TraceFormatException> found = new ArrayList<>();
    MetadataText read = MetadataText.of(FILE, cut, found::add);
    assertThat(new String(read.bytes(), StandardCharsets.UTF_8)).isEqualTo(text.substring(0, 30));
    assertThat(found).hasSize(1);
  }

  @Test
  void lenientReadingKeepsTheBlocksBefore() throws Exception {
    List<TraceFormatException> found = new ArrayList<>();
    byte[] bytes =
        (TRACE + "event { name = a; id = 1; }; event { name = b; id = ")
            .getBytes(StandardCharsets.UTF_8);
    TraceSchema schema =
        SchemaParser.parse(MetadataText.of(FILE, bytes, Damage.STRICT), found::add);
    assertThat(requireNonNull(schema.streams().get(0L)).events()).containsOnlyKeys(1L);
    assertThat(found).hasSize(1);
  }

  @Test
  void clocksOfOtherFrequenciesRoundEachPartDown() {
    TraceClock clock = new TraceClock("c", null, "", 3_000_000_000L, 5, 2_999_999_998L);
    assertThat(clock.nanosOf(1)).isEqualTo(5_999_999_999L);
    assertThat(clock.nanosOf(3_000_000_001L)).isEqualTo(6_999_999_999L);
    TraceClock fast = new TraceClock("c", null, "", 1L << 62, 0, 0);
    assertThat(fast.nanosOf(1L << 61)).isEqualTo(500_000_000);
    assertThat(fast.nanosOf(-1)).as("2^64 - 1 ticks").isEqualTo(3_999_999_999L);
    TraceClock slow = new TraceClock("c", null, "", 1, 0, -2);
    assertThat(slow.nanosOf(3)).isEqualTo(1_000_000_000L);
    TraceClock thirds = new TraceClock("c", null, "", 3, 0, -1);
    assertThat(thirds.nanosOf(0)).as("down, not towards zero").isEqualTo(-333_333_334L);
  }
}
