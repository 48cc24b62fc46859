package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.percpu.PerCpuMemory;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * {@code percpu.memory}: what a counter takes up that many threads have used at once, heap and
 * off-heap together. Each round makes its counters anew.
 *
 * <p>All threads increment the same counter until two of them were seen at it at the same time, a
 * few times in a row; then they all go on to the next. (A gate before each counter would take some
 * hundred thousand context switches, and would not bring two threads together on a busy machine.)
 * At the end every thread adds once to every counter. That brings a LongAdder to its full size: two
 * threads have met, so the table exists, and the last addition of every thread fills its cell.
 *
 * <p>Heap is the difference of used heap after full collections, in a process that does nothing
 * else; the array that holds the counters exists before. Off-heap is what {@link PerCpuMemory}
 * hands out for them or what it reserves altogether, whichever is more.
 */
public final class CountMemorySubject implements Subject {
  /** Increments of a thread between two looks at the others. */
  private static final int STRETCH = 256;

  /** Stretches in a row during which another thread finished one. */
  private static final int MEETINGS = 4;

  /** With one CPU nobody ever meets. */
  private static final long PATIENCE_NANOS = 8_000_000_000L;

  private static final int APART = 16;

  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private CountWay way = CountWay.of("atomic");
  private Object[] counters = new Object[0];
  private Object[] none = new Object[0];
  private long[][] added = new long[0][];
  private Team team = Team.ofPlatformThreads(0, index -> {});
  private final AtomicInteger current = new AtomicInteger();
  private AtomicLongArray stretches = new AtomicLongArray(0);
  private int threads;

  /** For the host. */
  public CountMemorySubject() {}

  @Override
  public void setUp(Params params) {
    threads = params.get("threads", 8);
    way = CountWay.of(params.get("counter", ""));
    counters = new Object[params.get("counters", 10_000)];
    none = new Object[counters.length];
    added = new long[threads][16];
    stretches = new AtomicLongArray((threads + 1) * APART);
    team = Team.ofPlatformThreads(threads, this::add);
    make();
  }

  /** Fills the array; the only reference to a counter is there. */
  private void make() {
    for (int i = 0; i < counters.length; i++) {
      counters[i] = way.make();
    }
  }

  private void add(int index) {
    CountWay own = way;
    long until = System.nanoTime() + PATIENCE_NANOS;
    long done = 0;
    int last = -1;
    int met = 0;
    for (int i = current.get(); i < counters.length; i = current.get()) {
      long before = others(index);
      own.increment(counters[i], STRETCH);
      done += STRETCH;
      stretches.setRelease((index + 1) * APART, stretches.getPlain((index + 1) * APART) + 1);
      met = i != last ? 0 : others(index) != before ? met + 1 : 0;
      last = i;
      if (met >= MEETINGS) {
        current.compareAndSet(i, i + 1);
      } else if (System.nanoTime() > until) {
        current.set(counters.length);
      }
    }
    for (Object counter : counters) {
      own.increment(counter, 1);
      done++;
    }
    added[index][0] = done;
  }

  /** What the other threads have done. */
  private long others(int index) {
    long sum = 0;
    for (int i = 0; i < threads; i++) {
      if (i != index) {
        sum += stretches.getAcquire((i + 1) * APART);
      }
    }
    return sum;
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    System.arraycopy(none, 0, counters, 0, counters.length);
    long heapBefore = usedHeap();
    boolean ours = way instanceof CountWay.Ours;
    long usedBefore = ours ? PerCpuMemory.shared().usedBytes() : 0;
    make();
    current.set(0);
    team.begin();
    team.end();
    check();
    double count = counters.length;
    double heap = (usedHeap() - heapBefore) / count;
    double used = ours ? (PerCpuMemory.shared().usedBytes() - usedBefore) / count : 0;
    double reserved = ours ? PerCpuMemory.shared().reservedBytes() / count : 0;
    Map<String, Double> result = new LinkedHashMap<>();
    result.put("bytes", heap + Math.max(used, reserved));
    result.put("heap", heap);
    result.put("used", used);
    result.put("reserved", reserved);
    return result;
  }

  private void check() {
    long expected = 0;
    for (long[] each : added) {
      expected += each[0];
    }
    long sum = 0;
    for (Object counter : counters) {
      sum += way.sum(counter);
    }
    if (sum != expected) {
      throw new IllegalStateException("the counters say " + sum + " instead of " + expected);
    }
  }

  /** Twice and with a rest between: what a cleaner releases is gone by the second. */
  private long usedHeap() throws InterruptedException {
    System.gc();
    Thread.sleep(20);
    System.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }
}
