package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PageHeapTest {
  private static final long PAGE = SizeClasses.PAGE;
  private static final int LIMIT_PAGES = 128;

  private Region region;
  private PageHeap pages;
  private boolean mapped;

  @BeforeEach
  void open() {
    assumeTrue(VirtualMemory.isAvailable());
    limit(LIMIT_PAGES * PAGE);
  }

  private void limit(long bytes) {
    close();
    region = Region.reserve(bytes);
    pages = new PageHeap(region, bytes);
    mapped = true;
  }

  @AfterEach
  void close() {
    if (mapped) {
      mapped = false;
      pages.close();
      pages.unmapHuge();
      region.unmap();
    }
  }

  private long used() {
    return pages.figures().usedBytes() / PAGE;
  }

  private long idle() {
    return pages.figures().idleBytes() / PAGE;
  }

  private long backed() {
    return used() + idle() + pages.figures().hugeBytes() / PAGE;
  }

  @Test
  void aSpanIsMarkedAndFound() {
    Span blocks = pages.allocate(3, 1, 5);
    Span large = pages.allocate(7, 1, 0);
    for (int p = 0; p < 3; p++) {
      assertThat(region.kind(blocks.start + p * PAGE)).isEqualTo((byte) 5);
      assertThat(pages.spanOf(blocks.start + p * PAGE + 17)).isSameAs(blocks);
    }
    assertThat(region.kind(large.start)).isEqualTo(Region.LARGE);
    assertThat(region.kind(large.start + PAGE)).isZero();
    assertThat(pages.spanOf(large.start + 6 * PAGE)).isSameAs(large);
    assertThat(used()).isEqualTo(10);
    assertThat(pages.figures().largeBlocks()).isOne();
    assertThat(pages.figures().largeBytes()).isEqualTo(7 * PAGE);
    pages.free(blocks);
    pages.freeLarge(large.start);
    assertThat(region.kind(blocks.start + PAGE)).isZero();
    assertThat(region.kind(large.start)).isZero();
    assertThat(pages.spanOf(large.start)).isNull();
    assertThat(used()).isZero();
    assertThat(idle()).isEqualTo(10);
  }

  @Test
  void neighboursThatAreFreeAreOneRun() {
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      spans.add(pages.allocate(10, 1, 0));
    }
    long first = spans.getFirst().start;
    for (int i : new int[] {4, 2, 3, 5, 1, 0}) {
      pages.free(spans.get(i));
    }
    assertThat(pages.allocate(60, 1, 0).start).isEqualTo(first);
    assertThat(used()).isEqualTo(120);
    assertThat(idle()).isZero();
  }

  @Test
  void theFullestChunkThatSufficesIsTaken() {
    limit(1L << 30);
    Span a = pages.allocate(200, 1, 0);
    Span b = pages.allocate(100, 1, 0);
    Span c = pages.allocate(120, 1, 0);
    assertThat(a.chunk).isNotSameAs(b.chunk);
    assertThat(c.chunk).isSameAs(b.chunk);
    // 56 pages are free there, 36 here.
    assertThat(pages.allocate(30, 1, 0).chunk).isSameAs(b.chunk);
    assertThat(pages.allocate(30, 1, 0).chunk).isSameAs(a.chunk);
  }

  @Test
  void alignment() {
    pages.allocate(1, 1, 0);
    for (int alignment = 1; alignment <= 32; alignment *= 2) {
      Span span = pages.allocate(2, alignment, 0);
      assertThat(span.start % (alignment * PAGE)).isZero();
    }
  }

  @Test
  void theLimitCountsSpansIdlePagesAndHugeBlocks() {
    Span span = pages.allocate(64, 1, 0);
    long huge = pages.allocateHuge(32 * PAGE, 16);
    assertThat(huge % VirtualMemory.PAGE_BYTES).isZero();
    assertThat(pages.hugeBytes(huge)).isEqualTo(32 * PAGE);
    assertThatThrownBy(() -> pages.allocate(33, 1, 0))
        .isInstanceOf(PageHeap.LimitReached.class)
        .hasMessageContaining(Long.toString(LIMIT_PAGES * PAGE));
    assertThatThrownBy(() -> pages.allocateHuge(32 * PAGE + 1, 16))
        .isInstanceOf(PageHeap.LimitReached.class);
    Span rest = pages.allocate(32, 1, 0);
    pages.freeHuge(huge);
    pages.free(span);
    assertThat(idle()).isEqualTo(64);
    // Idle pages make room for a huge block.
    long other = pages.allocateHuge(96 * PAGE, 16);
    assertThat(idle()).isZero();
    assertThat(backed()).isEqualTo(LIMIT_PAGES);
    pages.freeHuge(other);
    pages.free(rest);
  }

  /** What is given back to keep the limit may be pages of the run that is being taken. */
  @Test
  void pagesOfTheVeryRunThatAreGivenBackAreCountedAgain() {
    Span a = pages.allocate(60, 1, 0);
    pages.allocate(40, 1, 0);
    Span c = pages.allocate(28, 1, 0);
    pages.free(a);
    pages.free(c);
    pages.allocate(80, 1, 0); // begins where c was, and needs 52 pages more
    assertThat(used()).isEqualTo(120);
    assertThat(idle()).isZero();
    assertThatThrownBy(() -> pages.allocate(9, 1, 0)).isInstanceOf(PageHeap.LimitReached.class);
    pages.allocate(8, 1, 0);
  }

  private static long idleIn(Set<Chunk> chunks) {
    return chunks.stream().mapToLong(Chunk::idlePages).sum();
  }

  @Test
  void theCountsAreThoseOfTheChunksWhateverHappens() {
    SplittableRandom random = new SplittableRandom(5);
    List<Span> spans = new ArrayList<>();
    List<Long> huge = new ArrayList<>();
    Set<Chunk> chunks = new HashSet<>();
    for (int i = 0; i < 5_000; i++) {
      try {
        switch (random.nextInt(12)) {
          case 0, 1, 2, 3, 4 -> spans.add(pages.allocate(1 + random.nextInt(24), 1, 0));
          case 5 -> spans.add(pages.allocate(1 + random.nextInt(8), 1 << random.nextInt(4), 3));
          case 6 -> huge.add(pages.allocateHuge(PAGE * (1 + random.nextInt(20)), 16));
          case 7 -> pages.releaseUnneeded();
          default -> {
            if (!spans.isEmpty()) {
              pages.free(spans.remove(random.nextInt(spans.size())));
            }
            if (!huge.isEmpty() && random.nextBoolean()) {
              pages.freeHuge(huge.removeLast());
            }
          }
        }
      } catch (PageHeap.LimitReached full) {
        assertThat(full).hasMessageContaining("limit");
      }
      long sum = spans.stream().mapToLong(span -> span.pages).sum();
      spans.forEach(span -> chunks.add(span.chunk));
      assertThat(used()).isEqualTo(sum);
      assertThat(backed()).isLessThanOrEqualTo(LIMIT_PAGES);
      assertThat(idle()).isEqualTo(idleIn(chunks));
    }
  }

  @Test
  void aHugeBlockIsZeroedAlignedAndItsOwnMapping() {
    limit(1L << 30);
    long p = pages.allocateHuge(3_000_000, 1 << 22);
    assertThat(p % (1 << 22)).isZero();
    assertThat(region.contains(p)).isFalse();
    assertThat(OffHeap.getLong(p + 2_999_992)).isZero();
    pages.freeHuge(p);
    assertThat(pages.hugeBytes(p)).isZero();
    assertThatThrownBy(() -> pages.freeHuge(p)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> pages.allocateHuge(1L << 31, 16))
        .isInstanceOf(PageHeap.LimitReached.class)
        .hasMessageContaining(Long.toString(1L << 30));
  }

  @Test
  void idlePagesGoBackByHalves() {
    limit(1L << 30);
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      spans.add(pages.allocate(128, 1, 0));
    }
    assertThat(pages.releaseUnneeded()).isZero();
    spans.forEach(pages::free);
    assertThat(pages.releaseUnneeded()).as("they were in use since the last look").isZero();
    assertThat(pages.releaseUnneeded()).isEqualTo(1_024 * PAGE);
    assertThat(idle()).isEqualTo(1_024);
    assertThat(pages.releaseUnneeded()).isEqualTo(512 * PAGE);
    assertThat(pages.releaseUnneeded()).isEqualTo(256 * PAGE);
    assertThat(pages.releaseUnneeded()).as("few go at once").isEqualTo(256 * PAGE);
    assertThat(pages.releaseUnneeded()).isZero();
    assertThat(pages.figures().returnedBytes()).isEqualTo(2_048 * PAGE);
  }

  @Test
  void whatWentBackReadsAsZeros() {
    Span span = pages.allocate(4, 1, 0);
    OffHeap.fill(span.start, 4 * PAGE, (byte) 9);
    long start = span.start;
    pages.free(span);
    assertThat(pages.release()).isEqualTo(4 * PAGE);
    Span again = pages.allocate(4, 1, 0);
    assertThat(again.start).isEqualTo(start);
    for (long i = 0; i < 4 * PAGE; i += 8) {
      assertThat(OffHeap.getLong(start + i)).isZero();
    }
  }

  @Test
  void whatIsNoLargeBlockIsRefused() {
    Span small = pages.allocate(2, 1, 3);
    Span large = pages.allocate(2, 1, 0);
    for (long address : new long[] {small.start, large.start + PAGE, large.start + 16}) {
      assertThatThrownBy(() -> pages.freeLarge(address))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no block");
    }
    pages.freeLarge(large.start);
    assertThatThrownBy(() -> pages.freeLarge(large.start))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void afterCloseNothingIsHeld() {
    pages.allocate(3, 1, 2);
    long huge = pages.allocateHuge(1 << 16, 16);
    OffHeap.putLong(huge, 7);
    pages.close();
    assertThat(backed()).isZero();
    assertThat(pages.figures().hugeBlocks()).isZero();
    if (!OffHeap.isDebug()) {
      // Who is in the middle of copying it goes on, as in the region; unmapped it would crash.
      assertThat(OffHeap.getLong(huge)).isZero();
    }
    assertThatThrownBy(() -> pages.allocate(1, 1, 0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> pages.allocateHuge(1, 16)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> pages.freeHuge(huge)).isInstanceOf(IllegalStateException.class);
    assertThat(pages.release()).isZero();
    assertThat(pages.releaseUnneeded()).isZero();
  }
}
