package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class OffHeapTest {
  @Test
  void refusedWithTheFlag() {
    assumeTrue(!OffHeap.isAvailable(), "native access is granted");
    assertThatThrownBy(() -> OffHeap.allocate(8, 8))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("--enable-native-access=");
  }

  @Test
  void allocatesZeroedAndAligned() {
    Needs.facility("native");
    for (long alignment = 1; alignment <= 1 << 21; alignment <<= 1) {
      long a = OffHeap.allocate(100, alignment);
      assertThat(a % alignment).isZero();
      for (int i = 0; i < 100; i++) {
        assertThat(OffHeap.getByte(a + i)).isZero();
      }
      OffHeap.fill(a, 100, (byte) -1);
      OffHeap.free(a);
    }
    OffHeap.free(OffHeap.allocate(0, 8));
    assertThatThrownBy(() -> OffHeap.allocate(8, 3)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> OffHeap.allocate(-1, 8)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> OffHeap.allocate(1L << 60, 8)).isInstanceOf(OutOfMemoryError.class);
  }

  @Test
  void latin1StringsTakeOneByteForEachCharacter() {
    Needs.facility("native");
    long a = OffHeap.allocate(64, 8);
    OffHeap.fill(a, 64, (byte) -1);
    OffHeap.putLatin1(a + 1, "a\u007f\u00e9\u0416!");
    byte[] stored = new byte[8];
    OffHeap.copyTo(a, stored, 0, 8);
    assertThat(stored).containsExactly(-1, 0x61, 0x7f, 0xe9, '?', '!', 0, -1);
    OffHeap.free(a);
  }

  @Test
  void everyAccess() {
    Needs.facility("native");
    long a = OffHeap.allocate(64, 64);
    OffHeap.putByte(a, (byte) 7);
    assertThat(OffHeap.getByte(a)).isEqualTo((byte) 7);
    OffHeap.putLong(a + 1, 0x0102030405060708L);
    assertThat(OffHeap.getLong(a + 1)).isEqualTo(0x0102030405060708L);
    OffHeap.putInt(a + 1, 5);
    assertThat(OffHeap.getInt(a + 1)).isEqualTo(5);

    OffHeap.setLongOpaque(a, 1);
    assertThat(OffHeap.getLongOpaque(a)).isEqualTo(1);
    OffHeap.setLongRelease(a, 2);
    assertThat(OffHeap.getLongAcquire(a)).isEqualTo(2);
    OffHeap.setLongVolatile(a, 3);
    assertThat(OffHeap.getLongVolatile(a)).isEqualTo(3);
    assertThat(OffHeap.compareAndSetLong(a, 9, 4)).isFalse();
    assertThat(OffHeap.compareAndSetLong(a, 3, 4)).isTrue();
    assertThat(OffHeap.getAndAddLong(a, 6)).isEqualTo(4);
    assertThat(OffHeap.getAndSetLong(a, 11)).isEqualTo(10);
    assertThat(OffHeap.getLong(a)).isEqualTo(11);

    OffHeap.setIntOpaque(a, 1);
    assertThat(OffHeap.getIntOpaque(a)).isEqualTo(1);
    OffHeap.setIntRelease(a, 2);
    assertThat(OffHeap.getIntAcquire(a)).isEqualTo(2);
    OffHeap.setIntVolatile(a, 3);
    assertThat(OffHeap.getIntVolatile(a)).isEqualTo(3);
    assertThat(OffHeap.compareAndSetInt(a, 9, 4)).isFalse();
    assertThat(OffHeap.compareAndSetInt(a, 3, 4)).isTrue();
    assertThat(OffHeap.getAndAddInt(a, 6)).isEqualTo(4);
    assertThat(OffHeap.getAndSetInt(a, 11)).isEqualTo(10);
    assertThatThrownBy(() -> OffHeap.getLongOpaque(a + 1))
        .isInstanceOf(IllegalArgumentException.class);

    OffHeap.copyFrom(new byte[] {1, 2, 3, 4}, 1, a, 3);
    OffHeap.copy(a, a + 1, 3);
    byte[] out = new byte[5];
    OffHeap.copyTo(a, out, 1, 4);
    assertThat(out).containsExactly(0, 2, 2, 3, 4);
    assertThat(OffHeap.segment(a, 64).get(ValueLayout.JAVA_BYTE, 2)).isEqualTo((byte) 3);
    OffHeap.free(a);
  }

  @Test
  void doubleAndForeignFreesAreRefused() {
    Needs.facility("native");
    long a = OffHeap.allocate(64, 64);
    assertThatThrownBy(() -> OffHeap.free(a + 8)).isInstanceOf(IllegalArgumentException.class);
    OffHeap.free(a);
    assertThatThrownBy(() -> OffHeap.free(a))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toHexString(a));
  }

  @Test
  void debugModeNamesTheBadAddress() {
    Needs.facility("native");
    assumeTrue(OffHeap.isDebug(), "needs -Dquiesce.debug=true");
    long a = OffHeap.allocate(1 << 20, 64);
    OffHeap.getLong(a + (1 << 20) - 8);
    assertThatThrownBy(() -> OffHeap.getLong(a + (1 << 20) - 7))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining(Long.toHexString(a));
    assertThatThrownBy(() -> OffHeap.putInt(a - 4, 1))
        .isInstanceOfAny(IndexOutOfBoundsException.class, IllegalStateException.class);
    assertThatThrownBy(() -> OffHeap.fill(a, -1, (byte) 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    OffHeap.free(a);
    assertThatThrownBy(() -> OffHeap.getByte(a + 100))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(Long.toHexString(a + 100))
        .hasMessageContaining("freed");
  }

  @Test
  void debugModeKnowsRegisteredRangesAndPoisons() {
    assumeTrue(OffHeap.isDebug(), "needs -Dquiesce.debug=true");
    DebugMemory.add(0x1000, 0x100);
    DebugMemory.check(0x10f8, 8);
    assertThatThrownBy(() -> DebugMemory.check(0x10f9, 8))
        .isInstanceOf(IndexOutOfBoundsException.class);
    OffHeap.unregister(0x1000);
    assertThatThrownBy(() -> DebugMemory.check(0x1000, 1))
        .isInstanceOf(IllegalStateException.class);
    OffHeap.register(0x1080, 0x100);
    DebugMemory.check(0x1080, 8);
    assertThatThrownBy(() -> DebugMemory.check(0x1000, 1))
        .as("the reused range has replaced the freed one")
        .isInstanceOf(IndexOutOfBoundsException.class);
    Needs.facility("native");
    long a = OffHeap.allocate(16, 16);
    OffHeap.poison(a, 16);
    assertThat(OffHeap.getLong(a)).isEqualTo(0x5b5b5b5b5b5b5b5bL);
    OffHeap.free(a);
  }
}
