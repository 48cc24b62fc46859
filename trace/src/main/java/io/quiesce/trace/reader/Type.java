package io.quiesce.trace.reader;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a value in a trace is, as the metadata tells it. Immutable.
 *
 * <p>Alignment is in bits from the packet's first byte. Types are not to be compared: the same
 * description in two places is two types.
 */
public sealed interface Type {

  /** Bits, a power of two, on a multiple of which a value begins. */
  int align();

  /** How many values one value of this type consists of, at least, and at most {@link #LIMIT}. */
  int nodes();

  /** How deep values are nested in it. */
  int depth();

  /** The most {@link #nodes()}: a few lines of metadata can describe 2^64 values. */
  int LIMIT = 1 << 16;

  /** The most {@link #depth()}. */
  int DEPTH = 64;

  /** An integer, a real number or an enumeration: it has a size that is known. */
  sealed interface Scalar extends Type {
    /** Size in bits. */
    int bits();

    /** Whether the most significant bits come first. */
    boolean bigEndian();

    @Override
    default int nodes() {
      return 1;
    }

    @Override
    default int depth() {
      return 1;
    }
  }

  /**
   * An integer.
   *
   * @param bits 1 to 64
   * @param align see {@link Type#align()}
   * @param signed whether it has a sign
   * @param base in which it is shown: 2, 8, 10 or 16
   * @param bigEndian see {@link Scalar#bigEndian()}
   * @param text whether arrays of it are text
   * @param clock whose time it holds, or null
   */
  record Int(
      int bits,
      int align,
      boolean signed,
      int base,
      boolean bigEndian,
      boolean text,
      @Nullable String clock)
      implements Scalar {}

  /**
   * A binary floating-point number.
   *
   * @param bits 32 or 64
   * @param align see {@link Type#align()}
   * @param bigEndian see {@link Scalar#bigEndian()}
   */
  record Real(int bits, int align, boolean bigEndian) implements Scalar {}

  /**
   * A name of a range of values.
   *
   * @param text the name
   * @param low the first value
   * @param high the last one, included
   */
  record Label(String text, long low, long high) {
    private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);
    private static final BigInteger MOST_UNSIGNED =
        BigInteger.ONE.shiftLeft(Long.SIZE).subtract(BigInteger.ONE);

    /** What of a range an integer of 64 bits can be, or null if that is nothing. */
    static @Nullable Label within(String text, BigInteger low, BigInteger high, boolean signed) {
      BigInteger from = low.max(signed ? LEAST : BigInteger.ZERO);
      BigInteger to = high.min(signed ? MOST : MOST_UNSIGNED);
      return from.compareTo(to) > 0 ? null : new Label(text, from.longValue(), to.longValue());
    }
  }

  /**
   * An integer whose values have names.
   *
   * @param container the integer
   * @param labels which may overlap
   */
  record Enumeration(Int container, List<Label> labels) implements Scalar {
    public Enumeration {
      labels = List.copyOf(labels);
    }

    @Override
    public int bits() {
      return container.bits();
    }

    @Override
    public int align() {
      return container.align();
    }

    @Override
    public boolean bigEndian() {
      return container.bigEndian();
    }

    boolean within(Label label, long value) {
      return container.signed()
          ? label.low <= value && value <= label.high
          : Long.compareUnsigned(label.low, value) <= 0
              && Long.compareUnsigned(value, label.high) <= 0;
    }

    /** The first name of a value, or null. */
    public @Nullable String labelOf(long value) {
      for (Label label : labels) {
        if (within(label, value)) {
          return label.text;
        }
      }
      return null;
    }

    /** All names of a value in the order of the metadata. */
    public List<String> labelsOf(long value) {
      List<String> found = new ArrayList<>(1);
      for (Label label : labels) {
        if (within(label, value)) {
          found.add(label.text);
        }
      }
      return found;
    }
  }

  /** Text with a NUL behind it. */
  record Text() implements Type {
    @Override
    public int align() {
      return Byte.SIZE;
    }

    @Override
    public int nodes() {
      return 1;
    }

    @Override
    public int depth() {
      return 1;
    }
  }

  /**
   * A part of a structure, or a choice of a variant.
   *
   * @param written its name in the metadata
   * @param name its name for people: without the underscore that LTTng puts before it in CTF 1.8;
   *     what has a role in CTF 2 is called as in 1.8
   * @param type what it is
   */
  record Field(String written, String name, Type type) {
    static Field of(String written, Type type) {
      boolean hidden = written.length() > 1 && written.charAt(0) == '_';
      return new Field(written, hidden ? written.substring(1) : written, type);
    }
  }

  /** Fields one after the other. */
  final class Struct implements Type {
    private final List<Field> fields;
    private final Map<String, Integer> names = new HashMap<>();
    private final int align;
    private final int nodes;
    private final int depth;

    Struct(List<Field> fields, int atLeast) {
      this.fields = List.copyOf(fields);
      int most = Math.max(1, atLeast);
      for (int i = 0; i < fields.size(); i++) {
        most = Math.max(most, fields.get(i).type.align());
        names.putIfAbsent(fields.get(i).name, i);
      }
      align = most;
      nodes = nodesOf(fields);
      depth = depthOf(fields);
    }

    /** In the order in which they are stored. */
    public List<Field> fields() {
      return fields;
    }

    /** The position of a field by its name for people, or -1. */
    public int indexOf(String name) {
      return names.getOrDefault(name, -1);
    }

    @Override
    public int align() {
      return align;
    }

    @Override
    public int nodes() {
      return nodes;
    }

    @Override
    public int depth() {
      return depth;
    }
  }

  /**
   * The values that choose an option of a variant.
   *
   * @param option the option's position
   * @param low the first value
   * @param high the last one, included
   */
  record Choice(int option, BigInteger low, BigInteger high) {}

  /** One of several types, chosen by an enumeration's label, or in CTF 2 by an integer's value. */
  final class Variant implements Type {
    private final @Nullable String tag;
    private final List<Field> options;
    private final @Nullable List<Choice> choices;
    private final int otherwise;
    private final int nodes;
    private final int depth;

    Variant(@Nullable String tag, List<Field> options) {
      this(tag, options, null, -1);
    }

    /**
     * A variant.
     *
     * @param choices what values choose, or null if labels do
     * @param otherwise the option that all other values choose, or -1
     */
    Variant(
        @Nullable String tag, List<Field> options, @Nullable List<Choice> choices, int otherwise) {
      this.tag = tag;
      this.choices = choices;
      this.otherwise = otherwise;
      this.options = List.copyOf(options);
      nodes = nodesOf(options);
      depth = depthOf(options);
    }

    /** The path to the enumeration, or null as long as none has been given. */
    public @Nullable String tag() {
      return tag;
    }

    /** The choices. */
    public List<Field> options() {
      return options;
    }

    @Nullable List<Choice> choices() {
      return choices;
    }

    int otherwise() {
      return otherwise;
    }

    /** The choice aligns itself. */
    @Override
    public int align() {
      return 1;
    }

    @Override
    public int nodes() {
      return nodes;
    }

    @Override
    public int depth() {
      return depth;
    }
  }

  /**
   * A number of values that the metadata fixes.
   *
   * @param element each
   * @param length how many
   * @param atLeast the least alignment
   */
  record Array(Type element, long length, int atLeast) implements Listing {
    Array(Type element, long length) {
      this(element, length, 1);
    }
  }

  /**
   * A number of values that an integer before them tells.
   *
   * @param element each
   * @param length the path to the integer
   * @param atLeast the least alignment
   */
  record Sequence(Type element, String length, int atLeast) implements Listing {
    Sequence(Type element, String length) {
      this(element, length, 1);
    }
  }

  /** Values of one type, one after the other. */
  sealed interface Listing extends Type {
    /** What each one is. */
    Type element();

    /** The least alignment, whatever the elements have. */
    int atLeast();

    @Override
    default int align() {
      return Math.max(atLeast(), element().align());
    }

    @Override
    default int nodes() {
      return 1 + element().nodes();
    }

    @Override
    default int depth() {
      return 1 + element().depth();
    }
  }

  private static int nodesOf(List<Field> fields) {
    long nodes = 1;
    for (Field field : fields) {
      nodes += field.type.nodes();
    }
    return (int) Math.min(nodes, LIMIT + 1);
  }

  private static int depthOf(List<Field> fields) {
    int depth = 0;
    for (Field field : fields) {
      depth = Math.max(depth, field.type.depth());
    }
    return depth + 1;
  }
}
