package io.quiesce.trace.reader;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Texts, structures, lists or choices one after the other. */
final class ValueListValue extends Value {
  private final Type.Listing type;
  private final @Nullable NumberValue length;
  private final @Nullable Layout layout;
  private final List<Value> elements;
  private int size;

  /**
   * A list.
   *
   * @param first the first element, which shows that the type can be laid out
   * @param layout makes the others
   */
  ValueListValue(Type.Listing type, @Nullable NumberValue length, Value first, Layout layout) {
    this.type = type;
    this.length = length;
    this.layout = layout;
    elements = new ArrayList<>(List.of(first));
  }

  private ValueListValue(Type.Listing type, List<Value> elements) {
    this.type = type;
    this.length = null;
    this.layout = null;
    this.elements = elements;
    this.size = elements.size();
  }

  @Override
  void decode(Decoder decoder) throws TraceFormatException {
    size = 0;
    long count = NumberListValue.sizeOf(type, length);
    long begin = decoder.take(type.align(), 0);
    decoder.elements(count, this);
    for (int i = 0; i < count; i++) {
      if (i == elements.size()) {
        elements.add(Objects.requireNonNull(layout).element(type, decoder));
      }
      elements.get(i).decode(decoder);
    }
    size = (int) count;
    if (decoder.at == begin) {
      decoder.empty();
    }
  }

  /** Lets go of what only a long list needs; its values are gone then. */
  void trim() {
    size = 0;
    elements.subList(1, elements.size()).clear();
    ((ArrayList<Value>) elements).trimToSize();
  }

  @Override
  Value copy(Bits source) {
    List<Value> copies = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      copies.add(elements.get(i).copy(source));
    }
    return new ValueListValue(type, copies);
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
    return elements.get(Objects.checkIndex(index, size));
  }
}
