package io.quiesce.trace.reader;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the roles of CTF 2 mean in one part of a trace, and how deep in that part a type is.
 *
 * <p>CTF 1.8 has names for what CTF 2 has roles for, so a field with a role goes by that name, and
 * a field that merely has the name by another. Immutable.
 *
 * @param names the names of the roles
 * @param clock the clock of its times, or null
 * @param depth members of the part itself are at 1; -1 is where roles have no meaning any more
 * @param choices whether roles may be in a variant's structures too
 */
record Roles(Map<String, String> names, @Nullable String clock, int depth, boolean choices) {
  /** Deeper than structures alone can be nested. */
  private static final int IN_OPTION = 2 * Type.DEPTH;

  private static final String TIMESTAMP = "default-clock-timestamp";

  static final Roles NONE = new Roles(Map.of(), null, -1, false);

  static Roles packetHeader() {
    return new Roles(
        Map.of(
            "packet-magic-number", "magic",
            "metadata-stream-uuid", "uuid",
            "data-stream-class-id", "stream_id",
            "data-stream-id", "stream_instance_id"),
        null,
        0,
        false);
  }

  static Roles packetContext(@Nullable String clock) {
    return new Roles(
        Map.of(
            TIMESTAMP,
            "timestamp_begin",
            "packet-end-default-clock-timestamp",
            "timestamp_end",
            "packet-content-length",
            "content_size",
            "packet-total-length",
            "packet_size",
            "packet-sequence-number",
            "packet_seq_num",
            "discarded-event-record-counter-snapshot",
            "events_discarded"),
        clock,
        0,
        false);
  }

  static Roles eventHeader(@Nullable String clock) {
    return new Roles(Map.of(TIMESTAMP, "timestamp", "event-record-class-id", "id"), clock, 0, true);
  }

  /** Where this part's members are that a role may be at. */
  private boolean isReached() {
    return depth == 1 || depth == IN_OPTION + 1;
  }

  Roles inMember() {
    return at(depth < 0 ? -1 : depth + 1);
  }

  /** A structure that is an option of a variant at the top. */
  Roles inOption() {
    return at(choices && depth == 1 ? IN_OPTION : -1);
  }

  /** Within an array or something optional. */
  Roles deeper() {
    return at(-1);
  }

  private Roles at(int level) {
    return new Roles(names, clock, level, choices);
  }

  /** Whether these roles make an integer move the clock. */
  boolean moveClock(List<String> roles, JsonObject where) throws TraceFormatException {
    if (!names.containsKey(TIMESTAMP) || !roles.contains(TIMESTAMP)) {
      return false;
    }
    if (clock == null) {
      throw where.wrong("a time is in a stream without a clock");
    }
    return true;
  }

  /** The name of a member of a structure that stands here. */
  String name(String own, List<String> roles, JsonObject type) throws TraceFormatException {
    if (names.isEmpty()) {
      return own;
    }
    String found = null;
    for (String role : roles) {
      String name = names.get(role);
      if (name == null) {
        throw type.wrong("the role \"" + role + "\" has no meaning here");
      }
      if (found != null) {
        throw type.wrong("a field with two roles is not read");
      }
      found = name;
    }
    if (found != null && !inMember().isReached()) {
      throw type.wrong("a role so deep in a structure is not read");
    }
    return found != null ? found : names.containsValue(own) ? own + "_" : own;
  }
}
