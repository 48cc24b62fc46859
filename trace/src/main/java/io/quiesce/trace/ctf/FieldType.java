package io.quiesce.trace.ctf;

import java.util.ArrayList;
import java.util.List;

/** What a field holds. Immutable; two types that are described alike are equal. */
public sealed interface FieldType {

  /**
   * An integer, little-endian, at any byte.
   *
   * @param bits 8, 16, 32 or 64
   * @param signed whether readers show it with a sign
   * @param base in which readers show it: 2, 8, 10 or 16
   */
  record Int(int bits, boolean signed, int base) implements Numeric {
    public Int {
      if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
        throw new IllegalArgumentException("An integer has 8, 16, 32 or 64 bits, not " + bits);
      }
      if (base != 2 && base != 8 && base != 10 && base != 16) {
        throw new IllegalArgumentException("An integer's base is 2, 8, 10 or 16, not " + base);
      }
    }

    @Override
    public int bytes() {
      return bits >> 3;
    }

    /** Whether the value, its bits read as this type reads 64 bits, can be stored unchanged. */
    boolean holds(long value) {
      if (bits == 64) {
        return true;
      }
      return signed ? value << (64 - bits) >> (64 - bits) == value : value >>> bits == 0;
    }
  }

  /**
   * A binary floating-point number of IEEE 754.
   *
   * @param bits 32 or 64
   */
  record Real(int bits) implements Numeric {
    public Real {
      if (bits != 32 && bits != 64) {
        throw new IllegalArgumentException("A real number has 32 or 64 bits, not " + bits);
      }
    }

    @Override
    public int bytes() {
      return bits >> 3;
    }
  }

  /** What arrays and sequences are made of. */
  sealed interface Numeric extends FieldType {

    /** Size in bytes. */
    int bytes();
  }

  /**
   * An integer whose values have names. Values without a name are fine, and labels may overlap.
   *
   * @param container the integer
   * @param labels at least one
   */
  record Enumeration(Int container, List<Label> labels) implements FieldType {
    public Enumeration {
      labels = List.copyOf(labels);
      if (labels.isEmpty()) {
        throw new IllegalArgumentException("An enumeration has at least one label");
      }
      for (Label label : labels) {
        boolean ordered =
            container.signed()
                ? label.low <= label.high
                : Long.compareUnsigned(label.low, label.high) <= 0;
        if (!ordered || !container.holds(label.low) || !container.holds(label.high)) {
          throw new IllegalArgumentException("No range of values of this enumeration: " + label);
        }
      }
    }

    /** Labels for the values 0, 1, 2 and so on, in 8, 16 or 32 bits as their number needs. */
    public static Enumeration of(List<String> names) {
      int bits = names.size() <= 1 << 8 ? 8 : names.size() <= 1 << 16 ? 16 : 32;
      List<Label> labels = new ArrayList<>(names.size());
      for (String name : names) {
        labels.add(new Label(name, labels.size(), labels.size()));
      }
      return new Enumeration(new Int(bits, false, 10), labels);
    }
  }

  /**
   * The name of a range of values.
   *
   * @param text any text
   * @param low the first value
   * @param high the last value, included
   */
  record Label(String text, long low, long high) {}

  /** Text: UTF-8 with a NUL behind it. */
  record Text() implements FieldType {}

  /**
   * A fixed number of numbers, without padding between them.
   *
   * @param element each
   * @param length how many, at least 1
   */
  record Array(Numeric element, int length) implements FieldType {
    public Array {
      if (length < 1) {
        throw new IllegalArgumentException("An array has at least one element, not " + length);
      }
    }
  }

  /**
   * A length of 32 bits, and as many numbers.
   *
   * @param element each
   */
  record Sequence(Numeric element) implements FieldType {}
}
