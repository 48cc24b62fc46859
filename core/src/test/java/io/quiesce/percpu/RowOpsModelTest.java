package io.quiesce.percpu;

import static io.quiesce.percpu.PerCpuOps.DONE;
import static io.quiesce.percpu.PerCpuOps.LOST;
import static io.quiesce.percpu.PerCpuOps.UNEQUAL;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/**
 * Random operations on sequences, on locked rows and on a plain model, side by side: the same
 * results and the same memory. All rows of a table lie on one another (stride 0), so that it does
 * not matter which one an operation chooses.
 */
class RowOpsModelTest {
  private static final int BYTES = 1024;
  private static final int LIST = 128;
  private static final int NODES = 256;
  private static final long NODE = 32;
  private static final int LINK = 8;
  private static final int WORDS = 512; // 4 of them
  private static final int POINTER = 560;
  private static final int OUT = 576;
  private static final int FROM = 600;
  private static final int TO = 700; // not aligned
  private static final int CAPACITY = 6;

  /** One implementation with memory of its own. */
  private record Side(RowOps ops, long base) {}

  @Test
  void sameResultsAndSameMemory() throws Exception {
    Needs.facility("native");
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              CpuAffinity.pinTo(CpuAffinity.get().highest());
              for (int seed = 0; seed < 40; seed++) {
                compare(seed);
              }
              return null;
            });
    Thread.ofPlatform().start(task);
    task.get();
  }

  private static void compare(long seed) {
    List<Side> sides = new ArrayList<>();
    sides.add(new Side(new LockedOps(4), block()));
    if (Platform.rseq()) {
      sides.add(new Side(new SequenceOps(), block()));
    }
    long model = block();
    SplittableRandom random = new SplittableRandom(seed);
    boolean[] linked = new boolean[8];
    for (int step = 0; step < 1_500; step++) {
      long here = random.nextLong();
      int node = new SplittableRandom(here).nextInt(8);
      long expected = Model.run(model, new SplittableRandom(here), node, linked);
      for (Side side : sides) {
        long result = run(side, new SplittableRandom(here), linked[node] ? -1 : node);
        assertThat(relative(result, side.base))
            .as("seed " + seed + " step " + step)
            .isEqualTo(relative(expected, model));
        for (int i = 0; i < BYTES; i += 8) {
          assertThat(relative(OffHeap.getLong(side.base + i), side.base))
              .as("seed " + seed + " step " + step + " word " + i)
              .isEqualTo(relative(OffHeap.getLong(model + i), model));
        }
      }
      Model.track(model, linked);
    }
    sides.forEach(side -> OffHeap.free(side.base));
    OffHeap.free(model);
  }

  private static long block() {
    long base = OffHeap.allocate(BYTES, 64);
    OffHeap.putInt(base + PerCpuOps.ARRAY_CAPACITY, CAPACITY);
    OffHeap.putInt(base + PerCpuOps.ARRAY_SLOTS, 16);
    OffHeap.putLong(base + POINTER, base + WORDS);
    for (int i = 0; i < 10; i++) {
      OffHeap.putLong(base + FROM + i * 8L, 100 + i);
    }
    return base;
  }

  /** Addresses inside a block, as distances; they differ from block to block. */
  private static long relative(long value, long base) {
    return value >= base && value < base + BYTES ? value - base + (1L << 40) : value;
  }

  private static long retried(LongSupplier operation) {
    long result;
    do {
      result = operation.getAsLong();
    } while (result == LOST);
    return result;
  }

  /** Whole operations say LOST only where the row is closed, so they are not tried again. */
  private static long run(Side side, SplittableRandom random, int node) {
    RowOps ops = side.ops;
    long base = side.base;
    int dice = random.nextInt(1, 20);
    long small = random.nextInt(3);
    long word = base + WORDS + random.nextInt(4) * 8L;
    long word2 = base + WORDS + random.nextInt(4) * 8L;
    int count = random.nextInt(9);
    long value = random.nextInt(3);
    return switch (dice) {
      case 1 -> ops.add(word, 0, value) ? 1 : 0;
      case 2, 3 -> ops.arrayPush(base, 0, value + 1);
      case 4, 5 -> ops.arrayPop(base, 0);
      case 6 -> ops.arrayPushMany(base, 0, base + FROM, count);
      case 7 -> ops.arrayPopMany(base, 0, base + TO, count);
      case 8, 9 ->
          node < 0 ? -7 : ops.listPush(base + LIST, 0, base + NODES + node * NODE, LINK) ? 1 : 0;
      case 10 -> ops.listPop(base + LIST, 0, LINK);
      case 11 -> small == 0 ? ops.listTake(base + LIST, 0) : -7;
      case 12 -> retried(() -> ops.compareStore(ops.row(), word, small, value));
      case 13 ->
          retried(() -> ops.compareUnequalStoreLoad(ops.row(), base + LIST, 0, LINK, base + OUT));
      case 14 -> retried(() -> ops.addAt(ops.row(), word, value));
      case 15 ->
          retried(() -> ops.dereferenceAdd(ops.row(), base + POINTER, count % 4 * 8L, value));
      case 16 ->
          retried(() -> ops.compareStoreStore(ops.row(), word, small, base + OUT, count, value));
      case 17 ->
          retried(() -> ops.compareCompareStore(ops.row(), word, small, word2, count % 3, value));
      case 18 ->
          retried(
              () ->
                  ops.compareCopyStore(
                      ops.row(), word, small, base + TO, base + FROM, count * 7L, value));
      default -> {
        // Closes or opens, as a manager does; fenced by its own single thread.
        OffHeap.setIntVolatile(base + PerCpuOps.ARRAY_CLOSED, count > 6 ? 1 : 0);
        OffHeap.setIntVolatile(base + LIST + PerCpuOps.LIST_CLOSED, count > 7 ? 1 : 0);
        yield -7;
      }
    };
  }

  /** The same with plain loads and stores. */
  private static final class Model {
    @SuppressWarnings("RefactorSwitch") // Several statements in most cases.
    static long run(long base, SplittableRandom random, int node, boolean[] linked) {
      int dice = random.nextInt(1, 20);
      long small = random.nextInt(3);
      long word = base + WORDS + random.nextInt(4) * 8L;
      long word2 = base + WORDS + random.nextInt(4) * 8L;
      int count = random.nextInt(9);
      long value = random.nextInt(3);
      int n = OffHeap.getInt(base);
      boolean closed = OffHeap.getInt(base + PerCpuOps.ARRAY_CLOSED) != 0;
      long list = base + LIST;
      boolean closedList = OffHeap.getInt(list + PerCpuOps.LIST_CLOSED) != 0;
      long head = OffHeap.getLong(list);
      switch (dice) {
        case 1 -> {
          return set(word, get(word) + value, 1);
        }
        case 2, 3 -> {
          if (closed || n == CAPACITY) {
            return closed ? LOST : PerCpuOps.FULL;
          }
          OffHeap.putLong(base + 16 + n * 8L, value + 1);
          OffHeap.putInt(base, n + 1);
          return DONE;
        }
        case 4, 5 -> {
          if (closed || n == 0) {
            return closed ? LOST : 0;
          }
          OffHeap.putInt(base, n - 1);
          return get(base + 16 + (n - 1) * 8L);
        }
        case 6 -> {
          int done = Math.min(count, CAPACITY - n);
          return closed ? LOST : move(base, base + FROM, base + 16 + n * 8L, done, n + done);
        }
        case 7 -> {
          int done = Math.min(count, n);
          return closed ? LOST : move(base, base + 16 + (n - done) * 8L, base + TO, done, n - done);
        }
        case 8, 9 -> {
          if (linked[node]) {
            return -7;
          }
          if (closedList) {
            return 0;
          }
          OffHeap.putLong(base + NODES + node * NODE + LINK, head);
          return set(list, base + NODES + node * NODE, 1);
        }
        case 10 -> {
          if (closedList || head == 0) {
            return closedList ? LOST : 0;
          }
          return set(list, get(head + LINK), head);
        }
        case 11 -> {
          return small != 0 ? -7 : closedList ? LOST : set(list, 0, head);
        }
        case 12 -> {
          return get(word) == small ? set(word, value, DONE) : UNEQUAL;
        }
        case 13 -> {
          if (head == 0) {
            return UNEQUAL;
          }
          OffHeap.putLong(base + OUT, head);
          return set(list, get(head + LINK), DONE);
        }
        case 14 -> {
          return set(word, get(word) + value, DONE);
        }
        case 15 -> {
          long to = base + WORDS + count % 4 * 8L;
          return set(to, get(to) + value, DONE);
        }
        case 16 -> {
          if (get(word) != small) {
            return UNEQUAL;
          }
          OffHeap.putLong(base + OUT, count);
          return set(word, value, DONE);
        }
        case 17 -> {
          return get(word) == small && get(word2) == count % 3 ? set(word, value, DONE) : UNEQUAL;
        }
        case 18 -> {
          if (get(word) != small) {
            return UNEQUAL;
          }
          for (long i = 0; i < count * 7L; i++) {
            OffHeap.putByte(base + TO + i, OffHeap.getByte(base + FROM + i));
          }
          return set(word, value, DONE);
        }
        default -> {
          OffHeap.putInt(base + PerCpuOps.ARRAY_CLOSED, count > 6 ? 1 : 0);
          OffHeap.putInt(list + PerCpuOps.LIST_CLOSED, count > 7 ? 1 : 0);
          return -7;
        }
      }
    }

    private static long get(long address) {
      return OffHeap.getLong(address);
    }

    private static long set(long address, long value, long result) {
      OffHeap.putLong(address, value);
      return result;
    }

    private static long move(long base, long from, long to, int n, int count) {
      for (int i = 0; i < n; i++) {
        OffHeap.putLong(to + i * 8L, get(from + i * 8L));
      }
      OffHeap.putInt(base, count);
      return n;
    }

    /** Which nodes are in the list now: none may be pushed twice. */
    static void track(long base, boolean[] linked) {
      java.util.Arrays.fill(linked, false);
      for (long node = get(base + LIST); node != 0; node = get(node + LINK)) {
        linked[(int) ((node - base - NODES) / NODE)] = true;
      }
    }
  }
}
