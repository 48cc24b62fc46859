package io.quiesce.trace.point;

import io.quiesce.trace.ctf.FieldType;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How an argument is stored: what is left of its type when the names are taken away. Tracepoints
 * with the same kinds share one encoder.
 */
public enum FieldKind {
  /** One byte, 0 or 1. */
  BOOLEAN(boolean.class, 1),
  /** One byte. */
  BYTE(byte.class, 1),
  /** Two bytes, unsigned. */
  CHAR(char.class, 2),
  /** Two bytes. */
  SHORT(short.class, 2),
  /** Four bytes. */
  INT(int.class, 4),
  /** Eight bytes. */
  LONG(long.class, 8),
  /** Four bytes. */
  FLOAT(float.class, 4),
  /** Eight bytes. */
  DOUBLE(double.class, 8),
  /** Any number of bytes: UTF-8 and a NUL. */
  TEXT(String.class, 0),
  /** The ordinal of an enum with 255 constants at most, in one byte; null is 255. */
  ENUM8(Enum.class, 1),
  /** The same of more constants in two bytes; null is 65,535. */
  ENUM16(Enum.class, 2),
  /** Any number of bytes: a length and the elements. */
  BOOLEANS(boolean[].class, 0),
  /** The same. */
  BYTES(byte[].class, 0),
  /** The same. */
  CHARS(char[].class, 0),
  /** The same. */
  SHORTS(short[].class, 0),
  /** The same. */
  INTS(int[].class, 0),
  /** The same. */
  LONGS(long[].class, 0),
  /** The same. */
  FLOATS(float[].class, 0),
  /** The same. */
  DOUBLES(double[].class, 0);

  /** The label of no constant; no constant can have it, since it is a keyword. */
  static final String NULL = "null";

  private static final int DECIMAL = 10;
  private static final int HEX = 16;
  private static final int MOST_IN_BYTE = (1 << 8) - 1;

  private static final Map<Class<?>, FieldKind> KINDS =
      Arrays.stream(values())
          .filter(kind -> kind.type != Enum.class)
          .collect(Collectors.toUnmodifiableMap(FieldKind::type, kind -> kind));

  private final Class<?> type;
  private final int bytes;

  FieldKind(Class<?> type, int bytes) {
    this.type = type;
    this.bytes = bytes;
  }

  /** The kind for a parameter's type, or null if tracepoints cannot have such a parameter. */
  public static @Nullable FieldKind of(Class<?> parameter) {
    if (parameter.isEnum()) {
      int constants = parameter.getEnumConstants().length;
      return constants == 0 ? null : constants <= MOST_IN_BYTE ? ENUM8 : ENUM16;
    }
    return KINDS.get(parameter);
  }

  /** The type that encoders take for it. */
  public ClassDesc descriptor() {
    return type.describeConstable().orElseThrow();
  }

  Class<?> type() {
    return type;
  }

  /** How many words an argument takes. */
  public int slots() {
    return type == long.class || type == double.class ? 2 : 1;
  }

  /** The size in bytes, or 0 if that depends on the value. */
  int bytes() {
    return bytes;
  }

  /** Whether values are integers or arrays of them. */
  public boolean isInteger() {
    return switch (this) {
      case BYTE, CHAR, SHORT, INT, LONG, BYTES, CHARS, SHORTS, INTS, LONGS -> true;
      default -> false;
    };
  }

  boolean isArray() {
    return type.isArray();
  }

  /**
   * What traces say that it is.
   *
   * @param length of an array that always has as many elements, or 0
   */
  public FieldType type(Class<?> parameter, boolean hex, int length) {
    return switch (this) {
      case TEXT -> new FieldType.Text();
      case ENUM8, ENUM16 -> enumeration(parameter);
      default -> {
        Class<?> component = parameter.getComponentType();
        yield component == null
            ? number(parameter, hex)
            : length > 0
                ? new FieldType.Array(number(component, hex), length)
                : new FieldType.Sequence(number(component, hex));
      }
    };
  }

  private static FieldType.Numeric number(Class<?> primitive, boolean hex) {
    FieldKind kind = KINDS.get(primitive);
    if (kind == null) {
      throw new IllegalArgumentException(primitive.toString());
    }
    int bits = kind.bytes * Byte.SIZE;
    return switch (kind) {
      case FLOAT, DOUBLE -> new FieldType.Real(bits);
      case BOOLEAN, CHAR -> new FieldType.Int(bits, false, hex ? HEX : DECIMAL);
      default -> new FieldType.Int(bits, !hex, hex ? HEX : DECIMAL);
    };
  }

  private FieldType enumeration(Class<?> parameter) {
    List<FieldType.Label> labels = new ArrayList<>();
    for (Object constant : parameter.getEnumConstants()) {
      labels.add(new FieldType.Label(((Enum<?>) constant).name(), labels.size(), labels.size()));
    }
    int bits = bytes * Byte.SIZE;
    long none = (1L << bits) - 1;
    labels.add(new FieldType.Label(NULL, none, none));
    return new FieldType.Enumeration(new FieldType.Int(bits, false, DECIMAL), labels);
  }
}
