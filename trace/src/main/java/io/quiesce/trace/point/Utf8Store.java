package io.quiesce.trace.point;

import io.quiesce.trace.ctf.Utf8;
import io.quiesce.trace.ring.Store;
import java.lang.foreign.MemorySegment;

/**
 * Stores strings in a ring as {@link Utf8} does in a packet: UTF-8 and a NUL at the end, U+FFFD for
 * what a trace cannot hold.
 */
public final class Utf8Store {
  private Utf8Store() {}

  /** The size in bytes, with the NUL at the end; null is stored as the four letters. */
  public static long size(String text) {
    return Utf8.size(text);
  }

  /** Stores the string and its NUL; returns the place behind it. */
  public static long store(MemorySegment memory, long place, String text) {
    long at = place;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != 0 && c < 0x80) {
        Store.putByte(memory, at++, (byte) c);
      } else {
        return general(memory, at, text, i);
      }
    }
    Store.putByte(memory, at, (byte) 0);
    return at + 1;
  }

  private static long general(MemorySegment memory, long place, String text, int from) {
    byte[] bytes = Utf8.encode(text, from);
    long at = place;
    for (byte b : bytes) {
      Store.putByte(memory, at++, b);
    }
    return at;
  }
}
