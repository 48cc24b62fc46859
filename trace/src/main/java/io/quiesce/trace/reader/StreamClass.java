package io.quiesce.trace.reader;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What streams of one kind have in common. Immutable.
 *
 * @param id in the metadata
 * @param packetContext what each packet tells of itself
 * @param eventHeader what stands before each event: id and time
 * @param eventContext what stands before each event's fields, such as the thread
 * @param events by id
 */
public record StreamClass(
    long id,
    Type.Struct packetContext,
    Type.Struct eventHeader,
    Type.Struct eventContext,
    Map<Long, EventClass> events) {
  public StreamClass {
    events = Collections.unmodifiableMap(new LinkedHashMap<>(events));
  }

  @Nullable EventClass event(long id) {
    return events.get(id);
  }
}
