package io.quiesce.trace.reader;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the event type in an event header: a field {@code id}, or one in the structure that a
 * variant chose, which counts more.
 */
final class EventId {
  /** A variant, and the id in each of its choices that has one. */
  private static final class Choice {
    private final VariantValue variant;
    private final @Nullable NumberValue[] ids;

    Choice(VariantValue variant, @Nullable NumberValue[] ids) {
      this.variant = variant;
      this.ids = ids;
    }
  }

  private final @Nullable NumberValue id;
  private final Choice[] choices;
  private final long only;

  EventId(StructValue header, StreamClass type) {
    id = header.number("id");
    List<Choice> found = new ArrayList<>();
    for (int i = 0; i < header.size(); i++) {
      if (header.at(i) instanceof VariantValue variant) {
        @Nullable NumberValue[] ids = new NumberValue[variant.type().options().size()];
        for (int j = 0; j < ids.length; j++) {
          ids[j] = variant.option(j) instanceof StructValue struct ? struct.number("id") : null;
        }
        found.add(new Choice(variant, ids));
      }
    }
    choices = found.toArray(Choice[]::new);
    only = type.events().isEmpty() ? 0 : type.events().keySet().iterator().next();
  }

  /** The id of the event whose header was decoded last; in a stream without ids the only one. */
  long get() {
    for (Choice choice : choices) {
      NumberValue inner = choice.ids[choice.variant.chosenIndex()];
      if (inner != null) {
        return inner.asLong();
      }
    }
    return id == null ? only : id.asLong();
  }

  /** The name of the clock of a stream, or null if it names none. */
  static @Nullable String clockOf(StreamClass type) {
    String name = clockOf(type.eventHeader());
    return name == null ? clockOf(type.packetContext()) : name;
  }

  private static @Nullable String clockOf(Type type) {
    return switch (type) {
      case Type.Int integer -> integer.clock();
      case Type.Enumeration enumeration -> enumeration.container().clock();
      case Type.Real _, Type.Text _ -> null;
      case Type.Listing list -> clockOf(list.element());
      case Type.Struct struct -> firstClock(struct.fields());
      case Type.Variant variant -> firstClock(variant.options());
    };
  }

  private static @Nullable String firstClock(List<Type.Field> fields) {
    for (Type.Field field : fields) {
      String name = clockOf(field.type());
      if (name != null) {
        return name;
      }
    }
    return null;
  }
}
