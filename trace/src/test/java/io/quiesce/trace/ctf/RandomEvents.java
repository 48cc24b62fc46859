package io.quiesce.trace.ctf;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceFormat;
import java.lang.reflect.Array;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

/** Random event types and values, and what a reader has to make of them. */
public final class RandomEvents {
  private static final String[] NAMES = {
    "",
    "id",
    "string",
    "Bool",
    "_x",
    "a b",
    "a-b",
    "a_b",
    "gr\u00f6\u00dfe",
    "\ud800",
    "9",
    "x_length",
    "_x_length",
    "event",
    "\ud83d\ude00",
    "\n\"\\",
    "stream.event.context",
    "timestamp"
  };
  private static final String[] TEXTS = {
    "",
    "",
    "x",
    "a\0b",
    "\0",
    "\ud800",
    "\udc00\ud800",
    "\ud83d\ude00",
    "\u65e5\u672c\u8a9e",
    "\n\t\r\"\\\u0001\u007f\u0085",
    "%s%n",
    "\ufeff",
    "}, { x = 1",
    "long ".repeat(100)
  };
  private static final long[] INTEGERS = {
    0,
    1,
    -1,
    127,
    128,
    -128,
    255,
    256,
    32767,
    32768,
    65535,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    0xffff_ffffL,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };
  private static final double[] REALS = {
    0,
    -0.0,
    1,
    -1.5,
    Math.PI,
    Double.NaN,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY,
    Float.MAX_VALUE,
    Float.MIN_VALUE,
    Double.MAX_VALUE,
    Double.MIN_VALUE,
    Double.MIN_NORMAL
  };

  private final Random random;

  public RandomEvents(long seed) {
    random = new Random(seed);
  }

  public EventType type(int id) {
    String name = NAMES[random.nextInt(NAMES.length)] + id;
    return new EventType(id, "p" + NAMES[random.nextInt(NAMES.length)], name, id % 15, fields(6));
  }

  public List<Field> fields(int most) {
    List<Field> fields = new ArrayList<>();
    for (int n = random.nextInt(most + 1); n > 0; n--) {
      fields.add(new Field(NAMES[random.nextInt(NAMES.length)], fieldType()));
    }
    return fields;
  }

  private FieldType fieldType() {
    return switch (random.nextInt(6)) {
      case 0 -> integer();
      case 1 -> real();
      case 2 -> new FieldType.Text();
      case 3 -> new FieldType.Array(number(), 1 + random.nextInt(4));
      case 4 -> new FieldType.Sequence(number());
      default -> enumeration();
    };
  }

  private FieldType.Numeric number() {
    return random.nextBoolean() ? integer() : real();
  }

  private FieldType.Int integer() {
    int[] bases = {2, 8, 10, 10, 10, 16};
    return new FieldType.Int(
        8 << random.nextInt(4), random.nextBoolean(), bases[random.nextInt(6)]);
  }

  private FieldType.Real real() {
    return new FieldType.Real(32 << random.nextInt(2));
  }

  private FieldType.Enumeration enumeration() {
    FieldType.Int container = new FieldType.Int(8 << random.nextInt(4), random.nextBoolean(), 10);
    List<FieldType.Label> labels = new ArrayList<>();
    for (int n = 1 + random.nextInt(4); n > 0; n--) {
      long a = extend(anyInteger(), container);
      long b = extend(anyInteger(), container);
      boolean ordered = container.signed() ? a <= b : Long.compareUnsigned(a, b) <= 0;
      String text = TEXTS[random.nextInt(TEXTS.length)];
      labels.add(new FieldType.Label(text, ordered ? a : b, ordered ? b : a));
    }
    return new FieldType.Enumeration(container, labels);
  }

  private static long extend(long value, FieldType.Int type) {
    int unused = 64 - type.bits();
    return type.signed() ? value << unused >> unused : value << unused >>> unused;
  }

  private long anyInteger() {
    return random.nextInt(3) == 0 ? random.nextLong() : INTEGERS[random.nextInt(INTEGERS.length)];
  }

  private double anyReal() {
    return random.nextInt(3) == 0 ? random.nextGaussian() : REALS[random.nextInt(REALS.length)];
  }

  public Object[] values(List<Field> fields) {
    return fields.stream().map(field -> value(field.type())).toArray();
  }

  private Object value(FieldType type) {
    return switch (type) {
      case FieldType.Int _, FieldType.Enumeration _ -> anyInteger();
      case FieldType.Real _ -> anyReal();
      case FieldType.Text _ -> TEXTS[random.nextInt(TEXTS.length)];
      case FieldType.Array array -> elements(array.element(), array.length());
      case FieldType.Sequence sequence -> elements(sequence.element(), random.nextInt(5));
    };
  }

  private Object elements(FieldType.Numeric type, int length) {
    return type instanceof FieldType.Int
        ? random.ints(length).mapToLong(_ -> anyInteger()).toArray()
        : random.ints(length).mapToDouble(_ -> anyReal()).toArray();
  }

  /** Fails unless the reader's structure is what these values have to look like. */
  public static void check(Map<String, Object> read, List<Field> fields, List<Object> values) {
    check(read, fields, values, TraceFormat.CTF_1_8);
  }

  /** As the other one, with the names of a format. */
  public static void check(
      Map<String, Object> read, List<Field> fields, List<Object> values, TraceFormat format) {
    Names names = new Names();
    boolean verbatim = format == TraceFormat.CTF_2;
    Map<String, Object> expected = new HashMap<>();
    for (int i = 0; i < values.size(); i++) {
      String given = fields.get(i).name();
      String identifier = verbatim ? '_' + names.verbatim(given) : names.field(given);
      String shown = identifier.substring(1);
      check(Objects.requireNonNull(read.get(shown), shown), fields.get(i).type(), values.get(i));
      expected.put(shown, values.get(i));
      if (fields.get(i).type() instanceof FieldType.Sequence) {
        String length =
            verbatim
                ? names.verbatim(identifier + "_length")
                : names.field(identifier + "_length").substring(1);
        expected.put(length, values.get(i));
        assertThat(read.get(length)).isEqualTo(BigInteger.valueOf(Array.getLength(values.get(i))));
      }
    }
    assertThat(read.keySet()).isEqualTo(expected.keySet());
  }

  private static void check(Object read, FieldType type, Object value) {
    switch (type) {
      case FieldType.Int integer -> {
        // In base 8 the reader prints whole digits, so up to two bits more than there are.
        BigInteger bits = BigInteger.ONE.shiftLeft(integer.bits());
        BigInteger number = (BigInteger) read;
        assertThat(integer.base() == 8 ? number.mod(bits) : number)
            .isEqualTo(shown(integer, (Long) value));
      }
      case FieldType.Real real -> checkReal(((Number) read).doubleValue(), real, (Double) value);
      case FieldType.Text _ -> {
        // babeltrace2 2.0 shows an earlier string instead of an empty one; see the Python test.
        if (!"".equals(value)) {
          assertThat(read).isEqualTo(legible((String) value));
        }
      }
      case FieldType.Enumeration e -> {
        Babeltrace.Labelled labelled = (Babeltrace.Labelled) read;
        assertThat(labelled.value()).isEqualTo(shown(e.container(), (Long) value));
        assertThat(new HashSet<>(labelled.labels())).isEqualTo(labels(e, (Long) value));
      }
      case FieldType.Array array -> checkAll((List<?>) read, array.element(), value);
      case FieldType.Sequence sequence -> checkAll((List<?>) read, sequence.element(), value);
    }
  }

  private static void checkAll(List<?> read, FieldType.Numeric type, Object array) {
    assertThat(read).hasSize(Array.getLength(array));
    for (int i = 0; i < read.size(); i++) {
      check(read.get(i), type, Array.get(array, i));
    }
  }

  /** The reader shows six digits. */
  private static void checkReal(double read, FieldType.Real type, double value) {
    double stored = type.bits() == 32 ? (float) value : value;
    if (Double.isNaN(stored) || Double.isInfinite(stored) || stored == 0) {
      // The reader may print a zero without its sign: realsKeepTheirBits looks at that.
      assertThat(Double.valueOf(read + 0.0)).isEqualTo(Double.valueOf(stored + 0.0));
    } else {
      // Of what is as large as a number can be, six digits may round to more than that.
      boolean same = Double.isInfinite(read) && Math.abs(stored) == Double.MAX_VALUE;
      assertThat(same || Math.abs(read - stored) <= 1e-5 * Math.abs(stored))
          .as("%s for %s", read, stored)
          .isTrue();
    }
  }

  private static BigInteger shown(FieldType.Int type, long value) {
    BigInteger whole = BigInteger.valueOf(extend(value, type));
    boolean negative = whole.signum() < 0 && (type.base() != 10 || !type.signed());
    return negative ? whole.add(BigInteger.ONE.shiftLeft(type.bits())) : whole;
  }

  private static Set<String> labels(FieldType.Enumeration type, long value) {
    long stored = extend(value, type.container());
    Set<String> labels = new HashSet<>();
    for (FieldType.Label label : type.labels()) {
      boolean in =
          type.container().signed()
              ? label.low() <= stored && stored <= label.high()
              : Long.compareUnsigned(label.low(), stored) <= 0
                  && Long.compareUnsigned(stored, label.high()) <= 0;
      if (in) {
        labels.add(legible(label.text().replaceAll("\\p{Cntrl}|\u0085", "\ufffd")));
      }
    }
    return labels;
  }

  public static String legible(String text) {
    int[] points =
        text.codePoints().map(c -> c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c).toArray();
    return new String(points, 0, points.length);
  }
}
