package io.quiesce.trace.reader;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Integers of any size at any bit, against a writer that puts bit after bit. */
class BitsTest {

  @Test
  void everySizeAtEveryBitInBothOrders() {
    Random random = new Random(1);
    for (boolean bigEndian : new boolean[] {false, true}) {
      for (int skip = 0; skip < 8; skip++) {
        for (int size = 1; size <= 64; size++) {
          long value = random.nextLong();
          long before = random.nextLong();
          // With and without bytes behind it: at the end of a file there are none.
          int behind = 64 * random.nextInt(2);
          byte[] bytes =
              new BitWriter(bigEndian)
                  .u(skip, before)
                  .u(size, value)
                  .u(behind, random.nextLong())
                  .bytes();
          Bits bits = new Bits(MemorySegment.ofArray(bytes), 0);
          String what = size + " bits at " + skip + (bigEndian ? " be" : " le");
          int shift = 64 - size;
          assertThat(bits.get(skip, size, false, bigEndian))
              .as(what)
              .isEqualTo(value << shift >>> shift);
          assertThat(bits.get(skip, size, true, bigEndian))
              .as(what)
              .isEqualTo(value << shift >> shift);
          Bits copy = bits.copy(skip, skip + size);
          assertThat(copy.get(skip, size, false, bigEndian)).isEqualTo(value << shift >>> shift);
        }
      }
    }
  }

  @Test
  void aCopyOfThePartBehindKeepsTheAddresses() {
    byte[] bytes = {1, 2, 3, 4, 5, 6};
    Bits part = new Bits(MemorySegment.ofArray(bytes), 0).copy(3 * 8, 5 * 8);
    assertThat(part.get(24, 16, false, false)).isEqualTo(0x0504);
    assertThat(part.bytes(4, 1)).containsExactly(5);
    assertThat(part.findNul(3, 5)).isEqualTo(-1);
  }
}
