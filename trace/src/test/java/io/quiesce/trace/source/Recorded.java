package io.quiesce.trace.source;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceSession;
import io.quiesce.trace.ctf.Babeltrace;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.List;

/** What is recorded while something runs, as babeltrace2 reads it. */
final class Recorded {
  /** Runs while a session records. */
  interface Body {
    void run() throws Exception;
  }

  private Recorded() {}

  static List<Babeltrace.Event> events(Path trace, String pattern, Body body) throws Exception {
    return events(trace, pattern, 14, body);
  }

  static List<Babeltrace.Event> events(Path trace, String pattern, int level, Body body)
      throws Exception {
    Babeltrace.assumeInstalled();
    try (TraceSession session =
        TraceSession.record(trace).enable(pattern, level, "").subBuffers(4, 1 << 16).start()) {
      body.run();
      assertThat(session.counts().lost()).isZero();
    }
    Babeltrace.Reading reading = Babeltrace.read(trace);
    assertThat(reading.warnings()).isEmpty();
    return reading.events();
  }

  static String text(Babeltrace.Event event, String field) {
    assertThat(event.fields()).containsKey(field);
    return String.valueOf(event.fields().get(field));
  }

  static long number(Babeltrace.Event event, String field) {
    if (event.fields().get(field) instanceof BigInteger number) {
      return number.longValueExact();
    }
    throw new AssertionError(field + " is no number of " + event);
  }
}
