package io.quiesce.trace.ctf;

import io.quiesce.trace.TraceFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/**
 * What all streams and events of a trace have in common. Immutable.
 *
 * @param uuid in the metadata and in every packet
 * @param clock what the times mean
 * @param environment who traced where; each value a {@link String}, {@link Integer} or {@link Long}
 * @param context the fields that stand before the event's own, in each event
 * @param format of the metadata; packets are the same in all
 */
public record TraceDescription(
    UUID uuid,
    Clock clock,
    Map<String, Object> environment,
    List<Field> context,
    TraceFormat format) {

  public TraceDescription {
    environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    context = List.copyOf(context);
    environment.forEach(
        (key, value) -> {
          if (!(value instanceof String || value instanceof Integer || value instanceof Long)) {
            throw new IllegalArgumentException(
                "The environment holds text and integers; " + key + " is " + value.getClass());
          }
        });
  }

  /** A trace whose metadata is in CTF 1.8. */
  public TraceDescription(
      UUID uuid, Clock clock, Map<String, Object> environment, List<Field> context) {
    this(uuid, clock, environment, context, TraceFormat.CTF_1_8);
  }

  /** The same with another uuid. */
  public TraceDescription with(UUID other) {
    return new TraceDescription(other, clock, environment, context, format);
  }

  /** The same in another format. */
  public TraceDescription in(TraceFormat other) {
    return new TraceDescription(uuid, clock, environment, context, other);
  }

  /** A new trace of this process, by the kernel's monotonic clock. */
  public static TraceDescription ofThisProcess(String name, List<Field> context) {
    return new TraceDescription(UUID.randomUUID(), Clock.monotonic(), environment(name), context);
  }

  /**
   * What LTTng-UST writes for a process. Trace Compass takes a trace for one of user space by
   * {@code domain}, {@code tracer_name} and a version of 2.9 or more; babeltrace2 treats the clock
   * of a tracer whose name begins with {@code lttng} as absolute, without which it refuses to merge
   * traces. {@code writer} says who it really was.
   */
  static Map<String, Object> environment(String name) {
    Map<String, Object> environment = new LinkedHashMap<>();
    environment.put("domain", "ust");
    environment.put("tracer_name", "lttng-ust");
    environment.put("tracer_major", 2);
    environment.put("tracer_minor", 13);
    environment.put("tracer_buffering_scheme", "pid");
    environment.put("tracer_buffering_id", ProcessHandle.current().pid());
    environment.put("architecture_bit_width", 64);
    environment.put("trace_name", name);
    environment.put("trace_creation_datetime", now());
    environment.put("hostname", line("/proc/sys/kernel/hostname", "localhost"));
    environment.put("vpid", ProcessHandle.current().pid());
    environment.put("procname", line("/proc/self/comm", "java"));
    environment.put("writer", "quiesce");
    return environment;
  }

  private static String now() {
    return DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssZ", Locale.ROOT)
        .format(ZonedDateTime.now(ZoneOffset.UTC));
  }

  private static String line(String file, String otherwise) {
    try {
      return Files.readString(Path.of(file)).strip();
    } catch (IOException _) {
      return otherwise;
    }
  }
}
