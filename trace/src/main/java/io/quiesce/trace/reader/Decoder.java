package io.quiesce.trace.reader;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the reading of a packet stands: the next bit, the end, the clock.
 *
 * <p>It also keeps damaged or hostile input from making work without end: what takes no bits may
 * occur 65,536 times in an event, and lists of structures have a million elements at most.
 */
final class Decoder implements Layout.Wrong {
  private static final int MAX_EMPTY = 1 << 16;
  private static final int MAX_ELEMENTS = 1 << 20;

  /** Lists of an event that had more than that are made anew, so that memory does not add up. */
  private static final int KEPT_ELEMENTS = 1 << 10;

  final Bits bits;
  private final Path file;
  private long packetOffset;
  private long end;
  private final List<ValueListValue> lists = new ArrayList<>();
  private int empty;
  private int elements;

  /** The next bit. */
  long at;

  /** The clock's last known time. */
  long ticks;

  Decoder(Path file, Bits bits) {
    this.file = file;
    this.bits = bits;
  }

  /** Begins a part that has its own budget: a packet's head or an event. */
  void begin(long offsetOfPacket, long bit, long endBit) {
    packetOffset = offsetOfPacket;
    at = bit;
    end = endBit;
    empty = 0;
    if (elements > KEPT_ELEMENTS) {
      lists.forEach(ValueListValue::trim);
    }
    elements = 0;
    lists.clear();
  }

  long end() {
    return end;
  }

  void align(int align) {
    at = (at + align - 1) & -align;
  }

  /** Aligns, takes so many bits, and returns the first one. */
  long take(int align, long size) throws TraceFormatException {
    long start = (at + align - 1) & -align;
    if (size > end - start) {
      throw tooShort();
    }
    at = start + size;
    return start;
  }

  TraceFormatException tooShort() {
    return damaged(at, "the packet ends within a value");
  }

  /** To be told of a list, structure or choice that ended where it began. */
  void empty() throws TraceFormatException {
    if (++empty > MAX_EMPTY) {
      throw damaged(at, "an event of so many values without content is not read");
    }
  }

  /** To be told of a list of what is not a number, before its elements are made. */
  void elements(long count, ValueListValue list) throws TraceFormatException {
    int each = ((Type.Listing) list.type()).element().nodes();
    if (count < 0 || count > (MAX_ELEMENTS - elements) / each) {
      throw damaged(at, "a list of " + Long.toUnsignedString(count) + " values is not read");
    }
    elements += (int) count * each;
    lists.add(list);
  }

  /** Moves the clock to the next time that ends with these bits. */
  void tick(long value, int size) {
    if (size == Long.SIZE) {
      ticks = value;
      return;
    }
    long step = 1L << size;
    long next = (ticks & -step) | (value & (step - 1));
    ticks = Long.compareUnsigned(next, ticks) < 0 ? next + step : next;
  }

  @Override
  public TraceFormatException because(String what) {
    return damaged(at, what);
  }

  TraceFormatException damaged(long bit, String what) {
    return new TraceFormatException(file, packetOffset + (bit >>> 3), what);
  }
}
