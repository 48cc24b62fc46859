package io.quiesce.trace.reader;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Makes packets bit by bit, by the letter of the format and without any cleverness. */
final class BitWriter {
  private final boolean bigEndian;
  private byte[] bytes = new byte[64];
  private int bit;

  BitWriter(boolean bigEndian) {
    this.bigEndian = bigEndian;
  }

  BitWriter align(int bits) {
    while (bit % bits != 0) {
      put(0);
    }
    return this;
  }

  BitWriter u(int bits, long value) {
    for (int i = 0; i < bits; i++) {
      put((int) (value >>> (bigEndian ? bits - 1 - i : i)) & 1);
    }
    return this;
  }

  BitWriter text(String text) {
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      u(8, b);
    }
    return u(8, 0);
  }

  private void put(int value) {
    if (bit / 8 == bytes.length) {
      bytes = Arrays.copyOf(bytes, bytes.length * 2);
    }
    bytes[bit / 8] |= (byte) (value << (bigEndian ? 7 - bit % 8 : bit % 8));
    bit++;
  }

  int bits() {
    return bit;
  }

  byte[] bytes() {
    return Arrays.copyOf(bytes, (bit + 7) / 8);
  }
}
