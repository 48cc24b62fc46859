package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.percpu.PerCpuMemory;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * {@code percpu.memory}: what a counter takes up that many threads have used at once, heap and
 * off-heap together. Each round makes its counters anew.
 *
 * <p>The clock says which counter's turn it is: all threads increment that one for {@link
 * #TURN_NANOS}, so that whichever threads run at the same time meet on it. (A gate before each
 * counter would do the same with a hundred thousand context switches.) At the end every thread adds
 * once to every counter. That brings a LongAdder to its full size: two threads have met, so the
 * table exists, and the last addition of every thread fills its cell.
 *
 * <p>Heap is the difference of used heap after full collections, in a process that does nothing
 * else; the array that holds the counters exists before. Off-heap is what {@link PerCpuMemory}
 * hands out for them or what it reserves altogether, whichever is more.
 */
public final class CountMemorySubject implements Subject {
  private static final long TURN_NANOS = 40_000;

  /** A preempted thread, or one of another program, makes some counters miss their turn. */
  private static final int TURNS = 3;

  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private CountWay way = CountWay.of("atomic");
  private Object[] counters = new Object[0];
  private Object[] none = new Object[0];
  private long[][] added = new long[0][];
  private Team team = Team.ofPlatformThreads(0, index -> {});
  private volatile long start;

  /** For the host. */
  public CountMemorySubject() {}

  @Override
  public void setUp(Params params) {
    int threads = params.get("threads", 8);
    way = CountWay.of(params.get("counter", ""));
    counters = new Object[params.get("counters", 10_000)];
    none = new Object[counters.length];
    added = new long[threads][16];
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
    long done = 0;
    while (true) {
      long turn = (System.nanoTime() - start) / TURN_NANOS;
      if (turn >= (long) TURNS * counters.length) {
        break;
      }
      own.increment(counters[(int) (turn % counters.length)], 64);
      done += 64;
    }
    for (Object counter : counters) {
      own.increment(counter, 1);
      done++;
    }
    added[index][0] = done;
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    System.arraycopy(none, 0, counters, 0, counters.length);
    long heapBefore = usedHeap();
    boolean ours = way instanceof CountWay.Ours;
    long usedBefore = ours ? PerCpuMemory.shared().usedBytes() : 0;
    make();
    start = System.nanoTime();
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
