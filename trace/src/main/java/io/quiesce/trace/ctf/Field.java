package io.quiesce.trace.ctf;

/**
 * One field of an event or of the context that all events have. Immutable.
 *
 * @param name any text; {@link Names} makes of it what the format can express
 * @param type what the field holds
 */
public record Field(String name, FieldType type) {

  /** A signed decimal integer of 8, 16, 32 or 64 bits. */
  public static Field signed(String name, int bits) {
    return new Field(name, new FieldType.Int(bits, true, 10));
  }

  /** An unsigned decimal integer of 8, 16, 32 or 64 bits. */
  public static Field unsigned(String name, int bits) {
    return new Field(name, new FieldType.Int(bits, false, 10));
  }

  /** An unsigned integer that readers show in base 16, such as an address. */
  public static Field hex(String name, int bits) {
    return new Field(name, new FieldType.Int(bits, false, 16));
  }

  /** A floating-point number of 32 or 64 bits. */
  public static Field real(String name, int bits) {
    return new Field(name, new FieldType.Real(bits));
  }

  /** Text. */
  public static Field text(String name) {
    return new Field(name, new FieldType.Text());
  }

  /** Any number of bytes, shown in base 16. */
  public static Field bytes(String name) {
    return sequence(name, new FieldType.Int(8, false, 16));
  }

  /** Any number of numbers. */
  public static Field sequence(String name, FieldType.Numeric element) {
    return new Field(name, new FieldType.Sequence(element));
  }

  /** A fixed number of numbers. */
  public static Field array(String name, FieldType.Numeric element, int length) {
    return new Field(name, new FieldType.Array(element, length));
  }
}
