package io.quiesce.bench.subjects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The checked form of t-test1 on every allocator; and on one that is broken. */
@Timeout(120)
class TTest1Test {
  private static final Duration SHORT = Duration.ofMillis(30);

  private static TTest1 test(Bins.Heap heap, int threads) {
    return new TTest1(
        TTest1.Shape.of(threads, 3_000, true), heap, Thread.ofPlatform().daemon().factory());
  }

  @Test
  void binsAreThoseOfTheOriginal() {
    assertThat(TTest1.Shape.of(2, 1, false).bins()).isEqualTo(400);
    assertThat(TTest1.Shape.of(8, 1, false).bins()).isEqualTo(100);
    assertThat(TTest1.Shape.of(100, 1, false).bins()).isEqualTo(8);
    assertThat(TTest1.Shape.of(1000, 1, false).bins()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "quiesce",
        "glibc",
        "netty-pooled",
        "netty-pooled-cached",
        "netty-adaptive",
        "netty-unpooled",
        "arena"
      })
  void contentsSurvive(String allocator) throws Exception {
    assertThat(test(Heaps.of(allocator), 4).run(SHORT)).isGreaterThan(4 * 3_000 / 2);
  }

  /** Blocks that overlap: the check must see it, or it checks nothing. */
  @Test
  void aBrokenAllocatorIsCaught() {
    byte[] memory = new byte[20_000];
    Bins.Heap broken = slots -> new Overlapping(memory);
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(() -> test(broken, 2).run(SHORT))
        .withMessageContaining("of a block of");
  }

  private static final class Overlapping extends Bins {
    private final byte[] memory;

    Overlapping(byte[] memory) {
      this.memory = memory;
    }

    @Override
    void allocate(int slot, int bytes) {}

    @Override
    void allocateAligned(int slot, int bytes, int alignment) {}

    @Override
    void allocateZeroed(int slot, int bytes) {}

    @Override
    void reallocate(int slot, int bytes) {}

    @Override
    void free(int slot) {}

    @Override
    void put(int slot, int index, byte value) {
      memory[index] = value;
    }

    @Override
    byte get(int slot, int index) {
      return memory[index];
    }
  }
}
