package io.quiesce.trace.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Strings as traces hold them: UTF-8 and one NUL, the size known before the first byte is stored.
 *
 * <p>A NUL inside a string would end it early, and readers stop at the bytes behind it; half a
 * surrogate pair has no UTF-8. Both become U+FFFD.
 */
public final class Utf8 {
  /** What stands for characters that a trace cannot hold. */
  static final char REPLACEMENT = '\ufffd';

  private Utf8() {}

  /** The size in bytes, with the NUL at the end. */
  public static long size(String text) {
    long size = 1;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0 || c >= 0x800) {
        if (isPair(text, i)) {
          size++; // a pair has 4 bytes: 3 for its first half, 1 for the second
          i++;
        }
        size += 3;
      } else {
        size += c < 0x80 ? 1 : 2;
      }
    }
    return size;
  }

  /** Stores the string and its NUL; returns where the next byte goes. */
  static long write(MemorySegment to, long offset, String text) {
    long at = offset;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != 0 && c < 0x80) {
        at = put(to, at, c);
      } else if (c != 0 && c < 0x800) {
        at = put(to, at, 0xc0 | c >> 6);
        at = put(to, at, 0x80 | (c & 0x3f));
      } else if (isPair(text, i)) {
        int whole = Character.toCodePoint(c, text.charAt(++i));
        at = put(to, at, 0xf0 | whole >> 18);
        at = put(to, at, 0x80 | (whole >> 12 & 0x3f));
        at = put(to, at, 0x80 | (whole >> 6 & 0x3f));
        at = put(to, at, 0x80 | (whole & 0x3f));
      } else {
        char shown = c == 0 || Character.isSurrogate(c) ? REPLACEMENT : c;
        at = put(to, at, 0xe0 | shown >> 12);
        at = put(to, at, 0x80 | (shown >> 6 & 0x3f));
        at = put(to, at, 0x80 | (shown & 0x3f));
      }
    }
    return put(to, at, 0);
  }

  /** The text with {@link #REPLACEMENT} for each half of a surrogate pair that is alone. */
  public static String wellFormed(CharSequence text) {
    StringBuilder whole = new StringBuilder(text);
    for (int i = 0; i < whole.length(); i++) {
      if (isPair(whole, i)) {
        i++;
      } else if (Character.isSurrogate(whole.charAt(i))) {
        whole.setCharAt(i, REPLACEMENT);
      }
    }
    return whole.toString();
  }

  /** The rest of a string from a character on, and its NUL. */
  public static byte[] encode(String text, int from) {
    String rest = text.substring(from);
    byte[] bytes = new byte[(int) size(rest)];
    write(MemorySegment.ofArray(bytes), 0, rest);
    return bytes;
  }

  private static boolean isPair(CharSequence text, int i) {
    return Character.isHighSurrogate(text.charAt(i))
        && i + 1 < text.length()
        && Character.isLowSurrogate(text.charAt(i + 1));
  }

  private static long put(MemorySegment to, long at, int value) {
    to.set(ValueLayout.JAVA_BYTE, at, (byte) value);
    return at + 1;
  }
}
