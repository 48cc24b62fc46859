package io.quiesce.bench.subjects;

/** The tracers of {@code trace.event} that run in a JVM. */
final class TraceWays {
  private TraceWays() {}

  static TraceWay of(String tracer, TraceWay.Setting setting) {
    return switch (tracer) {
      // The place of Quiesce's own tracer: case "quiesce" -> new QuiesceTrace(setting);
      case "jfr" -> JfrTrace.of(setting);
      case "lttng-jul" -> new LttngJulTrace(setting);
      case "log4j2" -> new Log4jTrace(setting);
      case "empty" -> new EmptyLoop(setting);
      default -> throw new IllegalArgumentException("no tracer is called '" + tracer + "'");
    };
  }

  /** What a loop costs whose events nobody has. */
  private static final class EmptyLoop extends TraceWay {
    EmptyLoop(Setting setting) {
      if (!setting.disabled()) {
        throw new IllegalArgumentException("an empty loop traces nothing: use measure=disabled");
      }
    }

    @Override
    long batch(long sum, int from) {
      long last = sum;
      for (int i = from; i < from + Team.BATCH; i++) {
        last = next(last, i);
      }
      return last;
    }

    @Override
    long end(long events) {
      return 0;
    }
  }
}
