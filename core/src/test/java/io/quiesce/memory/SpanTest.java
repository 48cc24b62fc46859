package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Spans are bookkeeping alone: no memory is behind these addresses. */
class SpanTest {
  private static final long PLACE = 1L << 40;

  private static Span span(int c) {
    return new Span(new Chunk(PLACE), 3, SizeClasses.pages(c), c);
  }

  @Test
  void everyBlockOfEveryClassIsGivenOnceInOrder() {
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      Span span = span(c);
      long start = PLACE + 3L * SizeClasses.PAGE;
      assertThat(span.start).isEqualTo(start);
      for (int i = 0; i < span.blocks(); i++) {
        assertThat(span.free()).isEqualTo(span.blocks() - i);
        assertThat(span.take()).isEqualTo(start + (long) i * SizeClasses.bytes(c));
      }
      assertThat(span.free()).isZero();
      assertThat(start + (long) span.blocks() * SizeClasses.bytes(c))
          .isLessThanOrEqualTo(start + (long) span.pages * SizeClasses.PAGE);
    }
  }

  @Test
  void blocksComeBackInAnyOrderAndOnce() {
    Random random = new Random(7);
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      Span span = span(c);
      List<Long> taken = new ArrayList<>();
      while (span.free() > 0) {
        taken.add(span.take());
      }
      Collections.shuffle(taken, random);
      for (long block : taken) {
        assertThat(span.isWhole()).isFalse();
        assertThat(span.put(block)).isTrue();
        assertThat(span.put(block)).as("a second time").isFalse();
      }
      assertThat(span.isWhole()).isTrue();
      assertThat(span.take()).isEqualTo(Collections.min(taken));
    }
  }

  @Test
  void whatIsNoStartOfABlockIsRefused() {
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      Span span = span(c);
      while (span.free() > 0) {
        span.take();
      }
      int bytes = SizeClasses.bytes(c);
      long end = span.start + (long) span.blocks() * bytes;
      for (long block = span.start; block < end; block += bytes) {
        for (long offset : new long[] {1, 8, bytes / 2, bytes - 1}) {
          if (span.put(block + offset)) {
            throw new AssertionError("class " + c + ", offset " + offset + " of a block");
          }
        }
      }
      long pagesEnd = span.start + (long) span.pages * SizeClasses.PAGE;
      for (long rest = end; rest < pagesEnd; rest += 16) {
        assertThat(span.put(rest)).as("the rest at the end of class %d", c).isFalse();
      }
      assertThat(span.free()).isZero();
    }
  }

  @Test
  void anAddressLeadsToItsBlock() {
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      Span span = span(c);
      for (int i = 0; i < span.blocks(); i++) {
        long block = span.take();
        assertThat(span.blockStart(block)).isEqualTo(block);
        assertThat(span.blockStart(block + SizeClasses.bytes(c) - 1)).isEqualTo(block);
      }
    }
  }

  @Test
  void aLargeBlockIsOneBlock() {
    Span span = new Span(new Chunk(PLACE), 0, 9, 0);
    assertThat(span.blocks()).isOne();
    assertThat(span.free()).isZero();
    assertThat(span.blockStart(PLACE + 70_000)).isEqualTo(PLACE);
  }
}
