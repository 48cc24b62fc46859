package io.quiesce.trace.reader;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceFormat;
import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.RandomEvents;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever a file holds, the reader ends, with events or with its own exception. */
class FuzzTest {
  private static final int CASES = 1800;

  /** Pieces that make the metadata mean something else rather than nothing. */
  private static final String[] PIECES = {
    "0",
    "1",
    "64",
    "4294967295",
    "18446744073709551615",
    "-",
    "{",
    "}",
    ";",
    "[",
    "]",
    "[ 9999999 ]",
    "struct { } x[1000000];",
    "struct ",
    "variant <id> ",
    "string s;",
    "align(4096)",
    "_x_length",
    "/*",
    "\"",
    "enum : uint5_t { a } ",
    "size = 1; ",
    "byte_order = be; ",
    ":=",
    "...",
    "event {",
  };

  @TempDir Path folder;

  /** The same for CTF 2. */
  private static final String[] JSON_PIECES = {
    "0",
    "-1",
    "64",
    "18446744073709551615",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\u001e",
    "\u001e{\"type\":\"data-stream-class\"}",
    "\\ud800",
    "null",
    "\"alignment\":4096,",
    "\"big-endian\"",
    "\"roles\":[\"event-record-class-id\"],",
    "\"length\":1,",
    "\"attributes\":{},",
    "\"origin\":\"event-record-header\",",
    "{\"type\":\"null-terminated-string\"}",
    "{\"type\":\"structure\"}",
    "[[0,18446744073709551615]]",
  };

  private Path sample(int seed, TraceFormat format) throws IOException {
    RandomEvents kit = new RandomEvents(seed);
    Random random = new Random(seed);
    TraceDescription trace = TraceDescription.ofThisProcess("fuzz", kit.fields(2)).in(format);
    SampleTrace sample = new SampleTrace(folder.resolve(format + "-" + seed), trace, 1, 2048, 100);
    try (sample) {
      List<EventType> types = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        types.add(kit.type(i * 10));
        sample.add(types.getLast());
      }
      for (int i = 0; i < 60; i++) {
        EventType type = types.get(random.nextInt(types.size()));
        sample.write(0, type, 200L + i, kit.values(sample.context()), kit.values(type.fields()));
      }
    }
    return sample.folder();
  }

  private static byte[] mutated(byte[] sound, Random random, String... pieces) {
    byte[] bytes = sound.clone();
    for (int n = 1 + random.nextInt(4); n > 0 && bytes.length > 0; n--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(pieces.length > 0 ? 7 : 6)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt();
        case 2 -> bytes = Arrays.copyOf(bytes, at);
        case 3 -> {
          int end = Math.min(bytes.length, at + 1 + random.nextInt(16));
          Arrays.fill(bytes, at, end, (byte) (random.nextBoolean() ? 0 : 0xff));
        }
        case 4 -> {
          int from = random.nextInt(bytes.length);
          int length = Math.min(bytes.length - Math.max(at, from), random.nextInt(64));
          System.arraycopy(bytes, from, bytes, at, length);
        }
        case 5 -> {
          int from = Math.min(bytes.length - 1, random.nextInt(256));
          bytes[from] = (byte) random.nextInt();
        }
        default -> {
          byte[] piece = pieces[random.nextInt(pieces.length)].getBytes(StandardCharsets.US_ASCII);
          byte[] longer = Arrays.copyOf(bytes, bytes.length + piece.length);
          System.arraycopy(piece, 0, longer, at, piece.length);
          System.arraycopy(bytes, at, longer, at + piece.length, bytes.length - at);
          bytes = longer;
        }
      }
    }
    return bytes;
  }

  /** True if it was read without a complaint. */
  private static boolean read(Path trace, boolean lenient) throws IOException {
    StringBuilder text = new StringBuilder();
    TraceText printer = new TraceText();
    try (TraceReader reader = lenient ? TraceReader.openLenient(trace) : TraceReader.open(trace)) {
      TraceStatistics.Counter counter = new TraceStatistics.Counter();
      while (reader.next()) {
        text.setLength(0);
        printer.append(text, reader.event());
        counter.add(reader.event());
        if (text.length() % 8 == 0) {
          assertThat(printer.line(reader.event().copy())).isEqualTo(text.toString());
        }
      }
      assertThat(counter.result(reader.streams()).events()).isNotNegative();
      return reader.problemCount() == 0;
    } catch (TraceFormatException e) {
      assertThat(e.getMessage()).startsWith(trace.toString()).endsWith(".");
      return false;
    }
  }

  @ParameterizedTest
  @EnumSource
  void mutatedTraces(TraceFormat format) {
    String[] pieces = format == TraceFormat.CTF_2 ? JSON_PIECES : PIECES;
    // The limit is for a hang: the cases take a few seconds.
    Assertions.assertTimeoutPreemptively(
        Duration.ofMinutes(2),
        () -> {
          int sound = 0;
          int damaged = 0;
          for (int seed = 0; seed < 3; seed++) {
            Path trace = sample(seed, format);
            assertThat(read(trace, false)).isTrue();
            Path metadata = trace.resolve("metadata");
            Path stream = trace.resolve("channel0_0");
            byte[] text = Files.readAllBytes(metadata);
            byte[] packets = Files.readAllBytes(stream);
            Random random = new Random(seed);
            for (int i = 0; i < CASES / 3; i++) {
              boolean inText = random.nextBoolean();
              Files.write(metadata, inText ? mutated(text, random, pieces) : text);
              Files.write(
                  stream, !inText || random.nextInt(4) == 0 ? mutated(packets, random) : packets);
              if (read(trace, random.nextBoolean())) {
                sound++;
              } else {
                damaged++;
              }
            }
          }
          assertThat(sound).as("cases that are still traces").isGreaterThan(CASES / 20);
          assertThat(damaged).as("cases that are not").isGreaterThan(CASES / 4);
        });
  }
}
