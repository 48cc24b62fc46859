package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
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
 * threads that do not run make some hundred sections a second. Each thread makes at least one.
 */
public final class LockSubject implements Subject {
  private static final int STEPS_OUTSIDE = 2;
  private static final long LONGEST_NANOS = 3_600_000_000_000L;

  private LockWay way = LockWay.of("unfair", 0);
  private Histogram[] waits = new Histogram[0];
  private Marks marks = new Marks(0);
  private Team team = Team.ofPlatformThreads(0, index -> {});
  private String measure = "";
  private long counted;

  /** For the host. */
  public LockSubject() {}

  @Override
  public void setUp(Params params) {
    int threads = params.get("threads", 1);
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
  }

  private void sections(int index) {
    LockWay own = way;
    long outside = index + 1L;
    long sections = 0;
    long start = System.nanoTime();
    do {
      own.section();
      outside = BusyWork.run(outside, STEPS_OUTSIDE);
      sections++;
    } while (!team.stopped());
    marks.set(index, start, System.nanoTime(), sections);
    Sink.take(outside);
  }

  private void timedSections(int index) {
    LockWay own = way;
    Histogram histogram = waits[index];
    histogram.reset();
    long outside = index + 1L;
    long sections = 0;
    long start = System.nanoTime();
    do {
      histogram.recordValue(Math.min(own.timedSection(), LONGEST_NANOS));
      outside = BusyWork.run(outside, STEPS_OUTSIDE);
      sections++;
    } while (!team.stopped());
    marks.set(index, start, System.nanoTime(), sections);
    Sink.take(outside);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    long until = System.nanoTime() + time.toNanos();
    team.begin();
    for (long left = time.toNanos(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    team.end();
    counted += marks.operations();
    if (way.counted() != counted) {
      throw new IllegalStateException(
          "there were " + counted + " sections, but " + way.counted() + " excluded each other");
    }
    return result();
  }

  private Map<String, Double> result() {
    Map<String, Double> result = new LinkedHashMap<>();
    switch (measure) {
      case "pair" -> result.put("ns", marks.ns());
      case "throughput" -> {
        result.put("rate", marks.rate());
        result.put("fairness", marks.spread());
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
