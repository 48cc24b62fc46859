package io.quiesce.trace.reader;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Numbers one after the other, left where they are until they are asked for. */
final class NumberListValue extends Value {
  private final Type.Listing type;
  private final Type.Scalar element;
  private final @Nullable NumberValue length;
  private final long stride;
  private final boolean signed;
  private Bits source;
  private long start;
  private int size;

  /**
   * A list.
   *
   * @param length the value that tells its length, or null for an array
   */
  NumberListValue(
      Type.Listing type, Type.Scalar element, @Nullable NumberValue length, Bits source) {
    this.type = type;
    this.element = element;
    this.length = length;
    this.source = source;
    stride = ((long) element.bits() + element.align() - 1) & -(long) element.align();
    signed =
        switch (element) {
          case Type.Int integer -> integer.signed();
          case Type.Enumeration enumeration -> enumeration.container().signed();
          case Type.Real _ -> false;
        };
  }

  static long sizeOf(Type.Listing type, @Nullable NumberValue length) {
    return type instanceof Type.Array array
        ? array.length()
        : Objects.requireNonNull(length).asLong();
  }

  @Override
  void decode(Decoder decoder) throws TraceFormatException {
    long count = sizeOf(type, length);
    // One that is empty takes no bits, but aligns.
    start = decoder.take(type.align(), 0);
    if (count < 0
        || count > Integer.MAX_VALUE
        || (count > 0 && (count - 1) * stride + element.bits() > decoder.end() - start)) {
      throw decoder.damaged(
          start, "a list of " + Long.toUnsignedString(count) + " values is longer than its packet");
    }
    source = decoder.bits;
    size = (int) count;
    if (size == 0) {
      decoder.empty();
    } else {
      decoder.at = start + (count - 1) * stride + element.bits();
    }
  }

  @Override
  Value copy(Bits copied) {
    NumberListValue copy = new NumberListValue(type, element, null, copied);
    copy.start = start;
    copy.size = size;
    return copy;
  }

  @Override
  public Type type() {
    return type;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Value at(int index) {
    return new NumberValue(element, false, raw(index));
  }

  @Override
  public long longAt(int index) {
    return element instanceof Type.Real ? (long) doubleAt(index) : raw(index);
  }

  @Override
  public double doubleAt(int index) {
    return NumberValue.real(element, signed, raw(index));
  }

  private long raw(int index) {
    long bit = start + Objects.checkIndex(index, size) * stride;
    return source.get(bit, element.bits(), signed, element.bigEndian());
  }

  @Override
  public boolean isText() {
    return element instanceof Type.Int integer
        && integer.text()
        && stride == Byte.SIZE
        && (start & 7) == 0;
  }

  @Override
  public String asText() {
    if (!isText()) {
      throw wrong("a text");
    }
    long from = start >>> 3;
    long nul = size == 0 ? from : source.findNul(from, from + size);
    int used = nul < 0 ? size : (int) (nul - from);
    return used == 0 ? "" : new String(source.bytes(from, used), StandardCharsets.UTF_8);
  }
}
