package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * {@code locks.uncontended} and {@code locks.contended}: threads that take one lock, work inside
 * for a number of {@code steps} of {@link BusyWork}, and work two steps outside.
 *
 * <ul>
 *   <li>{@code measure=pair}: one thread that only counts inside, 1,024 times between two looks at
 *       the stop flag. {@code ns} of a section.
 *   <li>{@code measure=throughput}: {@code rate} of sections, and {@code fairness}, those of the
 *       busiest thread over those of the idlest one.
 *   <li>{@code measure=wait}: each waiting is timed; {@code p999} and {@code longest}, in ns.
 * </ul>
 *
 * <p>But for pairs, each thread looks at the stop flag after each section: locks that hand over to
 * threads that do not run make some hundred sections a second. Nor is the start of a round counted:
 * the threads that come first have the lock for themselves, and a queue is fast until it is full.
 */
public final class LockSubject implements Subject {
  private static final int STEPS_OUTSIDE = 2;

  /** What is not counted at the start of a round: until every thread had the CPU. */
  private static final long RAMP_NANOS = 20_000_000;

  private static final long RAMP_NANOS_PER_THREAD = 2_000_000;
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  private LockWay way = LockWay.of("unfair", 0);
  private Histogram[] waits = new Histogram[0];
  private Marks marks = new Marks(0);
  private Team team = Team.ofPlatformThreads(0, index -> {});
  private String measure = "";
  private final AtomicLong all = new AtomicLong();
  private int threads;

  /** When counting began; 0: not yet. */
  private volatile long begun;

  /** For the host. */
  public LockSubject() {}

  @Override
  public void setUp(Params params) {
    threads = params.get("threads", 1);
    way = LockWay.of(params.get("lock", ""), params.get("steps", 0));
    measure = params.get("measure", "throughput");
    marks = new Marks(threads);
    Team.Body body =
        switch (measure) {
          case "pair" -> this::pairs;
          case "throughput" -> this::sections;
          case "wait" -> this::timedSections;
          default -> throw new IllegalArgumentException("no measure is called '" + measure + "'");
        };
    if (measure.equals("wait")) {
      waits = new Histogram[threads];
      for (int i = 0; i < threads; i++) {
        waits[i] = newHistogram();
      }
    }
    team = Team.ofPlatformThreads(threads, body);
  }

  private static Histogram newHistogram() {
    return new Histogram(LONGEST_NANOS, 3);
  }

  private void pairs(int index) {
    LockWay own = way;
    long batches = 0;
    long start = System.nanoTime();
    do {
      own.pairs();
      batches++;
    } while (!team.stopped());
    marks.set(index, start, System.nanoTime(), batches * Team.BATCH);
    all.addAndGet(batches * Team.BATCH);
  }

  private void sections(int index) {
    LockWay own = way;
    long outside = index + 1L;
    long sections = 0;
    long skipped = -1;
    do {
      own.section();
      outside = BusyWork.run(outside, STEPS_OUTSIDE);
      sections++;
      if (skipped < 0 && begun != 0) {
        skipped = sections;
      }
    } while (!team.stopped());
    end(index, sections, skipped);
    Sink.take(outside);
  }

  private void timedSections(int index) {
    LockWay own = way;
    Histogram histogram = waits[index];
    histogram.reset();
    long outside = index + 1L;
    long sections = 0;
    long skipped = -1;
    do {
      long waited = own.timedSection();
      outside = BusyWork.run(outside, STEPS_OUTSIDE);
      sections++;
      if (skipped >= 0) {
        histogram.recordValue(Math.min(waited, LONGEST_NANOS));
      } else if (begun != 0) {
        skipped = sections;
      }
    } while (!team.stopped());
    end(index, sections, skipped);
    Sink.take(outside);
  }

  private void end(int index, long sections, long skipped) {
    marks.set(index, begun, System.nanoTime(), skipped < 0 ? 0 : sections - skipped);
    all.addAndGet(sections);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    begun = 0;
    team.begin();
    if (!measure.equals("pair")) {
      rest(RAMP_NANOS + RAMP_NANOS_PER_THREAD * threads);
    }
    begun = Math.max(1, System.nanoTime());
    rest(time.toNanos());
    team.end();
    if (way.counted() != all.get()) {
      throw new IllegalStateException(
          "there were " + all + " sections, but " + way.counted() + " excluded each other");
    }
    return result();
  }

  private static void rest(long nanos) {
    long until = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private Map<String, Double> result() {
    Map<String, Double> result = new LinkedHashMap<>();
    switch (measure) {
      case "pair" -> result.put("ns", marks.ns());
      case "throughput" -> {
        result.put("rate", marks.rate());
        result.put("fairness", Math.max(1, marks.spread()));
      }
      default -> {
        Histogram all = newHistogram();
        for (Histogram one : waits) {
          all.add(one);
        }
        result.put("p999", (double) Math.max(1, all.getValueAtPercentile(99.9)));
        result.put("longest", (double) Math.max(1, all.getMaxValue()));
        result.put("sections", marks.rate());
      }
    }
    return result;
  }
}
