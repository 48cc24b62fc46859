package io.quiesce.trace.ctf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.TraceFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetadataTest {
  private final TraceDescription trace =
      new TraceDescription(
          UUID.randomUUID(),
          new Clock(UUID.randomUUID(), 1000, -1, 999),
          Map.of("k", 1),
          List.of());

  @TempDir Path folder;

  private static EventType type(int id, String name) {
    return new EventType(id, "p", name, 6, List.of(Field.text("t"), Field.bytes("b")));
  }

  private Path file() {
    return folder.resolve("metadata");
  }

  @Test
  void typesAreAddedOnceAndBehindTheOthers() throws IOException {
    try (Metadata metadata = Metadata.create(folder, trace)) {
      assertThat(metadata.add(type(1, "a"))).isTrue();
      String before = Files.readString(file());
      assertThat(metadata.add(type(1, "a"))).isFalse();
      assertThat(metadata.addAll(List.of(type(5, "b"), type(1, "a"), type(5, "b")))).isEqualTo(1);
      assertThat(metadata.size()).isEqualTo(2);
      assertThat(Files.readString(file())).startsWith(before).containsOnlyOnce("name = \"p:b\"");
    }
  }

  @Test
  void twoTypesCannotHaveOneId() throws IOException {
    try (Metadata metadata = Metadata.create(folder, trace)) {
      metadata.add(type(1, "a"));
      long size = Files.size(file());
      assertThatThrownBy(() -> metadata.addAll(List.of(type(2, "x"), type(1, "b"))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("p:b has the id 1 of p:a");
      assertThatThrownBy(() -> metadata.addAll(List.of(type(3, "x"), type(3, "y"))))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(Files.size(file())).isEqualTo(size);
      assertThat(metadata.add(type(2, "x"))).isTrue();
    }
  }

  @Test
  void aFullDiskLosesTheTypeUntilItIsAddedAgain() throws IOException {
    SmallDisk disk = new SmallDisk(100_000);
    try (Metadata metadata = Metadata.create(folder, trace, disk)) {
      long size = Files.size(file());
      disk.free = 10;
      assertThatThrownBy(() -> metadata.add(type(1, "a")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("Event types could not be added");
      assertThat(Files.size(file())).isEqualTo(size);
      disk.free = 100_000;
      assertThat(metadata.add(type(1, "a"))).isTrue();
    }
  }

  @Test
  void noTraceReplacesAnother() throws IOException {
    try (Metadata _ = Metadata.create(folder, trace)) {
      assertThatThrownBy(() -> Metadata.create(folder, trace))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cannot be begun");
    }
  }

  @Test
  void recoveryKeepsWholeTypesWhereverTheFileEnds() throws IOException {
    int start;
    int second;
    try (Metadata metadata = Metadata.create(folder, trace)) {
      start = (int) Files.size(file());
      metadata.add(type(1, "n\u00e4me };\n};\n"));
      second = (int) Files.size(file());
      metadata.add(type(2, "b"));
    }
    byte[] whole = Files.readAllBytes(file());
    for (int length = start; length <= whole.length; length++) {
      Files.write(file(), Arrays.copyOf(whole, length));
      assertThat(Metadata.recover(folder)).isEqualTo(trace.uuid());
      // The empty line after a block is not needed.
      int kept = length >= whole.length - 1 ? whole.length : length >= second - 1 ? second : start;
      assertThat(Files.size(file())).isEqualTo(kept - 1);
    }
    Files.write(file(), Arrays.copyOf(whole, start - 2));
    assertThatThrownBy(() -> Metadata.recover(folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cut off");
  }

  @Test
  void recoveryKeepsWholeFragmentsWhereverTheFileEnds() throws IOException {
    int start;
    int second;
    try (Metadata metadata = Metadata.create(folder, trace.in(TraceFormat.CTF_2))) {
      start = (int) Files.size(file());
      metadata.add(type(1, "n\u00e4me }\n\u001e{\"type\":\"event-record-class\",\"id\":7,"));
      second = (int) Files.size(file());
      metadata.add(type(2, "b"));
    }
    assertThat(Metadata.ids(folder)).containsExactlyInAnyOrder(1, 2);
    byte[] whole = Files.readAllBytes(file());
    for (int length = 0; length <= whole.length; length += length < start - 50 ? 41 : 1) {
      Files.write(file(), Arrays.copyOf(whole, length));
      if (length < start) {
        assertThatThrownBy(() -> Metadata.recover(folder))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("cut off");
        continue;
      }
      assertThat(Metadata.recover(folder)).isEqualTo(trace.uuid());
      int kept = length == whole.length ? whole.length : length >= second ? second : start;
      assertThat(Files.size(file())).isEqualTo(kept);
      assertThat(Metadata.ids(folder)).hasSize(kept == start ? 0 : kept == second ? 1 : 2);
    }
    Arrays.fill(whole, second, whole.length, (byte) 0); // as after a loss of power
    Files.write(file(), whole);
    Metadata.recover(folder);
    assertThat(Files.size(file())).isEqualTo(second);
  }

  @Test
  void fragmentsAreLinesBehindSeparators() throws IOException {
    try (Metadata metadata = Metadata.create(folder, trace.in(TraceFormat.CTF_2))) {
      metadata.addAll(List.of(type(1, "a\nb\u001e\"\\\ud800"), type(2, "b")));
    }
    String text = Files.readString(file());
    assertThat(text).startsWith("\u001e{\"type\":\"preamble\",\"version\":2,").endsWith("}\n");
    assertThat(text.split("\n", -1)).hasSize(7);
    assertThat(text.chars().filter(c -> c == 0x1e)).hasSize(6);
    assertThat(text).contains("\"name\":\"p:a\ufffdb\ufffd\\\"\\\\\ufffd\"");
  }

  @Test
  void theOffsetOfTheClockIsNowMinusTheTicks() {
    Clock clock = Clock.monotonic();
    long millis = System.currentTimeMillis();
    long ticks = System.nanoTime();
    long said =
        clock.offsetSeconds() * 1000 + (clock.offsetTicks() + ticks) / (clock.frequency() / 1000);
    assertThat(said).isBetween(millis - 1000, millis + 1000);
    assertThatThrownBy(() -> new Clock(null, 10, 0, 10))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** The wall clock is set forward or back while its offset is taken. */
  @Test
  void aWallClockThatIsSetMeanwhileGivesOneOfItsTwoOffsets() {
    for (int step = 0; step < 20; step++) {
      for (long by : new long[] {3600, -86_400}) {
        int[] reads = new int[1];
        int at = step;
        Clock clock = Clock.monotonic(() -> Instant.now().plusSeconds(reads[0]++ < at ? 0 : by));
        Clock now = Clock.monotonic();
        long off = clock.offsetSeconds() - now.offsetSeconds();
        long nanos = clock.offsetTicks() - now.offsetTicks();
        double seconds = off + nanos / 1e9;
        assertThat(Math.min(Math.abs(seconds), Math.abs(seconds - by))).isLessThan(0.5);
      }
    }
  }
}
