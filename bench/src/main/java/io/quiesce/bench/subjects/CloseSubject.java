package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code rcu.close}: one thread replaces and closes an off-heap block of 4 KiB again and again
 * while others read it. Measures: {@code closer}, what the call costs the closer; {@code freed},
 * from the call to the block's real end; {@code rate}, closes per second until all blocks are
 * freed; {@code readers}, how many sections of some {@code accesses} the readers get done
 * meanwhile.
 */
public final class CloseSubject implements Subject {
  /** Blocks closed in a row, as an index closes many files at once; made before the timing. */
  static final int BURST = 64;

  private static final int RATE_BATCH = 2000;

  private final Samples samples = new Samples(1 << 16);
  private CloseWay way = new CloseWays.Unset();
  private String measure = "closer";
  private int accesses;
  private Team readers = Team.ofPlatformThreads(0, index -> {});
  private long[] sections = new long[0];

  /** For the host. */
  public CloseSubject() {}

  @Override
  public void setUp(Params params) throws Exception {
    if (!OffHeap.isAvailable()) {
      throw new UnavailableException(Platform.reason("native"));
    }
    measure = params.get("measure", "closer");
    accesses = params.get("accesses", 16);
    way = CloseWays.of(params.get("way", ""));
    way.replace(way.make());
    int count = params.get("readers", 1);
    sections = new long[count * 16];
    readers = Team.ofPlatformThreads(count, this::read);
    startIdle(params.get("idle", 0));
  }

  /** Platform threads that have read once and now sleep. */
  private void startIdle(int count) throws InterruptedException {
    CountDownLatch read = new CountDownLatch(count);
    for (int i = 0; i < count; i++) {
      Thread.ofPlatform()
          .daemon()
          .name("idle-" + i)
          .stackSize(256 << 10)
          .start(
              () -> {
                way.read(1);
                read.countDown();
                while (true) {
                  LockSupport.park();
                }
              });
    }
    read.await();
  }

  private void read(int index) {
    long sum = 0;
    long done = 0;
    readers.running();
    do {
      for (int i = 0; i < 16; i++) {
        sum += way.read(accesses);
      }
      done += 16;
    } while (!readers.stopped());
    sections[index * 16] = done;
    Sink.take(sum);
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    samples.clear();
    readers.begin();
    readers.awaitRunning();
    long from = System.nanoTime();
    long until = from + time.toNanos();
    Map<String, Double> result = new LinkedHashMap<>();
    switch (measure) {
      case "closer" -> closer(until);
      case "freed" -> freed(until);
      case "rate" -> result.put("rate", rate(until));
      case "readers" -> steady(until);
      default -> throw new IllegalArgumentException("no measure is called '" + measure + "'");
    }
    readers.end();
    long to = System.nanoTime();
    way.settle();
    if (measure.equals("readers")) {
      long done = 0;
      for (int i = 0; i < sections.length; i += 16) {
        done += sections[i];
      }
      result.put("rate", done * 1e9 / (to - from));
    } else if (result.isEmpty()) {
      return samples.result();
    }
    return result;
  }

  private void closer(long until) throws Exception {
    CloseWay.Block[] blocks = new CloseWay.Block[BURST];
    do {
      for (int i = 0; i < BURST; i++) {
        blocks[i] = way.make();
      }
      for (CloseWay.Block next : blocks) {
        long from = System.nanoTime();
        way.replace(next);
        samples.add(System.nanoTime() - from);
      }
      LockSupport.parkNanos(1_000_000);
    } while (System.nanoTime() < until);
  }

  /** One at a time, rarely: nothing is there to share a grace period with. */
  private void freed(long until) throws Exception {
    do {
      CloseWay.Block next = way.make();
      CloseWay.Block old = way.current();
      long from = System.nanoTime();
      way.replace(next);
      samples.add(way.awaitFreed(old) - from);
      LockSupport.parkNanos(5_000_000);
    } while (System.nanoTime() < until || samples.count() < 5);
  }

  private double rate(long until) throws Exception {
    long closes = 0;
    long from = System.nanoTime();
    do {
      for (int i = 0; i < RATE_BATCH && (i % 16 != 0 || System.nanoTime() < until); i++) {
        way.replace(way.make());
        closes++;
      }
      way.settle();
    } while (System.nanoTime() < until);
    return closes * 1e9 / (System.nanoTime() - from);
  }

  /** A thousand closes per second. */
  private void steady(long until) throws Exception {
    for (long now = System.nanoTime(); now < until; now = System.nanoTime()) {
      way.replace(way.make());
      LockSupport.parkNanos(1_000_000);
    }
  }
}
