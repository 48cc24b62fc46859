package io.quiesce.trace.ctf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.ctf.PacketWriter.Outcome;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PacketWriterTest {
  private static final UUID TRACE = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
  private static final Object[] NONE = {};
  private static final long STEP = 1L << 27;

  private static TraceDescription trace(Field... context) {
    return new TraceDescription(TRACE, new Clock(null, 1000, 0, 0), Map.of(), List.of(context));
  }

  private static EventType type(int id, Field... fields) {
    return new EventType(id, "p", "e" + id, 6, List.of(fields));
  }

  private static PacketWriter writer(int bytes) {
    return new PacketWriter(trace(), 7, MemorySegment.ofArray(new byte[bytes]));
  }

  private static ByteBuffer bytes(MemorySegment packet) {
    return packet.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void aPacketByteForByte() {
    MemorySegment buffer = MemorySegment.ofArray(new byte[256]).fill((byte) 0x55);
    PacketWriter writer = new PacketWriter(trace(Field.signed("c", 16)), 7, buffer);
    writer.open(100);
    EventType small = type(3, Field.text("s"), Field.bytes("b"));
    EventType large = type(31, Field.array("a", new FieldType.Int(16, true, 10), 2));
    Object[] context = {-2};
    assertThat(writer.write(small, 105, context, "hi", new byte[] {9})).isEqualTo(Outcome.WRITTEN);
    assertThat(writer.write(large, 106, context, new int[] {-1, 258})).isEqualTo(Outcome.WRITTEN);
    MemorySegment packet = writer.close(110, 4);

    ByteBuffer b = bytes(packet);
    int content = 84 + (4 + 2 + 3 + 5) + (13 + 2 + 4);
    assertThat(b.remaining()).isEqualTo(120);
    assertThat(b.getInt()).isEqualTo(0xc1fc1fc1);
    for (int i = 0; i < 16; i++) {
      assertThat(b.get()).isEqualTo((byte) (i * 0x11));
    }
    assertThat(b.getInt()).isZero();
    assertThat(b.getLong()).isEqualTo(7);
    assertThat(b.getLong()).isEqualTo(100);
    assertThat(b.getLong()).isEqualTo(110);
    assertThat(b.getLong()).isEqualTo(content * 8L);
    assertThat(b.getLong()).isEqualTo(120 * 8L);
    assertThat(b.getLong()).isZero();
    assertThat(b.getLong()).isEqualTo(4);
    assertThat(b.getInt()).isEqualTo(7);
    assertThat(b.getInt()).isEqualTo(105 << 5 | 3);
    assertThat(b.getShort()).isEqualTo((short) -2);
    assertThat(b.getShort()).isEqualTo((short) ('i' << 8 | 'h'));
    assertThat(b.get()).isZero();
    assertThat(b.getInt()).isEqualTo(1);
    assertThat(b.get()).isEqualTo((byte) 9);
    assertThat(b.get()).isEqualTo((byte) 31);
    assertThat(b.getInt()).isEqualTo(31);
    assertThat(b.getLong()).isEqualTo(106);
    assertThat(b.getShort()).isEqualTo((short) -2);
    assertThat(b.getShort()).isEqualTo((short) -1);
    assertThat(b.getShort()).isEqualTo((short) 258);
    while (b.hasRemaining()) {
      assertThat(b.get()).isZero();
    }
  }

  @Test
  void realsKeepTheirBits() {
    PacketWriter writer = writer(256);
    writer.open(0);
    EventType type = type(0, Field.real("d", 64), Field.real("f", 32));
    writer.write(type, 0, NONE, -0.0, Float.MIN_VALUE);
    writer.write(type, 0, NONE, Double.NaN, Float.NEGATIVE_INFINITY);
    ByteBuffer b = bytes(writer.close(0, 0)).position(88);
    assertThat(Double.doubleToRawLongBits(b.getDouble())).isEqualTo(1L << 63);
    assertThat(b.getFloat()).isEqualTo(Float.MIN_VALUE);
    assertThat(b.position(104).getDouble()).isNaN();
    assertThat(b.getFloat()).isEqualTo(Float.NEGATIVE_INFINITY);
  }

  @Test
  void theHeaderIsLongWhenTheTimeOrTheIdIs() {
    assertThat(EventHeader.size(30, 5 + STEP - 1, 5)).isEqualTo(4);
    assertThat(EventHeader.size(30, 5 + STEP, 5)).isEqualTo(13);
    assertThat(EventHeader.size(31, 5, 5)).isEqualTo(13);
    assertThat(EventHeader.size(0, Long.MAX_VALUE, 0)).isEqualTo(13);
  }

  @Test
  void timesNeverGoBack() {
    PacketWriter writer = writer(256);
    EventType type = type(31);
    writer.open(1000);
    writer.write(type, 2000, NONE);
    writer.write(type, 1999, NONE);
    ByteBuffer b = bytes(writer.close(500, 9));
    assertThat(b.getLong(84 + 13 + 5)).isEqualTo(2000);
    assertThat(b.getLong(40)).isEqualTo(2000);
    writer.open(-1);
    b = bytes(writer.close(3000, 8));
    assertThat(b.getLong(32)).isEqualTo(2000);
    assertThat(b.getLong(64)).as("sequence").isEqualTo(1);
    assertThat(b.getLong(72)).as("losses").isEqualTo(9);
    assertThat(writer.corrected()).isEqualTo(3);
  }

  @Test
  void everyRemainderUpToTheLastByte() {
    EventType type = type(0, Field.text("s"));
    for (int size = 104; size <= 136; size++) {
      int room = (size & -8) - 84;
      PacketWriter writer = writer(size);
      writer.open(0);
      assertThat(writer.write(type, 0, NONE, "x".repeat(room - 4))).isEqualTo(Outcome.TOO_LARGE);
      assertThat(writer.write(type, 0, NONE, "x".repeat(room - 9))).isEqualTo(Outcome.WRITTEN);
      assertThat(writer.write(type, 0, NONE, "")).isEqualTo(Outcome.FULL);
      assertThat(writer.write(type, STEP, NONE, "x".repeat(room - 5))).isEqualTo(Outcome.FULL);
      assertThat(bytes(writer.close(0, 0)).getLong(48)).isEqualTo(((size & -8) - 4) * 8L);
      writer.open(0);
      assertThat(writer.write(type, 0, NONE, "x".repeat(room - 5))).isEqualTo(Outcome.WRITTEN);
      assertThat(writer.close(0, 0).byteSize()).isEqualTo(size & -8);
    }
  }

  @Test
  void valuesThatDoNotFitTheirFieldsChangeNothing() {
    PacketWriter writer = writer(256);
    writer.open(0);
    EventType type = type(0, Field.signed("i", 8), Field.array("a", new FieldType.Real(32), 2));
    assertThatThrownBy(() -> writer.write(type, 0, NONE, 1)).hasMessageContaining("2 fields");
    assertThatThrownBy(() -> writer.write(type, 0, NONE, "1", new float[2]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Field i");
    assertThatThrownBy(() -> writer.write(type, 0, NONE, null, new float[2]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> writer.write(type, 0, NONE, 1, new float[3]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> writer.write(type, 0, NONE, 1, new int[2]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(bytes(writer.close(0, 0)).getLong(48)).isEqualTo(84 * 8);
  }

  @Test
  void packetsAreOpenedAndClosedInTurn() {
    PacketWriter writer = writer(256);
    assertThatThrownBy(() -> writer.close(0, 0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> writer.write(type(0), 0, NONE))
        .isInstanceOf(IllegalStateException.class);
    writer.open(0);
    assertThatThrownBy(() -> writer.open(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> writer(96)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void typesAreCheckedWhenTheyAreMade() {
    assertThatThrownBy(() -> type(EventType.MAX_ID + 1)).hasMessageContaining("131071");
    assertThatThrownBy(() -> new FieldType.Int(24, true, 10)).hasMessageContaining("24");
    assertThatThrownBy(() -> new FieldType.Int(8, true, 3)).hasMessageContaining("3");
    assertThatThrownBy(() -> new FieldType.Real(16)).hasMessageContaining("16");
    assertThatThrownBy(() -> new FieldType.Array(new FieldType.Real(32), 0))
        .hasMessageContaining("0");
    assertThatThrownBy(() -> label(false, -1, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> label(true, 1, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> label(true, 0, 128)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> label(false, 0, 256)).isInstanceOf(IllegalArgumentException.class);
    assertThat(label(false, 0, 255).labels()).hasSize(1);
    assertThat(label(true, -128, 127).labels()).hasSize(1);
  }

  private static FieldType.Enumeration label(boolean signed, long low, long high) {
    return new FieldType.Enumeration(
        new FieldType.Int(8, signed, 10), List.of(new FieldType.Label("l", low, high)));
  }
}
