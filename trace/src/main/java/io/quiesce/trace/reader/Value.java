package io.quiesce.trace.reader;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A value in an event: a number, a text, a list, a structure or a choice.
 *
 * <p>What a value can be asked for depends on its {@link #type}; other questions are an {@link
 * IllegalStateException}. A value of a cursor's event is a view: it holds until the cursor moves.
 * {@link Event#copy} makes values that stay. Numbers are decoded when the cursor moves, texts and
 * lists of numbers when they are asked for. Not thread-safe, but a copy, which is immutable, is.
 */
public abstract sealed class Value
    permits NumberValue, TextValue, NumberListValue, ValueListValue, StructValue, VariantValue {

  /** Where it was found in the trace, in bits of its packet: for copying. */
  abstract Value copy(Bits source);

  /** Reads the value from where the decoder stands. */
  abstract void decode(Decoder decoder) throws TraceFormatException;

  /** What it is. */
  public abstract Type type();

  /**
   * An integer's or enumeration's 64 bits, a real number cut to an integer, or a choice's value.
   * Whether they have a sign is told by the type.
   */
  public long asLong() {
    throw wrong("a number");
  }

  /** A real number, or an integer as one, or a choice's value. */
  public double asDouble() {
    throw wrong("a number");
  }

  /**
   * A text, or a list of characters up to its NUL, or a choice's value. What is not UTF-8 becomes
   * U+FFFD.
   */
  public String asText() {
    throw wrong("a text");
  }

  /** Whether {@link #asText} has an answer. */
  public boolean isText() {
    return false;
  }

  /** The first label of an enumeration's value, or null if it has none. */
  public @Nullable String label() {
    throw wrong("an enumeration");
  }

  /** All labels of an enumeration's value. */
  public List<String> labels() {
    throw wrong("an enumeration");
  }

  /** How many elements a list, or fields a structure has. */
  public int size() {
    throw wrong("a list or a structure");
  }

  /** An element or a field; for a list of numbers an object is made for it. */
  public Value at(int index) {
    throw wrong("a list or a structure");
  }

  /** An element of a list of integers; without garbage. */
  public long longAt(int index) {
    return at(index).asLong();
  }

  /** An element of a list of numbers; without garbage. */
  public double doubleAt(int index) {
    return at(index).asDouble();
  }

  /** The field of a structure, or of a structure that was chosen; null if there is none. */
  public @Nullable Value field(String name) {
    throw wrong("a structure");
  }

  /** What a choice chose. */
  public Value chosen() {
    throw wrong("a choice");
  }

  /** The name of what a choice chose. */
  public String chosenName() {
    throw wrong("a choice");
  }

  /** As {@link TraceText} prints it. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    TraceText.append(text, this);
    return text.toString();
  }

  final IllegalStateException wrong(String wanted) {
    return new IllegalStateException(
        "This value is no " + wanted.replaceFirst("^an? ", "") + " but " + kind());
  }

  private String kind() {
    return switch (type()) {
      case Type.Int _ -> "an integer";
      case Type.Real _ -> "a real number";
      case Type.Enumeration _ -> "an enumeration";
      case Type.Text _ -> "a text";
      case Type.Listing _ -> "a list";
      case Type.Struct _ -> "a structure";
      case Type.Variant _ -> "a choice";
    };
  }
}
