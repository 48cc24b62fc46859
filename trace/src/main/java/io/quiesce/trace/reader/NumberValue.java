package io.quiesce.trace.reader;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An integer, an enumeration or a real number. */
final class NumberValue extends Value {
  private final Type.Scalar type;
  private final int bits;
  private final int align;
  private final boolean signed;
  private final boolean bigEndian;
  private final boolean moves;

  /** The bits of a real number as they are; integers extended to 64 bits. */
  private long raw;

  /**
   * A value.
   *
   * @param moves whether it moves the clock
   */
  NumberValue(Type.Scalar type, boolean moves) {
    this.type = type;
    this.moves = moves;
    bits = type.bits();
    align = type.align();
    bigEndian = type.bigEndian();
    signed =
        switch (type) {
          case Type.Int integer -> integer.signed();
          case Type.Enumeration enumeration -> enumeration.container().signed();
          case Type.Real _ -> false;
        };
  }

  NumberValue(Type.Scalar type, boolean moves, long raw) {
    this(type, moves);
    this.raw = raw;
  }

  @Override
  void decode(Decoder decoder) throws TraceFormatException {
    raw = decoder.bits.get(decoder.take(align, bits), bits, signed, bigEndian);
    if (moves) {
      decoder.tick(raw, bits);
    }
  }

  @Override
  NumberValue copy(Bits source) {
    return copy();
  }

  NumberValue copy() {
    return new NumberValue(type, false, raw);
  }

  @Override
  public Type.Scalar type() {
    return type;
  }

  @Override
  public long asLong() {
    return type instanceof Type.Real ? (long) asDouble() : raw;
  }

  @Override
  public double asDouble() {
    return real(type, signed, raw);
  }

  static double real(Type.Scalar type, boolean signed, long raw) {
    if (type instanceof Type.Real) {
      return type.bits() == Integer.SIZE
          ? Float.intBitsToFloat((int) raw)
          : Double.longBitsToDouble(raw);
    }
    return signed || raw >= 0 ? raw : ((raw >>> 1) | (raw & 1)) * 2.0;
  }

  @Override
  public @Nullable String label() {
    return enumeration().labelOf(raw);
  }

  @Override
  public List<String> labels() {
    return enumeration().labelsOf(raw);
  }

  private Type.Enumeration enumeration() {
    if (type instanceof Type.Enumeration enumeration) {
      return enumeration;
    }
    throw wrong("an enumeration");
  }
}
