package io.quiesce.trace.point;

import io.quiesce.trace.ctf.Utf8;
import io.quiesce.trace.ring.Store;
import io.quiesce.trace.ring.Thrown;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Stores strings in a ring as {@link Utf8} does in a packet: UTF-8 and a NUL at the end, U+FFFD for
 * what a trace cannot hold. Allocates nothing.
 *
 * <p>A string is measured first, since its bytes are reserved exactly. What was measured tells how
 * to store it: a string that has one byte for each character is ASCII without a NUL, and is stored
 * by the JDK, which copies such a string's bytes as they are.
 */
public final class Utf8Store {
  /** Through a handle, for the compiler's sake; see {@link Encoders}. */
  private static final MethodHandle PUT_ASCII = Store.ascii();

  private static final char REPLACEMENT = '\ufffd';

  /** Characters up to which a string is short. */
  private static final int SHORT = 32;

  /** The last character of one byte. */
  private static final int MOST_ASCII = 0x7f;

  private Utf8Store() {}

  /**
   * The size in bytes, with the NUL at the end. A short string is looked at character by character,
   * up to the first that is not ASCII: the vectors that a compiler makes of the loop for long ones
   * cost more than they bring there (measured in an event with 9 characters: 1 ns of 21).
   */
  public static long size(String text) {
    int length = text.length();
    if (length > SHORT) {
      return sizeOfLong(text);
    }
    for (int i = 0; i < length; i++) {
      if (Integer.compareUnsigned(text.charAt(i) - 1, MOST_ASCII) >= 0) {
        return Utf8.size(text);
      }
    }
    return length + 1L;
  }

  private static long sizeOfLong(String text) {
    int length = text.length();
    int seen = 0;
    for (int i = 0; i < length; i++) {
      int c = text.charAt(i);
      seen |= c | (c - 1); // a bit from bit 7 on if c is 0, or 0x80 and above
    }
    return (seen & -0x80) == 0 ? length + 1L : Utf8.size(text);
  }

  /** Stores the string and its NUL; returns the place behind it. */
  public static long store(MemorySegment memory, long place, String text) {
    return store(memory, place, text, size(text));
  }

  /** The same for a string whose {@link #size} is known. */
  static long store(MemorySegment memory, long place, String text, long size) {
    if (size != text.length() + 1L) {
      return general(memory, place, text);
    }
    try {
      PUT_ASCII.invokeExact(memory, place, text);
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
    return place + size;
  }

  /** Fills a place exactly: a string that is too long is cut, one that is too short gets blanks. */
  static void fit(MemorySegment memory, long place, long end, String text) {
    long size = size(text);
    if (size == end - place) {
      store(memory, place, text, size);
      return;
    }
    long at = place;
    for (int i = 0; i < text.length(); i += width(text, i)) {
      long next = at + bytes(text, i);
      if (next >= end) {
        break;
      }
      character(memory, at, text, i);
      at = next;
    }
    while (at < end - 1) {
      Store.putByte(memory, at++, (byte) ' ');
    }
    Store.putByte(memory, at, (byte) 0);
  }

  private static long general(MemorySegment memory, long place, String text) {
    long at = place;
    for (int i = 0; i < text.length(); i += width(text, i)) {
      character(memory, at, text, i);
      at += bytes(text, i);
    }
    Store.putByte(memory, at, (byte) 0);
    return at + 1;
  }

  /** How many chars of the string a character is: two if it is a pair of surrogates. */
  private static int width(String text, int i) {
    return isPair(text, i) ? 2 : 1;
  }

  private static boolean isPair(String text, int i) {
    return Character.isHighSurrogate(text.charAt(i))
        && i + 1 < text.length()
        && Character.isLowSurrogate(text.charAt(i + 1));
  }

  /** How many bytes a character takes. */
  private static int bytes(String text, int i) {
    char c = text.charAt(i);
    if (c != 0 && c < 0x800) {
      return c < 0x80 ? 1 : 2;
    }
    return isPair(text, i) ? 4 : 3;
  }

  private static void character(MemorySegment memory, long at, String text, int i) {
    char c = text.charAt(i);
    if (c != 0 && c < 0x80) {
      Store.putByte(memory, at, (byte) c);
    } else if (c != 0 && c < 0x800) {
      Store.putByte(memory, at, (byte) (0xc0 | c >> 6));
      follow(memory, at + 1, c);
    } else if (isPair(text, i)) {
      int whole = Character.toCodePoint(c, text.charAt(i + 1));
      Store.putByte(memory, at, (byte) (0xf0 | whole >> 18));
      follow(memory, at + 1, whole >> 12);
      follow(memory, at + 2, whole >> 6);
      follow(memory, at + 3, whole);
    } else {
      char shown = c == 0 || Character.isSurrogate(c) ? REPLACEMENT : c;
      Store.putByte(memory, at, (byte) (0xe0 | shown >> 12));
      follow(memory, at + 1, shown >> 6);
      follow(memory, at + 2, shown);
    }
  }

  private static void follow(MemorySegment memory, long at, int bits) {
    Store.putByte(memory, at, (byte) (0x80 | (bits & 0x3f)));
  }
}
