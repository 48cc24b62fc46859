package io.quiesce.trace.source;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.point.EventContext;
import io.quiesce.trace.point.EventFilter;
import io.quiesce.trace.point.Point;
import io.quiesce.trace.point.Points;
import io.quiesce.trace.point.Target;
import io.quiesce.trace.point.Utf8Store;
import io.quiesce.trace.ring.RingBuffers;
import io.quiesce.trace.ring.Store;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

/**
 * A tracepoint whose fields are up to five strings, then up to four numbers of 64 bits, then up to
 * one of 32 bits; stores its events without making objects. Thread-safe.
 *
 * <p>An event that is too large for a sub-buffer loses the end of its longest string, since a stack
 * trace without its last frames is better than none.
 *
 * @param point the tracepoint
 * @param strings how many strings it has
 * @param longs how many numbers of 64 bits
 * @param ints how many numbers of 32 bits
 */
record Emitter(Point point, int strings, int longs, int ints) {
  private static final int MOST_STRINGS = 5;
  private static final int MOST_LONGS = 4;
  private static final int MOST_INTS = 1;

  /** The most bytes of a char in UTF-8; a pair of two has four. */
  private static final int MOST_BYTES = 3;

  Emitter {
    if (strings > MOST_STRINGS || longs > MOST_LONGS || ints > MOST_INTS) {
      throw new IllegalArgumentException("too many fields: " + point);
    }
  }

  /** Makes the tracepoint; the three are names of fields. */
  static Emitter of(
      String provider,
      String name,
      int level,
      List<String> strings,
      List<String> longs,
      List<String> ints) {
    List<Field> fields = new ArrayList<>();
    strings.forEach(field -> fields.add(Field.text(field)));
    longs.forEach(field -> fields.add(Field.signed(field, Long.SIZE)));
    ints.forEach(field -> fields.add(Field.signed(field, Integer.SIZE)));
    Point point = Points.of(provider, name, level, fields);
    return new Emitter(point, strings.size(), longs.size(), ints.size());
  }

  /** Whether somebody wants its events now. */
  boolean isOn() {
    return point.target() != null;
  }

  /** An event of strings only. */
  void emit(String a, String b, String c, String d, String e) {
    emit(a, b, c, d, e, 0, 0, 0, 0, 0);
  }

  /** Writes an event, if somebody wants it. What the tracepoint has no field for is ignored. */
  @SuppressWarnings("TooManyParameters") // So that nothing is allocated.
  void emit(
      String a, String b, String c, String d, String e, long p, long q, long r, long s, int i) {
    for (Target target = point.target(); target != null; target = target.next()) {
      if (target.filter() == EventFilter.ALL
          || target.filter().test(values(a, b, c, d, e, p, q, r, s, i))) {
        store(target, a, b, c, d, e, p, q, r, s, i);
      }
    }
  }

  @SuppressWarnings("TooManyParameters")
  private Object[] values(
      String a, String b, String c, String d, String e, long p, long q, long r, long s, int i) {
    Object[] values = new Object[strings + longs + ints];
    System.arraycopy(new Object[] {a, b, c, d, e}, 0, values, 0, strings);
    System.arraycopy(new Object[] {p, q, r, s}, 0, values, strings, longs);
    System.arraycopy(new Object[] {i}, 0, values, strings + longs, ints);
    return values;
  }

  private long size(String a, String b, String c, String d, String e) {
    long bytes = (long) longs * Long.BYTES + (long) ints * Integer.BYTES;
    bytes += strings > 0 ? Utf8Store.size(a) : 0;
    bytes += strings > 1 ? Utf8Store.size(b) : 0;
    bytes += strings > 2 ? Utf8Store.size(c) : 0;
    bytes += strings > 3 ? Utf8Store.size(d) : 0;
    bytes += strings > 4 ? Utf8Store.size(e) : 0;
    return bytes;
  }

  @SuppressWarnings("TooManyParameters")
  private void store(
      Target target,
      String a,
      String b,
      String c,
      String d,
      String e,
      long p,
      long q,
      long r,
      long s,
      int i) {
    RingBuffers ring = target.ring();
    EventContext context = target.context();
    long shared = context == EventContext.NONE ? 0 : context.bytes();
    long bytes = shared + size(a, b, c, d, e);
    if (bytes > ring.mostBytes()) {
      String[] cut = {a, b, c, d, e};
      if (isShortened(cut, bytes - ring.mostBytes())) {
        store(target, cut[0], cut[1], cut[2], cut[3], cut[4], p, q, r, s, i);
        return;
      }
    }
    long record = ring.reserve(bytes);
    if (record == 0) {
      return;
    }
    boolean stored = false;
    try {
      MemorySegment memory = ring.memory();
      long at = RingBuffers.fields(record);
      if (shared > 0) {
        at = context.store(memory, at, at + shared);
      }
      at = strings > 0 ? Utf8Store.store(memory, at, a) : at;
      at = strings > 1 ? Utf8Store.store(memory, at, b) : at;
      at = strings > 2 ? Utf8Store.store(memory, at, c) : at;
      at = strings > 3 ? Utf8Store.store(memory, at, d) : at;
      at = strings > 4 ? Utf8Store.store(memory, at, e) : at;
      at = longs > 0 ? storeLong(memory, at, p) : at;
      at = longs > 1 ? storeLong(memory, at, q) : at;
      at = longs > 2 ? storeLong(memory, at, r) : at;
      at = longs > 3 ? storeLong(memory, at, s) : at;
      if (ints > 0) {
        Store.putInt(memory, at, i);
      }
      ring.commit(record, bytes, target.id());
      stored = true;
    } finally {
      if (!stored) {
        ring.abandon(record, bytes);
      }
      Reference.reachabilityFence(ring);
    }
  }

  private static long storeLong(MemorySegment memory, long at, long value) {
    Store.putLong(memory, at, value);
    return at + Long.BYTES;
  }

  /** Cuts the longest of the strings by so many bytes, and some more; false if it is too short. */
  private boolean isShortened(String[] all, long bytes) {
    int longest = 0;
    for (int i = 1; i < strings; i++) {
      longest = all[i].length() > all[longest].length() ? i : longest;
    }
    long room = Utf8Store.size(all[longest]) - 1 - bytes;
    if (strings == 0 || room < 0) {
      return false;
    }
    String text = all[longest];
    int end = 0;
    while (end < text.length() && room >= MOST_BYTES) {
      char c = text.charAt(end++);
      room -= c < 0x80 && c != 0 ? 1 : MOST_BYTES;
    }
    all[longest] = text.substring(0, end);
    return end < text.length();
  }
}
