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
 * whoever the tracer is, and after each {@code burst} of them sleep {@code pause} milliseconds
 * outside of the timing; a burst of 0 is no pause. {@code ns} is their CPU time over the events,
 * {@code wall} their wall time over the events; {@code kept} is how many events a reader gets back.
 * With {@code mode=discard} the divisor is the events that were kept, and {@code lost} the others;
 * with {@code mode=overwrite} the divisor is all events, and the buffers keep the last ones. With
 * {@code measure=disabled} nothing is recorded.
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

  /** Batches between two pauses. */
  private int burst;

  private int pauseMillis;

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
    int events = params.get("burst", 0);
    burst = events > 0 ? Math.max(1, events / Team.BATCH) : Integer.MAX_VALUE;
    pauseMillis = params.get("pause", 50);
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

  private void trace(int index) throws InterruptedException {
    int count = batches;
    int step = Math.min(burst, count);
    long sum = 1;
    long cpuNanos = 0;
    long wallNanos = 0;
    for (int from = 0; from < count; from += step) {
      if (from > 0) {
        Thread.sleep(pauseMillis);
      }
      long wallStart = System.nanoTime();
      long cpuStart = CpuTime.ofThread();
      sum = burst(sum, from, Math.min(count, from + step));
      cpuNanos += CpuTime.ofThread() - cpuStart;
      wallNanos += System.nanoTime() - wallStart;
    }
    cpu.set(index, 0, cpuNanos, (long) count * Team.BATCH);
    wall.set(index, 0, wallNanos, (long) count * Team.BATCH);
    Sink.take(sum);
  }

  private long burst(long before, int from, int to) {
    TraceWay own = way;
    long sum = before;
    for (int i = from; i < to; i++) {
      sum = own.batch(sum, i * Team.BATCH);
    }
    return sum;
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
