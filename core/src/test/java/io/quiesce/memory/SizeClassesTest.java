package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SizeClassesTest {
  @Test
  void everySizeHasTheSmallestBlockThatHoldsIt() {
    int last = 1;
    for (int bytes = 0; bytes <= SizeClasses.LARGEST; bytes++) {
      int c = SizeClasses.of(bytes);
      if (c < last || c > last + 1 || SizeClasses.bytes(c) < bytes) {
        throw new AssertionError(bytes + " bytes are in class " + c + " after " + last);
      }
      if (c > 1 && SizeClasses.bytes(c - 1) >= bytes) {
        throw new AssertionError(bytes + " bytes would fit into class " + (c - 1));
      }
      last = c;
    }
    assertThat(last).isEqualTo(SizeClasses.COUNT - 1).isEqualTo(72);
    assertThat(SizeClasses.bytes(last)).isEqualTo(SizeClasses.LARGEST);
  }

  @Test
  void wasteIsBelowSixteenBytesOrAtMostAnEighth() {
    for (int bytes = 1; bytes <= SizeClasses.LARGEST; bytes++) {
      int block = SizeClasses.bytes(SizeClasses.of(bytes));
      int waste = block - bytes;
      if (waste >= 16 && waste * 8 > block) {
        throw new AssertionError(bytes + " bytes waste " + waste + " of " + block);
      }
    }
  }

  @Test
  void blocksAreMultiplesOfTheMinimum() {
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      assertThat(SizeClasses.bytes(c) % SizeClasses.MINIMUM).as("class %d", c).isZero();
    }
  }

  @Test
  void anAlignedClassIsTheSmallestWhoseBlocksAreAligned() {
    for (int alignment = 1; alignment <= SizeClasses.PAGE; alignment *= 2) {
      for (int bytes = 0; bytes <= SizeClasses.LARGEST; bytes += bytes < 1_100 ? 1 : 61) {
        int c = SizeClasses.of(bytes, alignment);
        int block = SizeClasses.bytes(c);
        if (block < bytes || block % alignment != 0) {
          throw new AssertionError(bytes + " at " + alignment + ": class " + c + " of " + block);
        }
        for (int smaller = SizeClasses.of(bytes); smaller < c; smaller++) {
          if (SizeClasses.bytes(smaller) % alignment == 0) {
            throw new AssertionError(bytes + " at " + alignment + ": " + smaller + " would do");
          }
        }
      }
      // The span begins at a page, so the k-th block is aligned if the size is.
      assertThat(SizeClasses.PAGE % alignment).isZero();
    }
    assertThat(SizeClasses.of(1, 2 * SizeClasses.PAGE)).isZero();
  }

  @Test
  void spansHoldSeveralBlocksAndWasteAtMostAnEighth() {
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      int bytes = SizeClasses.pages(c) * SizeClasses.PAGE;
      int blocks = SizeClasses.blocksPerSpan(c);
      assertThat(blocks).as("class %d", c).isGreaterThanOrEqualTo(4);
      assertThat((bytes - blocks * SizeClasses.bytes(c)) * 8).as("class %d", c).isBetween(0, bytes);
      assertThat(SizeClasses.pages(c)).isLessThanOrEqualTo(Chunk.PAGES);
    }
  }

  @Test
  void batchesFitIntoCaches() {
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      assertThat(SizeClasses.batch(c)).isBetween(2, SizeClasses.mostCached(c));
      assertThat(CentralList.capacity(c)).isGreaterThan(2 * SizeClasses.batch(c));
    }
  }

  @Test
  void classesFitIntoTheByteTable() {
    assertThat(SizeClasses.COUNT).isLessThanOrEqualTo(Region.LARGE);
  }
}
