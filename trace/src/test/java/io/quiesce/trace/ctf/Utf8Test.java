package io.quiesce.trace.ctf;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Utf8Test {

  @Test
  void isJavasEncodingAndANul() {
    Random random = new Random(1);
    for (int i = 0; i < 2_000; i++) {
      StringBuilder text = new StringBuilder();
      random.ints(random.nextInt(40), 0, 4).forEach(kind -> append(text, kind, random));
      byte[] expected = (text + "\0").getBytes(StandardCharsets.UTF_8);
      assertThat(encode(text.toString())).isEqualTo(expected);
    }
  }

  private static void append(StringBuilder text, int kind, Random random) {
    text.appendCodePoint(
        switch (kind) {
          case 0 -> 1 + random.nextInt(0x7f);
          case 1 -> 0x80 + random.nextInt(0x780);
          case 2 -> 0xe000 + random.nextInt(0x2000);
          default -> 0x10000 + random.nextInt(0x100000);
        });
  }

  @Test
  void replacesWhatATraceCannotHold() {
    String high = "\ud800";
    String low = "\udc00";
    assertThat(decode(encode("a\0b"))).isEqualTo("a\ufffdb\0");
    assertThat(decode(encode(high))).isEqualTo("\ufffd\0");
    assertThat(decode(encode(low + high))).isEqualTo("\ufffd\ufffd\0");
    assertThat(decode(encode(high + high + low + "x"))).isEqualTo("\ufffd" + high + low + "x\0");
    assertThat(decode(encode(""))).isEqualTo("\0");
  }

  /** Fails as well when the size is not what is stored. */
  private static byte[] encode(String text) {
    byte[] bytes = new byte[4 * text.length() + 8];
    Arrays.fill(bytes, (byte) 0x55);
    int size = (int) Utf8.size(text);
    assertThat(Utf8.write(MemorySegment.ofArray(bytes), 3, text)).isEqualTo(3L + size);
    assertThat(bytes[3 + size]).isEqualTo((byte) 0x55);
    return Arrays.copyOfRange(bytes, 3, 3 + size);
  }

  private static String decode(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
