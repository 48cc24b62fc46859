package io.quiesce.trace.ctf;

import java.util.List;

/**
 * What events of one kind are. Immutable.
 *
 * <p>The id is the caller's choice, so that generated code can hold it as a constant. Ids up to
 * {@link #LAST_COMPACT_ID} cost 9 bytes less per event than the rest ({@link EventHeader}): give
 * them to the events that occur most.
 *
 * @param id from 0 to {@link #MAX_ID}, one type each
 * @param provider what comes before the colon, any text
 * @param name what comes after it, any text
 * @param level LTTng's scale, from 0 (emergency) by way of 4 (warning) and 6 (information) to 14
 *     (debug)
 * @param fields in the order in which they are stored
 */
public record EventType(int id, String provider, String name, int level, List<Field> fields) {
  /** The last id that fits the short event header. */
  public static final int LAST_COMPACT_ID = 30;

  /**
   * The last id of all: a trace has 131,072 event types at most. The format allows 2^32, but
   * readers load every type before the first event, and babeltrace2 takes time in the square of
   * their number (11 s for 70,000): a program that invents types without end would make a trace
   * that nobody can open.
   */
  public static final int MAX_ID = (1 << 17) - 1;

  /** The last level, LTTng's debug. */
  public static final int MAX_LEVEL = 14;

  public EventType {
    if (id < 0 || id > MAX_ID) {
      throw new IllegalArgumentException(
          "Event type " + id + " of a trace that holds the ids 0 to " + MAX_ID);
    }
    if (level < 0 || level > MAX_LEVEL) {
      throw new IllegalArgumentException("A level is 0 to " + MAX_LEVEL + ", not " + level);
    }
    fields = List.copyOf(fields);
  }

  /** As readers show it. */
  public String fullName() {
    return provider + ":" + name;
  }
}
