package io.quiesce.trace.ctf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamFileTest {
  private static final int PACKET = 104;
  private static final int ENTRY = 72;
  private static final Object[] NONE = {};
  private static final EventType TYPE = new EventType(31, "p", "e", 6, List.of());

  private final TraceDescription trace =
      new TraceDescription(UUID.randomUUID(), new Clock(null, 1000, 0, 0), Map.of(), List.of());
  private final PacketWriter writer =
      new PacketWriter(trace, 2, MemorySegment.ofArray(new byte[PACKET]));

  @TempDir Path folder;

  /** A packet of 104 bytes, 97 of them content. */
  private MemorySegment packet(long begin) {
    writer.open(begin);
    writer.write(TYPE, begin + 1, NONE);
    return writer.close(begin + 2, begin / 10);
  }

  private Path file() {
    return folder.resolve("channel0_2");
  }

  private Path index() {
    return folder.resolve("index/channel0_2.idx");
  }

  @Test
  void packetsAndTheirIndexByteForByte() throws IOException {
    byte[] first;
    byte[] second;
    try (StreamFile stream = StreamFile.create(folder, 2)) {
      MemorySegment packet = packet(10);
      first = packet.toArray(ValueLayout.JAVA_BYTE);
      stream.append(packet);
      packet = packet(20);
      second = packet.toArray(ValueLayout.JAVA_BYTE);
      stream.append(packet);
      assertThat(stream.size()).isEqualTo(2 * PACKET);
    }
    byte[] whole = Files.readAllBytes(file());
    assertThat(Arrays.copyOf(whole, PACKET)).isEqualTo(first);
    assertThat(Arrays.copyOfRange(whole, PACKET, 2 * PACKET)).isEqualTo(second);
    assertThat(whole).hasSize(2 * PACKET);
    ByteBuffer expected = ByteBuffer.allocate(16 + 2 * ENTRY);
    expected.putInt(0xc1f1dcc1).putInt(1).putInt(1).putInt(ENTRY);
    for (long i = 0; i < 2; i++) {
      long begin = 10 * (i + 1);
      expected.putLong(i * PACKET).putLong(PACKET * 8).putLong(97 * 8);
      expected.putLong(begin).putLong(begin + 2).putLong(begin / 10);
      expected.putLong(0).putLong(2).putLong(i);
    }
    assertThat(Files.readAllBytes(index())).isEqualTo(expected.array());
  }

  @Test
  void aFullDiskLosesThePacketAndNothingElse() throws IOException {
    SmallDisk disk = new SmallDisk(16 + 3 * (PACKET + ENTRY));
    try (StreamFile stream = StreamFile.create(folder, 2, disk)) {
      stream.append(packet(10));
      // From no byte at all to one too few for the index entry.
      for (int space = 0; space < PACKET + ENTRY; space++) {
        disk.free = space;
        assertThatThrownBy(() -> stream.append(packet(20)))
            .isInstanceOf(IOException.class)
            .hasMessageMatching(
                "A packet of 104 bytes could not be written to .*channel0_2: "
                    + "(No space left on device|no space left, only \\d+ of \\d+ bytes fitted)");
        assertThat(disk.free).isEqualTo(space);
        assertThat(Files.size(file())).isEqualTo(PACKET);
        assertThat(Files.size(index())).isEqualTo(16 + ENTRY);
      }
      disk.free = PACKET + ENTRY;
      stream.append(packet(30));
    }
    assertThat(Files.size(file())).isEqualTo(2 * PACKET);
    assertThat(Files.size(index())).isEqualTo(16 + 2 * ENTRY);
  }

  @Test
  void nothingIsWrittenBehindHalfAPacket() throws IOException {
    SmallDisk disk = new SmallDisk(1000);
    try (StreamFile stream = StreamFile.create(folder, 2, disk)) {
      stream.append(packet(10));
      disk.free = 50;
      disk.broken = true;
      assertThatThrownBy(() -> stream.append(packet(20))).hasMessageContaining("only 50 of 104");
      disk.free = 1000;
      assertThatThrownBy(() -> stream.append(packet(20))).hasMessageContaining("Input/output");
      assertThat(Files.size(file())).isEqualTo(PACKET + 50);
      disk.broken = false;
      stream.append(packet(30));
    }
    assertThat(Files.size(file())).isEqualTo(2 * PACKET);
    assertThat(Files.size(index())).isEqualTo(16 + 2 * ENTRY);
  }

  @Test
  void aFileThatCouldNotBeMadeCanBeMadeLater() throws IOException {
    SmallDisk disk = new SmallDisk(5);
    assertThatThrownBy(() -> StreamFile.create(folder, 2, disk)).isInstanceOf(IOException.class);
    disk.free = 1000;
    try (StreamFile stream = StreamFile.create(folder, 2, disk)) {
      stream.append(packet(10));
    }
    assertThat(Files.size(file())).isEqualTo(PACKET);
  }

  @Test
  void anInterruptedThreadWritesAndStaysInterrupted() throws IOException {
    try (StreamFile stream = StreamFile.create(folder, 2)) {
      Thread.currentThread().interrupt();
      stream.append(packet(10));
      assertThat(Thread.interrupted()).isTrue();
      stream.append(packet(20));
      assertThat(Thread.interrupted()).isFalse();
    }
    assertThat(Files.size(file())).isEqualTo(2 * PACKET);
  }

  @Test
  void anInterruptDuringTheWriteLosesNothing() throws IOException {
    SmallDisk disk = new SmallDisk(1000);
    try (StreamFile stream = StreamFile.create(folder, 2, disk)) {
      disk.interrupts = 2;
      stream.append(packet(10));
      assertThat(Thread.interrupted()).isTrue();
      stream.append(packet(20));
      assertThat(Thread.interrupted()).isFalse();
    }
    assertThat(Files.size(file())).isEqualTo(2 * PACKET);
    assertThat(Files.size(index())).isEqualTo(16 + 2 * ENTRY);
  }

  @Test
  void onlyWholePacketsAreTaken() throws IOException {
    try (StreamFile stream = StreamFile.create(folder, 2)) {
      MemorySegment packet = packet(10);
      assertThatThrownBy(() -> stream.append(packet.asSlice(0, PACKET - 8)))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> stream.append(MemorySegment.ofArray(new byte[PACKET])))
          .isInstanceOf(IllegalArgumentException.class);
      writer.open(20);
      assertThatThrownBy(() -> stream.append(packet))
          .as("an open packet")
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(Files.size(file())).isZero();
  }

  @Test
  void noStreamReplacesAnother() throws IOException {
    try (StreamFile _ = StreamFile.create(folder, 2)) {
      assertThatThrownBy(() -> StreamFile.create(folder, 2))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cannot be made");
    }
  }

  @Test
  void recoveryKeepsWholePacketsWhereverTheFileEnds() throws IOException {
    byte[] whole = threePackets();
    for (int length = 0; length <= whole.length; length++) {
      recover(Arrays.copyOf(whole, length), length / PACKET);
    }
  }

  @Test
  void recoveryStopsAtWhatIsNoPacket() throws IOException {
    byte[] whole = threePackets();
    recover(Arrays.copyOf(whole, 3 * PACKET + 4096), 3);
    for (int at :
        new int[] {
          0,
          PacketLayout.UUID_AT,
          PacketLayout.CONTENT_AT,
          PacketLayout.SIZE_AT,
          PacketLayout.END_AT
        }) {
      byte[] spoilt = whole.clone();
      Arrays.fill(spoilt, PACKET + at, PACKET + at + 4, (byte) 0);
      recover(spoilt, 1);
    }
    byte[] back = whole.clone();
    System.arraycopy(whole, 0, back, 2 * PACKET, PACKET);
    recover(back, 2);
    byte[] huge = whole.clone();
    huge[PACKET + PacketLayout.SIZE_AT + 6] = 1;
    recover(huge, 1);
  }

  private byte[] threePackets() throws IOException {
    try (StreamFile stream = StreamFile.create(folder, 2)) {
      stream.append(packet(10));
      stream.append(packet(20));
      stream.append(packet(30));
    }
    return Files.readAllBytes(file());
  }

  private void recover(byte[] found, int packets) throws IOException {
    Files.write(file(), found);
    Files.write(index(), new byte[] {1, 2, 3});
    try (StreamFile stream = StreamFile.recover(folder, 2, trace.uuid())) {
      assertThat(stream.size()).isEqualTo((long) packets * PACKET);
      writer.open(40);
      stream.append(writer.close(50, 60));
    }
    byte[] recovered = Files.readAllBytes(file());
    assertThat(Arrays.copyOf(recovered, packets * PACKET))
        .isEqualTo(Arrays.copyOf(found, packets * PACKET));
    assertThat(recovered).hasSize(packets * PACKET + 88);
    ByteBuffer index = ByteBuffer.wrap(Files.readAllBytes(index()));
    assertThat(index.remaining()).isEqualTo(16 + (packets + 1) * ENTRY);
    assertThat(index.getInt(0)).isEqualTo(0xc1f1dcc1);
    for (int i = 0; i <= packets; i++) {
      assertThat(index.getLong(16 + i * ENTRY)).isEqualTo((long) i * PACKET);
    }
  }
}
