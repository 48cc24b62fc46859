package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Each operation exact while fences, migrations and delays restart it, for both implementations:
 * librseq's tests (spin lock, list and buffer with their sums, the manager), on rows of 128 bytes.
 */
class RowOpsStressTest {
  private static final int STRIDE = 128;
  private static final int NODE = 16;
  private static final int LINK = 8;

  @BeforeEach
  void needed() {
    Needs.facility("native");
  }

  private interface Each {
    void run(RowOps ops, long table) throws Exception;
  }

  private static void forBoth(Each each) throws Exception {
    List<RowOps> both = new ArrayList<>(List.of(new LockedOps(4)));
    if (Platform.rseq()) {
      both.add(new SequenceOps());
    }
    for (RowOps ops : both) {
      long table = OffHeap.allocate((long) ops.rows() * STRIDE, STRIDE);
      each.run(ops, table);
      OffHeap.free(table);
    }
  }

  private static void delay(SplittableRandom random) throws InterruptedException {
    Chaos.delay(random);
  }

  @Test
  void additionsOfBothKinds() throws Exception {
    forBoth(
        (ops, table) -> {
          long[] pointers = new long[ops.rows()];
          for (int row = 0; row < pointers.length; row++) {
            pointers[row] = table + (long) row * STRIDE + 64;
            OffHeap.putLong(pointers[row], table + (long) row * STRIDE);
          }
          AtomicLong missed = new AtomicLong();
          Chaos.run(
              4,
              (thread, random) -> {
                for (int i = 0; i < 30_000; i++) {
                  int row = ops.row();
                  boolean done =
                      switch (random.nextInt(3)) {
                        case 0 -> ops.add(table, STRIDE, 1);
                        case 1 -> ops.addAt(row, table + (long) row * STRIDE, 1) == PerCpuOps.DONE;
                        default -> ops.dereferenceAdd(row, pointers[row], 0, 1) == PerCpuOps.DONE;
                      };
                  if (!done) {
                    missed.incrementAndGet();
                  }
                  delay(random);
                }
              });
          long sum = missed.get();
          for (int row = 0; row < ops.rows(); row++) {
            sum += OffHeap.getLongVolatile(table + (long) row * STRIDE);
          }
          assertThat(sum).as(ops.toString()).isEqualTo(120_000);
        });
  }

  /** Held across migrations; given back by a plain store, which no sequence can cross. */
  @Test
  void spinLock() throws Exception {
    forBoth(
        (ops, table) -> {
          Chaos.run(
              4,
              (thread, random) -> {
                for (int i = 0; i < 10_000; i++) {
                  int row;
                  do {
                    row = ops.row();
                    Thread.onSpinWait();
                    if (random.nextInt(64) == 0) {
                      Thread.yield(); // the holder may be waiting for this CPU
                    }
                  } while (ops.compareStore(row, table + (long) row * STRIDE, 0, 1)
                      != PerCpuOps.DONE);
                  OffHeap.getLongAcquire(table + (long) row * STRIDE);
                  long count = table + (long) row * STRIDE + 8;
                  OffHeap.putLong(count, OffHeap.getLong(count) + 1);
                  delay(random);
                  OffHeap.setLongRelease(table + (long) row * STRIDE, 0);
                }
              });
          long sum = 0;
          for (int row = 0; row < ops.rows(); row++) {
            sum += OffHeap.getLongVolatile(table + (long) row * STRIDE + 8);
          }
          assertThat(sum).isEqualTo(40_000);
        });
  }

  private static boolean push(RowOps ops, long table, long node, SplittableRandom random)
      throws InterruptedException {
    if (random.nextBoolean()) {
      return ops.listPush(table, STRIDE, node, LINK);
    }
    int row = ops.row();
    long list = table + (long) row * STRIDE;
    long head = OffHeap.getLongOpaque(list);
    OffHeap.putLong(node + LINK, head);
    delay(random);
    return ops.compareStore(row, list, head, node) == PerCpuOps.DONE;
  }

  private static long pop(RowOps ops, long table, long out, SplittableRandom random) {
    if (random.nextBoolean()) {
      return Math.max(0, ops.listPop(table, STRIDE, LINK));
    }
    int row = ops.row();
    int result = ops.compareUnequalStoreLoad(row, table + (long) row * STRIDE, 0, LINK, out);
    return result == PerCpuOps.DONE ? OffHeap.getLong(out) : 0;
  }

  /** 200 threads once, whole operations and primitives mixed on the same lists. */
  @Test
  void listsKeepTheirSum() throws Exception {
    forBoth(
        (ops, table) -> {
          int threads = 200;
          long nodes = OffHeap.allocate((long) threads * NODE, 16);
          long outs = OffHeap.allocate(threads * 8L, 8);
          Chaos.run(
              threads,
              (thread, random) -> {
                long mine = nodes + (long) thread * NODE;
                OffHeap.putLong(mine, thread + 1);
                while (!push(ops, table, mine, random)) {
                  Thread.onSpinWait();
                }
                for (int i = 0; i < 100; i++) {
                  long node = pop(ops, table, outs + thread * 8L, random);
                  delay(random);
                  if (node != 0) {
                    while (!push(ops, table, node, random)) {
                      Thread.onSpinWait();
                    }
                  }
                }
              });
          long sum = 0;
          int count = 0;
          for (int row = 0; row < ops.rows(); row++) {
            for (long node = OffHeap.getLongVolatile(table + (long) row * STRIDE);
                node != 0;
                node = OffHeap.getLong(node + LINK)) {
              sum += OffHeap.getLong(node);
              count++;
            }
          }
          assertThat(count).isEqualTo(threads);
          assertThat(sum).isEqualTo(threads * (threads + 1L) / 2);
          OffHeap.free(nodes);
          OffHeap.free(outs);
        });
  }

  /** A buffer {count, slots...} by compare-store-store and compare-compare-store, as librseq's. */
  @Test
  void buffersKeepTheirSum() throws Exception {
    forBoth(
        (ops, table) -> {
          int slots = 12;
          AtomicLong in = new AtomicLong();
          AtomicLong out = new AtomicLong();
          Chaos.run(
              5,
              (thread, random) -> {
                long copy = OffHeap.allocate(8, 8);
                for (int i = 0; i < 20_000; i++) {
                  int row = ops.row();
                  long count = table + (long) row * STRIDE;
                  long n = OffHeap.getLongOpaque(count);
                  if (random.nextBoolean() && n < slots) {
                    long value = random.nextInt(1, 1_000);
                    long slot = count + 8 + n * 8;
                    OffHeap.putLong(copy, value);
                    int result =
                        random.nextBoolean()
                            ? ops.compareStoreStore(row, count, n, slot, value, n + 1)
                            : ops.compareCopyStore(row, count, n, slot, copy, 8, n + 1);
                    in.addAndGet(result == PerCpuOps.DONE ? value : 0);
                  } else if (n > 0) {
                    long slot = count + 8 + (n - 1) * 8;
                    long value = OffHeap.getLongOpaque(slot);
                    delay(random);
                    int result = ops.compareCompareStore(row, count, n, slot, value, n - 1);
                    out.addAndGet(result == PerCpuOps.DONE ? value : 0);
                  }
                  delay(random);
                }
                OffHeap.free(copy);
              });
          long left = 0;
          for (int row = 0; row < ops.rows(); row++) {
            long count = table + (long) row * STRIDE;
            for (int i = 0; i < OffHeap.getLongVolatile(count); i++) {
              left += OffHeap.getLong(count + 8 + i * 8L);
            }
          }
          assertThat(out.get() + left).isEqualTo(in.get());
        });
  }

  /** Closes a row, fences, sees that its list is still, swaps it for another, and opens it. */
  @Test
  void managerSwapsListsBesidePushersAndPoppers() throws Exception {
    forBoth(
        (ops, table) -> {
          int count = 64;
          long nodes = OffHeap.allocate((long) count * NODE, 16);
          AtomicInteger running = new AtomicInteger(4);
          AtomicBoolean still = new AtomicBoolean(true);
          List<Long> aside = new ArrayList<>();
          Chaos.run(
              5,
              (thread, random) -> {
                if (thread == 4) {
                  int row = 0;
                  while (running.get() > 0) {
                    manage(ops, table + (long) row * STRIDE, row, aside, still);
                    row = (row + 1) % ops.rows();
                    delay(random);
                  }
                  return;
                }
                try {
                  wander(ops, table, nodes + (long) thread * 16 * NODE, random);
                } finally {
                  running.decrementAndGet();
                }
              });
          assertThat(still).isTrue();
          long seen = 0;
          for (long head : heads(ops, table, aside)) {
            for (long node = head; node != 0; node = OffHeap.getLong(node + LINK)) {
              seen++;
            }
          }
          assertThat(seen).isEqualTo(count);
          OffHeap.free(nodes);
        });
  }

  private static List<Long> heads(RowOps ops, long table, List<Long> aside) {
    List<Long> heads = new ArrayList<>(aside);
    for (int row = 0; row < ops.rows(); row++) {
      heads.add(OffHeap.getLongVolatile(table + (long) row * STRIDE));
    }
    return heads;
  }

  private static void wander(RowOps ops, long table, long fresh, SplittableRandom random)
      throws InterruptedException {
    for (int i = 0; i < 20_000; i++) {
      long node = i < 16 ? fresh + (long) i * NODE : Math.max(0, ops.listPop(table, STRIDE, LINK));
      delay(random);
      while (node != 0 && !ops.listPush(table, STRIDE, node, LINK)) {
        Thread.yield(); // closed for a moment
      }
    }
  }

  private static void manage(
      RowOps ops, long list, int row, List<Long> aside, AtomicBoolean still) {
    OffHeap.setIntVolatile(list + PerCpuOps.LIST_CLOSED, 1);
    ops.fenceRow(row);
    long head = OffHeap.getLong(list);
    for (int i = 0; i < 200; i++) {
      Thread.onSpinWait();
      if (OffHeap.getLongVolatile(list) != head) {
        still.set(false);
      }
    }
    OffHeap.putLong(list, aside.isEmpty() ? 0 : aside.removeLast());
    if (head != 0) {
      aside.add(head);
    }
    OffHeap.setIntRelease(list + PerCpuOps.LIST_CLOSED, 0);
  }
}
