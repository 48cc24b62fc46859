package io.quiesce.trace.reader;

import org.jspecify.annotations.Nullable;

/** Values with names. */
final class StructValue extends Value {
  private final Type.Struct type;
  private final Value[] fields;

  /** How many are there: all of them once the layout is done. */
  private int count;

  StructValue(Type.Struct type) {
    this.type = type;
    fields = new Value[type.fields().size()];
  }

  void add(Value field) {
    fields[count++] = field;
  }

  /** A field by its name in the metadata; only those that are there already. */
  @Nullable Value written(String name) {
    for (int i = 0; i < count; i++) {
      if (type.fields().get(i).written().equals(name)) {
        return fields[i];
      }
    }
    return null;
  }

  @Override
  void decode(Decoder decoder) throws TraceFormatException {
    long begin = decoder.take(type.align(), 0);
    for (Value field : fields) {
      field.decode(decoder);
    }
    if (decoder.at == begin) {
      decoder.empty();
    }
  }

  @Override
  StructValue copy(Bits source) {
    StructValue copy = new StructValue(type);
    for (Value field : fields) {
      copy.add(field.copy(source));
    }
    return copy;
  }

  @Override
  public Type.Struct type() {
    return type;
  }

  @Override
  public int size() {
    return fields.length;
  }

  @Override
  public Value at(int index) {
    return fields[index];
  }

  @Override
  public @Nullable Value field(String name) {
    int index = type.indexOf(name);
    return index < 0 ? null : fields[index];
  }

  @Nullable NumberValue number(String name) {
    return field(name) instanceof NumberValue number ? number : null;
  }
}
