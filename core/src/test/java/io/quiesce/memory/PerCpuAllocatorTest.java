package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PerCpuAllocatorTest {
  private PerCpuAllocator allocator;

  @BeforeEach
  void open() {
    assumeTrue(VirtualMemory.isAvailable());
    allocator = builder("test").build();
  }

  AllocatorBuilder builder(String name) {
    return PerCpuAllocator.builder().name(name);
  }

  /** What {@code usableSize} is to say. */
  long usable(long bytes) {
    return PerCpuAllocator.blockSize(bytes);
  }

  /** How many blocks of 1,000 bytes a mebibyte holds at least. */
  int leastAtTheLimit() {
    return 900;
  }

  @AfterEach
  void close() {
    if (allocator != null) {
      allocator.close();
    }
  }

  @Test
  void everySizeIsServedWithBoundedWaste() {
    for (long bytes = 0; bytes <= 40_000; bytes += bytes < 300 ? 1 : 13) {
      long p = allocator.allocateRaw(bytes);
      assertThat(p % PerCpuAllocator.ALIGNMENT).isZero();
      long usable = allocator.usableSize(p);
      assertThat(usable).isGreaterThanOrEqualTo(bytes).isEqualTo(usable(bytes));
      if (bytes > 16 && bytes <= 32 * 1024) {
        assertThat(usable - bytes).isLessThanOrEqualTo(Math.max(15, usable / 8));
      }
      OffHeap.fill(p, usable, (byte) 7);
      allocator.freeRaw(p);
    }
  }

  @Test
  void liveBlocksAreDisjoint() {
    List<Long> blocks = new ArrayList<>();
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 50_000; i++) {
      long p = allocator.allocateRaw(48);
      assertThat(seen.add(p)).isTrue();
      OffHeap.putLong(p, i);
      OffHeap.putLong(p + 40, i);
      blocks.add(p);
    }
    for (int i = 0; i < blocks.size(); i++) {
      assertThat(OffHeap.getLong(blocks.get(i))).isEqualTo(i);
      assertThat(OffHeap.getLong(blocks.get(i) + 40)).isEqualTo(i);
      allocator.freeRaw(blocks.get(i));
    }
    assertThat(allocator.trim()).isPositive();
  }

  @Test
  void largeAndHugeBlocks() {
    for (long bytes : new long[] {32_769, 100_000, 1 << 20, (1 << 20) + 1, 5 << 20}) {
      long p = allocator.allocateRawZeroed(bytes);
      assertThat(OffHeap.getByte(p + bytes - 1)).isZero();
      OffHeap.fill(p, bytes, (byte) 1);
      assertThat(allocator.usableSize(p)).isEqualTo(usable(bytes));
      allocator.freeRaw(p);
      assertThatThrownBy(() -> allocator.freeRaw(p)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void alignments() {
    for (long alignment = 1; alignment <= 8 << 20; alignment *= 2) {
      for (long bytes : new long[] {0, 1, 100, 5_000, 50_000}) {
        long p = allocator.allocateRawZeroed(bytes, alignment);
        assertThat(p % alignment).isZero();
        allocator.freeRaw(p);
      }
    }
  }

  @Test
  void reallocationKeepsContents() {
    long p = allocator.allocateRaw(10);
    OffHeap.putLong(p, 42);
    for (long bytes : new long[] {20, 2_000, 40_000, 3_000_000, 50_000, 100, 8}) {
      p = allocator.reallocateRaw(p, bytes);
      assertThat(OffHeap.getLong(p)).isEqualTo(42);
    }
    allocator.freeRaw(p);
  }

  @Test
  void theLimitIsAnErrorAndNotTheEnd() {
    try (PerCpuAllocator small = builder("small").limit(1 << 20).build()) {
      List<Long> blocks = new ArrayList<>();
      assertThatThrownBy(
              () -> {
                while (true) {
                  blocks.add(small.allocateRaw(1_000));
                }
              })
          .isInstanceOf(OutOfMemoryError.class)
          .hasMessageContaining("'small'")
          .hasMessageContaining("limit of 1048576");
      assertThat(blocks).hasSizeGreaterThan(leastAtTheLimit());
      blocks.forEach(small::freeRaw);
      // Memory of one class serves another: the caches are emptied for it.
      small.freeRaw(small.allocateRaw(500_000));
      assertThatThrownBy(() -> small.allocateRaw(2 << 20)).isInstanceOf(OutOfMemoryError.class);
    }
  }

  @Test
  void badInputIsRefused() {
    assertThatThrownBy(() -> allocator.allocateRaw(-1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> allocator.allocateRaw(1, 3))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> allocator.allocateRaw(Long.MAX_VALUE))
        .isInstanceOf(OutOfMemoryError.class);
    for (long wild : new long[] {8, -8, 1L << 46, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> allocator.freeRaw(wild))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no block of this allocator");
    }
    assertThatThrownBy(() -> allocator.free(MemorySegment.ofArray(new byte[8])))
        .isInstanceOf(IllegalArgumentException.class);
    allocator.freeRaw(0);
  }

  @Test
  void afterCloseEverythingThrows() {
    long p = allocator.allocateRaw(64);
    long large = allocator.allocateRaw(100_000);
    long huge = allocator.allocateRaw(10_000_000);
    allocator.close();
    allocator.close();
    assertThatThrownBy(() -> allocator.allocateRaw(64)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocator.allocateRaw(65, 64))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> allocator.allocateRaw(5_000_000))
        .isInstanceOf(IllegalStateException.class);
    for (long address : new long[] {p, large, huge}) {
      assertThatThrownBy(() -> allocator.freeRaw(address))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> allocator.usableSize(address))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void segmentsAndArenas() {
    MemorySegment segment = allocator.allocate(100, 8);
    segment.set(ValueLayout.JAVA_LONG, 0, 5);
    assertThat(segment.byteSize()).isEqualTo(100);
    allocator.free(segment);
    MemorySegment late;
    try (Arena arena = allocator.newArena()) {
      late = arena.allocate(64);
      assertThat(late.get(ValueLayout.JAVA_LONG, 56)).isZero();
      for (int i = 0; i < 100; i++) {
        arena.allocate(ValueLayout.JAVA_LONG);
      }
    }
    MemorySegment closed = late;
    assertThatThrownBy(() -> closed.get(ValueLayout.JAVA_LONG, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE - 4_094, Long.MAX_VALUE - 4_096, 1L << 62})
  void theSizeOfABlockThatCannotBe(long bytes) {
    assertThat(PerCpuAllocator.blockSize(bytes)).isGreaterThanOrEqualTo(bytes);
    assertThatThrownBy(() -> allocator.allocateRaw(bytes)).isInstanceOf(OutOfMemoryError.class);
  }
}
