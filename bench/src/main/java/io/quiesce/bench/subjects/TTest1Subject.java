package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * {@code alloc.ttest1}: {@code rate} is calls of the allocator per second, from the first birth to
 * the last death; {@code rss} the peak of {@link Resident} memory meanwhile.
 */
public final class TTest1Subject implements Subject {
  /** Small enough that the C library keeps the stacks of the dead for the living. */
  private static final long STACK = 256 << 10;

  private @Nullable Resident resident;
  private @Nullable TTest1 test;

  /** For the host. */
  public TTest1Subject() {}

  @Override
  public void setUp(Params params) throws Exception {
    resident = new Resident();
    ThreadFactory threads =
        params.get("kind", "platform").equals("virtual")
            ? Thread.ofVirtual().factory()
            : Thread.ofPlatform().daemon().stackSize(STACK).factory();
    TTest1.Shape shape =
        TTest1.Shape.of(
            params.get("threads", 2),
            params.get("loops", 10_000),
            params.get("checked", "no").equals("yes"));
    test = new TTest1(shape, Heaps.of(params.get("allocator", "")), threads);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    Resident memory = resident;
    TTest1 running = test;
    if (memory == null || running == null) {
      throw new IllegalStateException("not set up");
    }
    memory.resetPeak();
    long start = System.nanoTime();
    long calls = running.run(time);
    long end = System.nanoTime();
    Map<String, Double> result = new LinkedHashMap<>();
    result.put("rate", calls * 1e9 / (end - start));
    result.put("rss", memory.peak());
    result.put("rest", memory.now());
    return result;
  }
}
