package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lists in a heap whose caches have no room, so that every block passes through the list. */
class CentralListTest {
  private static final int CLASS = 4;

  private Heap heap;
  private CentralList list;

  @BeforeEach
  void open() {
    assumeTrue(VirtualMemory.isAvailable());
    heap = new Heap(PerCpuAllocator.builder().name("lists").cacheBytesPerCpu(0).limit(1 << 24));
    list = heap.central[CLASS];
  }

  @AfterEach
  void close() {
    if (heap != null) {
      heap.run();
    }
  }

  private List<Long> take(int n) {
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      blocks.add(list.refill());
    }
    return blocks;
  }

  /** Every block of every span must be in one place. */
  private void balance(int live) {
    CentralList.Figures f = list.figures();
    assertThat(f.spans() * SizeClasses.blocksPerSpan(CLASS))
        .isEqualTo(f.freeInSpans() + f.inTransfer() + live);
    assertThat(f.corrupt()).isZero();
  }

  @Test
  void blocksAreGivenOnceAndComeBack() {
    List<Long> blocks = take(5_000);
    Set<Long> different = new HashSet<>(blocks);
    assertThat(different).hasSameSizeAs(blocks);
    for (long block : blocks) {
      assertThat(heap.region.kind(block)).isEqualTo((byte) CLASS);
    }
    balance(5_000);
    Collections.shuffle(blocks, new Random(3));
    for (int i = 0; i < blocks.size(); i++) {
      list.overflow(blocks.get(i));
      if (i % 500 == 0) {
        balance(5_000 - 1 - i);
      }
    }
    balance(0);
    assertThat(list.figures().inTransfer()).isBetween(1L, (long) CentralList.capacity(CLASS));
    list.flush();
    balance(0);
    assertThat(list.figures().spans()).as("whole spans go back").isZero();
    assertThat(heap.pages.figures().usedBytes()).isZero();
  }

  @Test
  void theFullestSpanGivesFirst() {
    int perSpan = SizeClasses.blocksPerSpan(CLASS);
    List<Long> blocks = take(3 * perSpan);
    list.flush();
    Collections.sort(blocks);
    // Most of the first span comes back, and enough for a batch of the second.
    List<Long> back = new ArrayList<>(blocks.subList(0, perSpan - 2));
    back.addAll(blocks.subList(perSpan, perSpan + SizeClasses.batch(CLASS)));
    back.forEach(list::overflow);
    list.flush();
    long before = list.figures().freeInSpans();
    long block = list.refill();
    assertThat(block).isBetween(blocks.get(perSpan), blocks.get(2 * perSpan - 1));
    assertThat(list.figures().freeInSpans()).isEqualTo(before - SizeClasses.batch(CLASS));
  }

  @Test
  void aListThatHasBlocksTakesNoSpan() {
    int perSpan = SizeClasses.blocksPerSpan(CLASS);
    Set<Long> blocks = new HashSet<>(take(perSpan));
    assertThat(blocks).hasSize(perSpan);
    assertThat(list.figures().spans()).isOne();
    assertThat(list.figures().inTransfer() + list.figures().freeInSpans()).isZero();
    take(1);
    assertThat(list.figures().spans()).isEqualTo(2);
  }

  @Test
  void onlyWhatWasNotNeededIsTrimmed() {
    take(1_000).forEach(list::overflow);
    list.trim();
    long held = list.figures().inTransfer();
    assertThat(held).isPositive();
    int few = (int) held / 2;
    take(few).forEach(list::overflow);
    list.trim();
    assertThat(list.figures().inTransfer()).isBetween((long) few, held - 1);
    list.trim();
    assertThat(list.figures().inTransfer()).isZero();
    balance(0);
  }

  @Test
  void blocksFromElsewhereGoToTheirSpans() {
    List<Long> blocks = take(40);
    list.flush();
    long memory = OffHeap.allocate(40 * 8, 8);
    try {
      for (int i = 0; i < 40; i++) {
        OffHeap.putLong(memory + i * 8L, blocks.get(i));
      }
      list.put(memory, 30);
      balance(10);
      list.put(memory + 30 * 8, 10);
      balance(0);
      assertThat(list.figures().spans()).isZero();
    } finally {
      OffHeap.free(memory);
    }
  }

  @Test
  void aBlockThatComesTwiceOrIsNoneIsCountedAndDropped() {
    List<Long> blocks = take(10);
    long wrongClass = heap.central[CLASS + 1].refill();
    list.overflow(blocks.get(0));
    list.overflow(blocks.get(0));
    list.overflow(blocks.get(1) + 16);
    list.overflow(wrongClass);
    list.flush();
    assertThat(list.figures().corrupt()).isEqualTo(3);
    Set<Long> again = new HashSet<>(take(1_000));
    assertThat(again).hasSize(1_000).doesNotContainAnyElementsOf(blocks.subList(1, 10));
  }

  @Test
  void atTheLimitNothingIsLost() {
    List<Long> blocks = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                blocks.add(list.refill());
              }
            })
        .isInstanceOf(PageHeap.LimitReached.class);
    balance(blocks.size());
    assertThat(new HashSet<>(blocks)).hasSameSizeAs(blocks).hasSizeGreaterThan(250_000);
    blocks.forEach(list::overflow);
    list.flush();
    balance(0);
    assertThat(heap.pages.figures().usedBytes()).isZero();
  }

  @Test
  void aClosedListGivesAndTakesNothing() {
    long block = list.refill();
    list.close();
    assertThatThrownBy(list::refill).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> list.overflow(block)).isInstanceOf(IllegalStateException.class);
    list.absorb(5);
    list.trim();
    list.flush();
    assertThat(list.figures().spans()).isZero();
    assertThat(list.figures().inTransfer()).isZero();
  }
}
