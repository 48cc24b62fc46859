package io.quiesce.bench.experiments;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Cell.Pair;
import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What an event costs the thread that traces it. */
public final class TraceEvent implements Experiment {
  /** The tracer of this project. */
  public static final String OURS = "quiesce tracer";

  /** LTTng's tracepoints in C. */
  public static final String UST = "LTTng-UST";

  /** LTTng's handler for java.util.logging. */
  public static final String JUL = "LTTng JUL";

  /** The JDK's recorder. */
  public static final String JFR = "JFR";

  /** Log4j with asynchronous loggers. */
  public static final String LOG4J = "Log4j2 async";

  /** A loop without events. */
  public static final String EMPTY = "empty loop";

  private static final String SCRIPT = "lttng.sh";

  /** Pairs with {@link #OURS} fall away where that does not take part. */
  private static final List<Pair> ENABLED =
      List.of(
          new Pair(OURS, UST),
          new Pair(OURS, JFR),
          new Pair(OURS, JUL),
          new Pair(OURS, LOG4J),
          new Pair(JFR, UST),
          new Pair(LOG4J, JUL));

  /** Nothing is faster than nothing: the others are not compared with each other. */
  private static final List<Pair> DISABLED =
      List.of(new Pair(OURS, EMPTY), new Pair(UST, EMPTY), new Pair(JFR, EMPTY));

  /** Events that fill a third of the buffers of the largest kind, long-string. */
  private static final int BURST = 262_144;

  /** Four times as long as the slowest writer took for a burst. */
  private static final int PAUSE_MILLIS = 50;

  private static final Measure WALL = new Measure("wall", "ns", true);

  /** For the list of experiments. */
  public TraceEvent() {}

  @Override
  public String name() {
    return "trace.event";
  }

  @Override
  public String title() {
    return "What does a trace event cost the thread that traces it?";
  }

  @Override
  public String method() {
    return "Each thread traces a fixed number of events, the same for all subjects of a table:"
        + " two ints; a long and one of 64 strings of 9 characters; a line of text through"
        + " java.util.logging (Log4j2: through its own interface). cpu: CPU time of those threads"
        + " (CLOCK_THREAD_CPUTIME_ID, in Java and C) over the events; what background threads and"
        + " daemons do is in no figure but wall, the same threads' wall time over the events."
        + " overwrite: buffers of 4 x 256 KiB for each CPU, of which a snapshot keeps the newest"
        + " events. discard: 4 x 8 MiB for each CPU, written to files meanwhile; after 262,144 events"
        + " a thread sleeps 50 ms, which is not timed, so that the writer keeps up (trace.sustained"
        + " has no pauses); the divisor is the events that a reader gets back, so that losing is"
        + " not fast. kept: what a reader found"
        + " after a round (babeltrace2; for JFR its own; for Log4j2 the lines of the file), lost:"
        + " what it did not. JFR records without stack traces, into its memory or to disk. Log4j2"
        + " writes every line to its file in both modes. disabled: events that nobody has enabled,"
        + " in a loop that computes their fields, against that loop.";
  }

  @Override
  public List<String> extras() {
    return List.of("kept", "lost");
  }

  @Override
  public List<Cell> cells(Plan plan) {
    List<Cell> cells = new ArrayList<>();
    for (String mode : List.of("overwrite", "discard")) {
      for (String event : List.of("two-ints", "long-string", "text")) {
        for (int threads : plan.threadsOr(1, 2)) {
          if (!plan.quick() || !plan.threads().isEmpty() || isQuick(threads, event, mode)) {
            cells.add(enabled(plan, threads, event, mode));
          }
        }
      }
    }
    for (int threads : plan.quick() ? plan.threadsOr(1) : plan.threadsOr(1, 2)) {
      cells.add(disabled(plan, threads));
    }
    return cells;
  }

  /** What is promised, and one table of discarding. */
  private static boolean isQuick(int threads, String event, String mode) {
    return threads == 1
        ? mode.equals("overwrite") || event.equals("two-ints")
        : mode.equals("overwrite") && event.equals("two-ints");
  }

  private static Duration roundTime(Plan plan) {
    return plan.round(300, 1000);
  }

  /**
   * Events in each thread for each millisecond of a round, so many that the slowest takes about as
   * long: the rounds of the others are shorter.
   */
  static int pace(String event) {
    return event.equals("text") ? 200 : 8_000;
  }

  private static Cell enabled(Plan plan, int threads, String event, String mode) {
    Params params = Params.of("threads", threads, "event", event, "mode", mode);
    Params launch = params.with("pace", pace(event));
    if (mode.equals("discard")) {
      launch = launch.with("burst", BURST).with("pause", PAUSE_MILLIS);
    }
    return enabled(params, launch, roundTime(plan));
  }

  /** All tracers that can have the event. */
  static Cell enabled(Params params, Params launch, Duration roundTime) {
    return new Cell(
        params.with("measure", "cpu"),
        Measure.NS,
        roundTime,
        params.get("event", "").equals("text")
            ? List.of(
                ours(launch),
                java(JUL, "lttng-jul", launch).within(SCRIPT),
                java(LOG4J, "log4j2", launch))
            : List.of(ours(launch), ust(launch), java(JFR, "jfr", launch)),
        ENABLED,
        List.of(new Cell.View(params.with("measure", "wall"), WALL, ENABLED)));
  }

  private static Cell disabled(Plan plan, int threads) {
    Params params = Params.of("threads", threads, "event", "two-ints", "measure", "disabled");
    Params launch = params.with("pace", 300_000);
    return new Cell(
        params,
        Measure.NS,
        roundTime(plan),
        List.of(ours(launch), java(EMPTY, "empty", launch), ust(launch), java(JFR, "jfr", launch)),
        DISABLED);
  }

  private static Contestant ours(Params launch) {
    return Contestant.quiesce(OURS, "trace", launch.with("tracer", "quiesce"));
  }

  private static Contestant ust(Params launch) {
    return Contestant.nativePeer(UST, "lttng-ust", launch).within(SCRIPT);
  }

  private static Contestant java(String subject, String tracer, Params launch) {
    return Contestant.java(subject, "trace", launch.with("tracer", tracer));
  }
}
