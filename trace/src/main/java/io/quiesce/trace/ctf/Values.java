package io.quiesce.trace.ctf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Array;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Field values as bytes: checked first, then measured, then stored, so that storing cannot fail.
 *
 * <p>An integer or enumeration takes a {@link Number}, {@link Character} or {@link Boolean}, and
 * keeps its low bits as a C cast does; a real a {@link Number}; text any object by its {@code
 * toString}, null included; an array or sequence a Java array of integers or of floating-point
 * numbers, as its elements are.
 */
final class Values {
  private Values() {}

  /**
   * The values in a form that no longer changes its size.
   *
   * @throws IllegalArgumentException if there are too few or too many, or one is of no use for its
   *     field
   */
  static Object[] check(List<Field> fields, @Nullable Object[] values) {
    if (values.length != fields.size()) {
      throw new IllegalArgumentException(
          values.length + " values for " + fields.size() + " fields");
    }
    Object[] checked = new Object[values.length];
    for (int i = 0; i < checked.length; i++) {
      checked[i] = check(fields.get(i), values[i]);
    }
    return checked;
  }

  private static Object check(Field field, @Nullable Object value) {
    return switch (field.type()) {
      case FieldType.Text _ -> String.valueOf(value);
      case FieldType.Int _, FieldType.Enumeration _ ->
          switch (value) {
            case Number n -> n.longValue();
            case Character c -> (long) c;
            case Boolean b -> b ? 1L : 0L;
            case null, default -> throw wrong(field, value);
          };
      case FieldType.Real _ -> {
        if (value instanceof Number n) {
          yield n.doubleValue();
        }
        throw wrong(field, value);
      }
      case FieldType.Array array -> {
        if (value != null
            && fits(array.element(), value)
            && Array.getLength(value) == array.length()) {
          yield value;
        }
        throw wrong(field, value);
      }
      case FieldType.Sequence sequence -> {
        if (value != null && fits(sequence.element(), value)) {
          yield value;
        }
        throw wrong(field, value);
      }
    };
  }

  private static boolean fits(FieldType.Numeric element, Object value) {
    Class<?> component = value.getClass().getComponentType();
    if (component == null || !component.isPrimitive() || component == boolean.class) {
      return false;
    }
    boolean real = component == double.class || component == float.class;
    return real == element instanceof FieldType.Real;
  }

  private static IllegalArgumentException wrong(Field field, @Nullable Object value) {
    return new IllegalArgumentException(
        "Field " + field.name() + " is " + field.type() + " and cannot hold " + value);
  }

  /** The size in bytes of checked values. */
  static long size(List<Field> fields, Object[] checked) {
    long size = 0;
    for (int i = 0; i < checked.length; i++) {
      size +=
          switch (fields.get(i).type()) {
            case FieldType.Numeric number -> number.bytes();
            case FieldType.Enumeration e -> e.container().bytes();
            case FieldType.Text _ -> Utf8.size((String) checked[i]);
            case FieldType.Array a -> (long) a.length() * a.element().bytes();
            case FieldType.Sequence s ->
                Integer.BYTES + (long) Array.getLength(checked[i]) * s.element().bytes();
          };
    }
    return size;
  }

  /** Stores checked values; returns where the next byte goes. */
  static long write(MemorySegment to, long offset, List<Field> fields, Object[] checked) {
    long at = offset;
    for (int i = 0; i < checked.length; i++) {
      Object value = checked[i];
      at =
          switch (fields.get(i).type()) {
            case FieldType.Int type -> integer(to, at, type, (Long) value);
            case FieldType.Enumeration e -> integer(to, at, e.container(), (Long) value);
            case FieldType.Real type -> real(to, at, type, (Double) value);
            case FieldType.Text _ -> Utf8.write(to, at, (String) value);
            case FieldType.Array array -> elements(to, at, array.element(), value);
            case FieldType.Sequence sequence -> {
              to.set(Bytes.INT, at, Array.getLength(value));
              yield elements(to, at + Integer.BYTES, sequence.element(), value);
            }
          };
    }
    return at;
  }

  private static long elements(
      MemorySegment to, long offset, FieldType.Numeric type, Object array) {
    long at = offset;
    int length = Array.getLength(array);
    for (int i = 0; i < length; i++) {
      at =
          switch (type) {
            case FieldType.Int integer -> integer(to, at, integer, Array.getLong(array, i));
            case FieldType.Real real -> real(to, at, real, Array.getDouble(array, i));
          };
    }
    return at;
  }

  private static long integer(MemorySegment to, long at, FieldType.Int type, long value) {
    switch (type.bits()) {
      case 8 -> to.set(ValueLayout.JAVA_BYTE, at, (byte) value);
      case 16 -> to.set(Bytes.SHORT, at, (short) value);
      case 32 -> to.set(Bytes.INT, at, (int) value);
      default -> to.set(Bytes.LONG, at, value);
    }
    return at + type.bytes();
  }

  private static long real(MemorySegment to, long at, FieldType.Real type, double value) {
    if (type.bits() == 32) {
      to.set(Bytes.INT, at, Float.floatToRawIntBits((float) value));
    } else {
      to.set(Bytes.LONG, at, Double.doubleToRawLongBits(value));
    }
    return at + type.bytes();
  }
}
