package io.quiesce.trace.reader;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the metadata says: everything about a trace but its events. Immutable.
 *
 * @param uuid also in each packet, or null
 * @param environment who traced where; each value a {@link String} or {@link Long}
 * @param clocks by name
 * @param packetHeader what each packet begins with
 * @param streams by id
 */
public record TraceSchema(
    @Nullable UUID uuid,
    Map<String, Object> environment,
    Map<String, TraceClock> clocks,
    Type.Struct packetHeader,
    Map<Long, StreamClass> streams) {
  public TraceSchema {
    environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    clocks = Collections.unmodifiableMap(new LinkedHashMap<>(clocks));
    streams = Collections.unmodifiableMap(new LinkedHashMap<>(streams));
  }

  /** A value of the environment as text, or null. */
  public @Nullable String environment(String key) {
    Object value = environment.get(key);
    return value == null ? null : value.toString();
  }

  /** The clock of that name; without a name, or of an unknown one, the first. */
  TraceClock clock(@Nullable String name) {
    TraceClock clock = name == null ? null : clocks.get(name);
    if (clock == null) {
      clock = clocks.isEmpty() ? TraceClock.PLAIN : clocks.values().iterator().next();
    }
    return clock;
  }
}
