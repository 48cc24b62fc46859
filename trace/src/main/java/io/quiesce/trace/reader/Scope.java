package io.quiesce.trace.reader;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The names of types that a block of the metadata sees: its own, and those of the block around. */
final class Scope {
  private final @Nullable Scope outer;
  private final Map<String, Type> types = new HashMap<>();

  Scope(@Nullable Scope outer) {
    this.outer = outer;
  }

  /** Keeps a type; false if this block has one of the name. */
  boolean add(String name, Type type) {
    return types.putIfAbsent(name, type) == null;
  }

  @Nullable Type find(String name) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      Type type = scope.types.get(name);
      if (type != null) {
        return type;
      }
    }
    return null;
  }
}
