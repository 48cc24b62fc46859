package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PerCpuMemoryTest {
  private static final Pattern RANGE = Pattern.compile("([0-9a-f]{6,16})-([0-9a-f]{6,16}) ");

  @Test
  void refusedWithoutNativeAccessNamingTheFlag() {
    if (!OffHeap.isAvailable()) {
      assertThatThrownBy(() -> PerCpuMemory.shared().allocate(8, 8))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("native");
    }
  }

  @Test
  void strideIsOfWholeLinesOrPages() {
    assertThat(PerCpuMemory.create(1).stride()).isEqualTo(128);
    assertThat(PerCpuMemory.create(129).stride()).isEqualTo(256);
    assertThat(PerCpuMemory.create(4097).stride()).isEqualTo(8192);
    assertThat(PerCpuMemory.shared().rows()).isEqualTo(PerCpuOps.rows());
    assertThatThrownBy(() -> PerCpuMemory.create(0)).isInstanceOf(IllegalArgumentException.class);
  }

  /** Random allocations never overlap, are zero in all rows, and coalesce when freed. */
  @Test
  void allocationsAreDisjointAndZeroed() {
    Needs.facility("native");
    record Piece(long address, long bytes) {}
    SplittableRandom random = new SplittableRandom(42);
    PerCpuMemory memory = new PerCpuMemory(1024, 3);
    List<Piece> live = new ArrayList<>();
    for (int round = 0; round < 5_000; round++) {
      if (live.isEmpty() || (random.nextInt(100) < 55 && live.size() < 60)) {
        long bytes = random.nextInt(1, 300);
        long alignment = 1L << random.nextInt(8);
        long address = memory.allocate(bytes, alignment);
        assertThat(address & (alignment - 1)).isZero();
        for (Piece other : live) {
          assertThat(address + bytes <= other.address || other.address + other.bytes <= address)
              .isTrue();
        }
        for (int row = 0; row < 3; row++) {
          for (long i = 0; i + 8 <= bytes; i += 8) {
            long word = address + row * memory.stride() + i;
            assertThat(OffHeap.getLong(word)).isZero();
            OffHeap.putLong(word, -1);
          }
        }
        live.add(new Piece(address, bytes));
      } else {
        Piece piece = live.remove(random.nextInt(live.size()));
        memory.free(piece.address, piece.bytes);
        assertThatThrownBy(() -> memory.free(piece.address, piece.bytes))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
    live.forEach(piece -> memory.free(piece.address, piece.bytes));
    assertThat(memory.usedBytes()).isZero();
    long reserved = memory.reservedBytes();
    for (long i = 0; i < reserved / (3 * memory.stride()); i++) {
      memory.allocate(memory.stride(), 8); // everything has grown together again
    }
    assertThat(memory.reservedBytes()).isEqualTo(reserved);
    memory.close();
    memory.close();
    assertThat(memory.reservedBytes()).isZero();
    assertThatThrownBy(() -> memory.allocate(8, 8)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aWordCostsEightBytesPerRow() {
    Needs.facility("native");
    try (PerCpuMemory memory = PerCpuMemory.create(4096)) {
      for (int i = 0; i < 512; i++) {
        memory.allocate(8, 8);
      }
      assertThat(memory.usedBytes()).isEqualTo(4096L * PerCpuOps.rows());
      assertThat(memory.reservedBytes()).isEqualTo(4096L * PerCpuOps.rows());
    }
  }

  /** Possible CPUs "0,64": 65 rows, of which 63 never run. */
  @Test
  void rowsNeverUsedStayUntouched() throws Exception {
    Needs.facility("native");
    long block = 1 << 20;
    PerCpuMemory memory = new PerCpuMemory(block, 65);
    long address = memory.allocate(block, 4096);
    for (int row : new int[] {0, 64}) {
      for (long i = 0; i < block; i += 4096) {
        OffHeap.putLong(address + row * memory.stride() + i, 1);
      }
    }
    // Before the free: on some kernels a load is enough for a page (no shared page of zeros).
    assertThat(resident(address)).isBetween(2 * block, 16 * block);
    memory.free(address, block);
    assertThat(OffHeap.getLong(memory.allocate(block, 8) + 64 * memory.stride())).isZero();
    memory.close();
  }

  /** Bytes in memory of the mapping that holds an address. */
  private static long resident(long address) throws Exception {
    boolean ours = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      Matcher range = RANGE.matcher(line);
      if (range.lookingAt()) {
        ours =
            Long.parseLong(range.group(1), 16) <= address
                && address < Long.parseLong(range.group(2), 16);
      } else if (ours && line.startsWith("Rss:")) {
        return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new AssertionError("no mapping holds the address");
  }

  @Test
  void wrongArgumentsSayWhatIsRight() {
    Needs.facility("native");
    PerCpuMemory memory = PerCpuMemory.create(128);
    assertThatThrownBy(() -> memory.allocate(129, 8)).hasMessageContaining("1 to 128");
    assertThatThrownBy(() -> memory.allocate(8, 3)).hasMessageContaining("power of two");
    assertThatThrownBy(() -> memory.allocate(8, 256)).hasMessageContaining("up to 128");
    long address = memory.allocate(64, 8);
    assertThatThrownBy(() -> memory.free(address + 64, 8))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> memory.free(address + 32, 64))
        .isInstanceOf(IllegalArgumentException.class);
    for (long bytes : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - 7}) {
      assertThatThrownBy(() -> memory.free(address, bytes))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(memory.usedBytes()).isEqualTo(64L * memory.rows());
    memory.close();
    assertThatThrownBy(() -> PerCpuMemory.shared().close())
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
