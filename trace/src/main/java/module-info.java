/**
 * The tracer: events into files that trace readers such as babeltrace2 and Trace Compass open.
 *
 * <p>Start at {@code io.quiesce.trace}. The layers below stay internal: {@code point}
 * (tracepoints), {@code ring} (buffers), {@code ctf} (the format), {@code source} (events of
 * logging, of the core and of the JVM), {@code reader} (traces that are there), {@code control}
 * (requests from outside), {@code agent} (unmodified programs).
 */
module io.quiesce.trace {
  requires static transitive org.jspecify;
  requires static transitive java.logging;
  requires static java.management;
  requires static jdk.management;
  requires io.quiesce;

  exports io.quiesce.trace;
  exports io.quiesce.trace.agent to
      java.instrument;
}
