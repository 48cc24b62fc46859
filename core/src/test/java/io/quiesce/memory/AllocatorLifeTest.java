package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.ChildJvm;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.percpu.PerCpuOps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Closing, dropping, threads that come and go, and memory that goes back. */
@Timeout(60)
class AllocatorLifeTest {
  @BeforeEach
  void available() {
    assumeTrue(VirtualMemory.isAvailable());
  }

  @Test
  void everyMethodOfAClosedAllocatorSaysSo() {
    PerCpuAllocator a = PerCpuAllocator.create("gone");
    long small = a.allocateRaw(40);
    long large = a.allocateRaw(90_000);
    long huge = a.allocateRaw(3_000_000);
    MemorySegment segment = a.allocate(64, 8);
    Arena arena = a.newArena();
    arena.allocate(10);
    a.close();
    List<ThrowingCallable> calls =
        List.of(
            () -> a.allocateRaw(40),
            () -> a.allocateRaw(0),
            () -> a.allocateRaw(30_001),
            () -> a.allocateRaw(90_000),
            () -> a.allocateRaw(3_000_000),
            () -> a.allocateRaw(40, 64),
            () -> a.allocateRaw(40, 1 << 15),
            () -> a.allocateRaw(40, 1 << 22),
            () -> a.allocateRawZeroed(40),
            () -> a.allocateRawZeroed(90_000),
            () -> a.allocateRawZeroed(40, 4_096),
            () -> a.freeRaw(small),
            () -> a.freeRaw(large),
            () -> a.freeRaw(huge),
            () -> a.freeRaw(small + 8),
            () -> a.usableSize(small),
            () -> a.usableSize(large),
            () -> a.usableSize(huge),
            () -> a.reallocateRaw(0, 5),
            () -> a.reallocateRaw(small, 5_000),
            () -> a.reallocateRaw(large, 5),
            () -> a.reallocateRaw(huge, 5),
            () -> a.allocate(10, 1),
            () -> a.allocateUninitialized(10, 1),
            () -> a.free(segment),
            a::newArena,
            () -> arena.allocate(10),
            arena::close,
            a::trim);
    for (int i = 0; i < calls.size(); i++) {
      assertThatThrownBy(calls.get(i))
          .as("call %d", i)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    assertThat(a.statistics().backedBytes()).isZero();
    assertThat(a.statistics().inUseBytes()).isZero();
    assertThat(a.toString()).contains("closed");
    a.freeRaw(0);
    a.close();
  }

  @Test
  void threadsThatMeetACloseGetItsException() {
    ChildJvm.Result result =
        ChildJvm.run(
            CloseRaceMain.class,
            Map.of(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-XX:-CreateCoredumpOnCrash",
            "-Dquiesce.rseq=" + (PerCpuOps.isAvailable() ? "auto" : "off"));
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
    assertThat(result.out().strip()).as(result.err()).startsWith("refused ");
  }

  @Test
  void thousandsOfThreadsLeaveNothingBehind() throws Exception {
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    try (PerCpuAllocator allocator = PerCpuAllocator.create("births")) {
      Runnable life =
          () -> {
            try {
              long[] blocks = new long[10];
              for (int i = 0; i < blocks.length; i++) {
                blocks[i] = allocator.allocateRaw(100L * i);
                OffHeap.putLong(blocks[i], i);
              }
              for (int i = 0; i < blocks.length; i++) {
                if (OffHeap.getLong(blocks[i]) != i) {
                  throw new AssertionError("block " + i + " was changed");
                }
                allocator.freeRaw(blocks[i]);
              }
            } catch (Throwable thrown) {
              wrong.set(thrown);
            }
          };
      bear(life, 2_000, 100);
      long early = allocator.statistics().backedBytes();
      bear(life, 18_000, 1_900);
      assertThat(wrong.get()).isNull();
      AllocatorStatistics s = allocator.statistics();
      assertThat(s.inUseBytes()).isZero();
      // A row that was not used before may fill its cache; ten such blocks are some spans each.
      assertThat(s.backedBytes()).isLessThanOrEqualTo(early + (1L << 20) * PerCpuOps.rows());
      if (PerCpuOps.canFence()) {
        allocator.trim();
        assertThat(allocator.statistics().backedBytes()).isZero();
      }
    }
  }

  private static void bear(Runnable life, int virtual, int platform) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < virtual; i++) {
      threads.add(Thread.startVirtualThread(life));
    }
    for (int i = 0; i < platform; i++) {
      threads.add(Thread.ofPlatform().start(life));
      if (i % 16 == 15) {
        threads.getLast().join(); // not all at once
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void idleMemoryGoesBackByItself() throws Exception {
    assumeTrue(PerCpuOps.canFence());
    try (PerCpuAllocator allocator = PerCpuAllocator.create("idle")) {
      List<Long> blocks = new ArrayList<>();
      for (int i = 0; i < 20_000; i++) {
        long block = allocator.allocateRaw(2_000);
        OffHeap.fill(block, 2_000, (byte) 1);
        blocks.add(block);
      }
      long high = allocator.statistics().backedBytes();
      assertThat(high).isGreaterThan(40_000_000);
      assertThat(residentOf(blocks.getFirst())).isGreaterThan(30_000_000);
      long first = blocks.getFirst();
      blocks.forEach(allocator::freeRaw);
      // As the housekeeper does every second.
      for (int i = 0; i < 12; i++) {
        allocator.tick();
      }
      AllocatorStatistics s = allocator.statistics();
      assertThat(s.backedBytes()).isLessThan(high / 100);
      assertThat(s.cachedBytes()).isZero();
      assertThat(s.transferBytes()).isZero();
      assertThat(s.returnedBytes()).isGreaterThan(high / 2);
      assertThat(residentOf(first)).isLessThan(1_000_000);
    }
  }

  @Test
  void trimGivesItBackAtOnce() throws Exception {
    assumeTrue(PerCpuOps.canFence());
    try (PerCpuAllocator allocator = PerCpuAllocator.create("trimmed")) {
      List<Long> blocks = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        blocks.add(allocator.allocateRawZeroed(i % 2 == 0 ? 9_000 : 60_000));
      }
      long backed = allocator.statistics().backedBytes();
      long first = blocks.getFirst();
      blocks.forEach(allocator::freeRaw);
      assertThat(allocator.trim()).isEqualTo(backed);
      assertThat(allocator.statistics().backedBytes()).isZero();
      // The kernel merges neighbours: a page of another mapping may be counted here.
      assertThat(residentOf(first)).isLessThan(100_000);
    }
  }

  @Test
  void closingGivesAllMemoryBack() throws Exception {
    PerCpuAllocator allocator = PerCpuAllocator.create("closing");
    long block = allocator.allocateRawZeroed(800_000);
    for (int i = 0; i < 100; i++) {
      assertThat(allocator.allocateRawZeroed(30_000)).isNotZero();
    }
    assertThat(residentOf(block)).isGreaterThan(3_000_000);
    long huge = allocator.allocateRaw(5_000_000);
    OffHeap.fill(huge, 5_000_000, (byte) 1);
    long before = residentOf(huge);
    try {
      allocator.close();
      assertThat(residentOf(block)).isLessThan(100_000);
      // The kernel may have made one mapping of it and its neighbours.
      assertThat(residentOf(huge)).isLessThan(before - 4_000_000);
    } finally {
      Reference.reachabilityFence(allocator); // until then the addresses stay
    }
  }

  /** Resident bytes of the mapping that an address is in. */
  private static long residentOf(long address) throws Exception {
    boolean inside = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      String[] words = line.split("\\s+", -1);
      if (words[0].contains("-")) {
        inside = contains(words[0], address);
      } else if (inside && words[0].equals("Rss:")) {
        return Long.parseLong(words[1]) * 1_024;
      }
    }
    throw new AssertionError("0x" + Long.toHexString(address) + " is not mapped");
  }

  private static boolean contains(String range, long address) {
    int dash = range.indexOf('-');
    return Long.parseUnsignedLong(range.substring(0, dash), 16) <= address
        && address < Long.parseUnsignedLong(range.substring(dash + 1), 16);
  }

  private static long useAndDrop() {
    PerCpuAllocator allocator = PerCpuAllocator.create("dropped");
    long block = allocator.allocateRawZeroed(100);
    assertThat(block).isNotZero();
    return block;
  }

  private static long useCloseAndDrop() {
    try (PerCpuAllocator allocator = PerCpuAllocator.create("dropped")) {
      return allocator.allocateRaw(3_000_000);
    }
  }

  private static boolean isMapped(long address) throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
      if (contains(line.substring(0, line.indexOf(' ')), address)) {
        return true;
      }
    }
    return false;
  }

  @Test
  void theMappingsOfADroppedAllocatorDisappear() throws Exception {
    List<Long> places = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      places.add(useAndDrop());
      places.add(useCloseAndDrop());
    }
    // One that was seen to go is gone: something else may be mapped there later.
    for (int i = 0; i < 600 && !places.isEmpty(); i++) {
      System.gc();
      Thread.sleep(5);
      for (int k = places.size() - 1; k >= 0; k--) {
        if (!isMapped(places.get(k))) {
          places.remove(k);
        }
      }
    }
    assertThat(places).isEmpty();
  }
}
