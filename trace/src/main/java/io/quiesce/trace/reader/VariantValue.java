package io.quiesce.trace.reader;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** One of several values, as an enumeration before it chose. */
final class VariantValue extends Value {
  private final Type.Variant type;
  private final @Nullable NumberValue tag;
  private final Value[] options;

  /** The choice that each label of the tag makes, or -1. */
  private final int[] byLabel;

  /** What goes with each, when values choose and not an enumeration's labels. */
  private final Type.Enumeration labels;

  private int chosen;

  VariantValue(Type.Variant type, NumberValue tag, Type.Enumeration labels, Value[] options) {
    this.type = type;
    this.tag = tag;
    this.options = options;
    this.labels = labels;
    byLabel = new int[labels.labels().size()];
    for (int i = 0; i < byLabel.length; i++) {
      byLabel[i] = option(labels.labels().get(i).text());
    }
  }

  private VariantValue(Type.Variant type, Type.Enumeration labels, int chosen, Value value) {
    this.type = type;
    this.labels = labels;
    this.tag = null;
    this.options = new Value[type.options().size()];
    this.byLabel = new int[0];
    this.chosen = chosen;
    options[chosen] = value;
  }

  private int option(String label) {
    List<Type.Field> fields = type.options();
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).written().equals(label)) {
        return i;
      }
    }
    // LTTng puts an underscore before the one and not before the other.
    String name = Type.Field.of(label, type).name();
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  @Override
  void decode(Decoder decoder) throws TraceFormatException {
    if (tag == null) {
      throw decoder.damaged(decoder.at, "nothing chooses from a variant");
    }
    long value = tag.asLong();
    for (int i = 0; i < byLabel.length; i++) {
      if (byLabel[i] >= 0 && labels.within(labels.labels().get(i), value)) {
        chosen = byLabel[i];
        options[chosen].decode(decoder);
        return;
      }
    }
    if (type.otherwise() >= 0) {
      chosen = type.otherwise();
      options[chosen].decode(decoder);
      return;
    }
    throw decoder.damaged(decoder.at, "no choice of a variant goes with " + value);
  }

  Value option(int index) {
    return options[index];
  }

  int chosenIndex() {
    return chosen;
  }

  @Override
  Value copy(Bits source) {
    return new VariantValue(type, labels, chosen, options[chosen].copy(source));
  }

  @Override
  public Type.Variant type() {
    return type;
  }

  @Override
  public Value chosen() {
    return options[chosen];
  }

  @Override
  public String chosenName() {
    return type.options().get(chosen).name();
  }

  @Override
  public long asLong() {
    return chosen().asLong();
  }

  @Override
  public double asDouble() {
    return chosen().asDouble();
  }

  @Override
  public String asText() {
    return chosen().asText();
  }

  @Override
  public boolean isText() {
    return chosen().isText();
  }

  @Override
  public @Nullable Value field(String name) {
    return chosen().field(name);
  }
}
