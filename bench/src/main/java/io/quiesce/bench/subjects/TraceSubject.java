package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.bench.SubjectHost;
import io.quiesce.linux.NativeCode;
import io.quiesce.linux.Tsc;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * {@code trace.event}: threads that trace {@code pace} events for each millisecond of a round,
 * whoever the tracer is. {@code ns} is their CPU time over the events, {@code wall} their wall time
 * over the events; {@code kept} is how many events a reader gets back. With {@code mode=discard}
 * the divisor is the events that were kept, and {@code lost} the others; with {@code
 * mode=overwrite} the divisor is all events, and the buffers keep the last ones. With {@code
 * measure=disabled} nothing is recorded.
 */
public final class TraceSubject implements Subject {
  private TraceWay way =
      TraceWays.of("empty", new TraceWay.Setting(TraceWay.Event.TEXT, false, true));
  private Team team = Team.ofPlatformThreads(0, index -> {});
  private Marks cpu = new Marks(0);
  private Marks wall = new Marks(0);
  private boolean discard;
  private boolean disabled;
  private int threads;
  private int pace;

  /** Ticks of the counter in a second, where cycles are asked for. */
  private long counts;

  /** Batches of each thread in the present round; written before the team begins. */
  private volatile int batches;

  /** For the host. */
  public TraceSubject() {}

  @Override
  public void setUp(Params params) throws Exception {
    threads = params.get("threads", 1);
    pace = params.get("pace", 1000);
    discard = chosen(params, "mode", "overwrite", "discard");
    disabled = chosen(params, "measure", "cpu", "disabled");
    String hotPath = params.get("hotpath", "");
    if (!hotPath.isEmpty()) {
      System.setProperty("quiesce.trace.hotpath", hotPath);
      counts = NativeCode.isAvailable() ? Tsc.ticksPerSecond() : 0;
    }
    TraceWay.Event event = TraceWay.Event.of(params.get("event", ""));
    way = TraceWays.of(params.get("tracer", ""), new TraceWay.Setting(event, discard, disabled));
    way.open();
    cpu = new Marks(threads);
    wall = new Marks(threads);
    team = Team.ofPlatformThreads(threads, this::trace);
    if (event == TraceWay.Event.TEXT) {
      warmUp();
    }
  }

  /** Lines are slow and sessions dear: the host's short rounds would end before C2 has begun. */
  private void warmUp() throws Exception {
    long until = System.nanoTime() + Long.getLong(SubjectHost.WARM_UP, 1000) * 1_000_000;
    way.begin();
    batches = 8;
    long events = 0;
    do {
      team.begin();
      team.end();
      events += cpu.operations();
    } while (System.nanoTime() < until);
    way.end(events);
  }

  private static boolean chosen(Params params, String key, String usual, String other) {
    String value = params.get(key, usual);
    if (!value.equals(usual) && !value.equals(other)) {
      throw new IllegalArgumentException(key + " is " + usual + " or " + other + ", not " + value);
    }
    return value.equals(other);
  }

  private void trace(int index) {
    TraceWay own = way;
    int count = batches;
    long sum = 1;
    long wallStart = System.nanoTime();
    long cpuStart = CpuTime.ofThread();
    for (int i = 0; i < count; i++) {
      sum = own.batch(sum, i * Team.BATCH);
    }
    long cpuEnd = CpuTime.ofThread();
    long wallEnd = System.nanoTime();
    cpu.set(index, cpuStart, cpuEnd, (long) count * Team.BATCH);
    wall.set(index, wallStart, wallEnd, (long) count * Team.BATCH);
    Sink.take(sum);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    batches = Math.toIntExact((time.toMillis() * pace + Team.BATCH - 1) / Team.BATCH);
    if (!disabled) {
      way.begin();
    }
    team.begin();
    team.end();
    long events = cpu.operations();
    if (disabled) {
      return times(events, cpu.total(), wall.total());
    }
    Map<String, Double> result =
        figures(discard, events, way.end(events), cpu.total(), wall.total());
    if (counts > 0) {
      result.put("cycles", result.getOrDefault("ns", 0.0) * counts / 1e9);
    }
    return result;
  }

  private static Map<String, Double> times(long divisor, long cpuNanos, long wallNanos) {
    Map<String, Double> result = new LinkedHashMap<>();
    result.put("ns", (double) cpuNanos / divisor);
    result.put("wall", (double) wallNanos / divisor);
    result.put("events", (double) divisor);
    return result;
  }

  static Map<String, Double> figures(
      boolean discard, long events, long kept, long cpuNanos, long wallNanos) {
    if (kept < 1 || (discard && kept > events)) { // buffers that are overwritten outlive rounds
      throw new IllegalStateException("of " + events + " events a reader gets back " + kept);
    }
    Map<String, Double> result = times(discard ? kept : events, cpuNanos, wallNanos);
    result.put("events", (double) events);
    result.put("kept", (double) kept);
    if (discard) {
      result.put("lost", (double) (events - kept));
    }
    return result;
  }

  @Override
  public void close() {
    try {
      way.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
