/**
 * The tracer: events into files that trace readers such as babeltrace2 and Trace Compass open.
 *
 * <p>Nothing is exported yet. The format layer, {@code io.quiesce.trace.ctf}, stays internal, so
 * that it may change with the readers.
 */
module io.quiesce.trace {
  requires static org.jspecify;
  requires io.quiesce;
}
