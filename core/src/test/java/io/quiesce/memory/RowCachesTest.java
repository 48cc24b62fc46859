package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.percpu.PerCpuOps;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Through the allocator's own paths, with the parts of its heap in sight. */
class RowCachesTest {
  private static final int BYTES = 64;
  private static final int CLASS = SizeClasses.of(BYTES);
  private static final long BUDGET = 64 * 1024;

  private Heap heap;

  @BeforeEach
  void open() {
    assumeTrue(VirtualMemory.isAvailable());
    heap = new Heap(PerCpuAllocator.builder().name("rows").cacheBytesPerCpu(BUDGET));
  }

  @AfterEach
  void close() {
    if (heap != null) {
      heap.run();
    }
  }

  private long allocate(int c) {
    long block = PerCpuOps.arrayPop(heap.caches.base + array(c), RowCaches.STRIDE);
    return block > 0 ? block : heap.miss(c, SizeClasses.bytes(c), block);
  }

  private void free(int c, long block) {
    int done = PerCpuOps.arrayPush(heap.caches.base + array(c), RowCaches.STRIDE, block);
    if (done != PerCpuOps.DONE) {
      heap.overflow(c, block, done);
    }
  }

  private static long array(int c) {
    return (long) c * PerCpuOps.ARRAY_HEADER_BYTES;
  }

  private void churn(int c, int n) {
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      blocks.add(allocate(c));
    }
    blocks.forEach(block -> free(c, block));
  }

  private long cachedBytes() {
    long sum = 0;
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      sum += heap.caches.cached(c) * SizeClasses.bytes(c);
    }
    return sum;
  }

  @Test
  void aMissGivesRoomForABatch() {
    assertThat(heap.caches.cached(CLASS)).isZero();
    long block = allocate(CLASS);
    assertThat(heap.caches.cached(CLASS)).isEqualTo(SizeClasses.batch(CLASS) - 1);
    free(CLASS, block);
    assertThat(heap.caches.cached(CLASS)).isEqualTo(SizeClasses.batch(CLASS));
  }

  @Test
  void whatAlternatesGrowsAndWhatOnlyOverflowsDoesNot() {
    for (int i = 0; i < 40; i++) {
      churn(CLASS, 400);
    }
    assertThat(heap.caches.cached(CLASS)).isGreaterThan(2L * SizeClasses.batch(CLASS));
    int other = CLASS + 1;
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      blocks.add(allocate(other)); // underflows alone
    }
    blocks.forEach(block -> free(other, block)); // one change of direction
    assertThat(heap.caches.cached(other))
        .isLessThanOrEqualTo(3L * SizeClasses.batch(other) * PerCpuOps.rows());
  }

  @Test
  void theBudgetHoldsForAllClassesTogether() {
    long most = 0;
    for (int round = 0; round < 8; round++) {
      for (int c = 1; c < SizeClasses.COUNT; c++) {
        churn(c, 3 * SizeClasses.batch(c));
        most = Math.max(most, cachedBytes());
      }
    }
    assertThat(most).isGreaterThan(BUDGET / 2);
    // A thread that moves between two steps leaves a batch where there is no room for it any more.
    assertThat(most).isLessThanOrEqualTo((BUDGET + 2L * SizeClasses.LARGEST) * PerCpuOps.rows());
  }

  @Test
  void drainingMovesEverythingAndRowsWorkOn() {
    assumeTrue(PerCpuOps.canFence());
    churn(CLASS, 300);
    long cached = heap.caches.cached(CLASS);
    assertThat(cached).isPositive();
    assertThat(heap.caches.drainAll(heap.central)).isEqualTo((int) cached);
    assertThat(heap.caches.cached(CLASS)).isZero();
    assertThat(heap.caches.drains()).isPositive();
    assertThat(heap.caches.drainAll(heap.central)).isZero();
    churn(CLASS, 300);
    assertThat(heap.caches.cached(CLASS)).as("open again").isPositive();
    heap.caches.drainAll(heap.central);
    heap.central[CLASS].flush();
    assertThat(heap.pages.figures().usedBytes()).isZero();
  }

  @Test
  void aRowThatDoesNotChangeIsDrainedAtTheSecondLook() {
    assumeTrue(PerCpuOps.canFence());
    churn(CLASS, 100);
    assertThat(heap.caches.drainIdle(heap.central)).isZero();
    long block = allocate(CLASS);
    heap.caches.drainIdle(heap.central);
    free(CLASS, block);
    // The rows that this thread was on have changed once or twice; the others are gone.
    assertThat(heap.caches.cached(CLASS)).isPositive();
    heap.caches.drainIdle(heap.central);
    heap.caches.drainIdle(heap.central);
    assertThat(heap.caches.cached(CLASS)).isZero();
  }

  @Test
  void blocksAreInOnePlaceThroughDrains() {
    List<Long> live = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      live.add(allocate(CLASS));
      if (i % 3 == 0) {
        free(CLASS, live.remove(i % live.size()));
      }
      if (i % 100 == 0) {
        heap.caches.drainAll(heap.central);
      }
      if (i % 70 == 0) {
        heap.caches.drainIdle(heap.central);
      }
    }
    assertThat(new HashSet<>(live)).hasSameSizeAs(live);
    AllocatorStatistics s = heap.statistics();
    assertThat(s.inUseBytes()).isEqualTo((long) live.size() * BYTES);
    assertThat(s.corruptFrees()).isZero();
  }

  @Test
  void withoutABudgetNothingIsCached() {
    heap.run();
    heap = new Heap(PerCpuAllocator.builder().name("none").cacheBytesPerCpu(0));
    churn(CLASS, 500);
    assertThat(cachedBytes()).isZero();
    assertThat(heap.statistics().inUseBytes()).isZero();
  }

  @Test
  void closedCachesGiveAndTakeNothing() {
    churn(CLASS, 100);
    long block = allocate(CLASS);
    heap.caches.close();
    assertThat(PerCpuOps.arrayPop(heap.caches.base + array(CLASS), RowCaches.STRIDE))
        .isLessThanOrEqualTo(0);
    assertThat(PerCpuOps.arrayPush(heap.caches.base + array(CLASS), RowCaches.STRIDE, block))
        .isNotEqualTo(PerCpuOps.DONE);
    heap.caches.drainAll(heap.central);
    assertThat(PerCpuOps.arrayPop(heap.caches.base + array(CLASS), RowCaches.STRIDE))
        .as("a drain does not open what is closed for good")
        .isLessThanOrEqualTo(0);
    heap.close();
    assertThatThrownBy(() -> allocate(CLASS)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocate(CLASS + 7)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> free(CLASS, block)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whatABrokenDrainLeftClosedIsOpenedByTheNext() {
    assumeTrue(PerCpuOps.canFence());
    churn(CLASS, 100);
    heap.caches.drainAll(heap.central);
    List<Long> used = new ArrayList<>();
    for (int row = 0; row < PerCpuOps.rows(); row++) {
      long header = heap.caches.base + row * RowCaches.STRIDE + array(CLASS);
      if (OffHeap.getInt(header + PerCpuOps.ARRAY_SLOTS) != 0) {
        OffHeap.setIntVolatile(header + PerCpuOps.ARRAY_CLOSED, 1); // as if the stack had ended
        used.add(header);
      }
    }
    assertThat(used).isNotEmpty();
    heap.caches.drainAll(heap.central);
    for (long header : used) {
      assertThat(OffHeap.getInt(header + PerCpuOps.ARRAY_CLOSED)).isZero();
    }
  }
}
