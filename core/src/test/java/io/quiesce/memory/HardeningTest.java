package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.memory.MemoryFaultException.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every kind of wrong use is found, and the report names the culprits. */
@Timeout(60)
class HardeningTest {
  private PerCpuAllocator allocator;

  @BeforeEach
  void open() {
    assumeTrue(VirtualMemory.isAvailable());
    allocator = PerCpuAllocator.builder().name("hard").hardening(true).build();
  }

  @AfterEach
  void close() {
    if (allocator != null) {
      allocator.close();
    }
  }

  // The culprits, which reports must name.

  private long theAllocation(long bytes) {
    return allocator.allocateRaw(bytes);
  }

  private void theFirstFree(long address) {
    allocator.freeRaw(address);
  }

  private void theSecondFree(long address) {
    allocator.freeRaw(address);
  }

  private static void flip(long address) {
    OffHeap.putByte(address, (byte) ~OffHeap.getByte(address));
  }

  private MemoryFaultException fault(
      Kind kind, long address, org.assertj.core.api.ThrowableAssert.ThrowingCallable action) {
    long before = allocator.statistics().faults();
    MemoryFaultException fault = catchThrowableOfType(MemoryFaultException.class, action);
    assertThat(fault).isNotNull();
    assertThat(fault.kind()).isEqualTo(kind);
    assertThat(fault.address()).isEqualTo(address);
    assertThat(fault.report()).isEqualTo(fault.getMessage()).contains("'hard'");
    assertThat(allocator.statistics().faults()).isEqualTo(before + 1);
    return fault;
  }

  /** Each word stands in the report, in this order. */
  private static void assertTells(MemoryFaultException fault, String... words) {
    assertThat(fault.report()).containsSubsequence(words);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 100, 5_000, 100_000, 3 << 20})
  void aDoubleFree(long bytes) {
    long p = theAllocation(bytes);
    theFirstFree(p);
    assertTells(
        fault(Kind.DOUBLE_FREE, p, () -> theSecondFree(p)),
        "allocated by thread",
        "theAllocation",
        "freed by thread",
        "theFirstFree",
        "freed again by thread",
        "theSecondFree");
    fault(Kind.DOUBLE_FREE, p, () -> theSecondFree(p));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 0",
    "1, 15",
    "100, 0",
    "100, 7",
    "5000, 100",
    "100000, 0",
    "5000000, 127"
  })
  void anOverflow(long bytes, long behind) {
    long p = theAllocation(bytes);
    flip(p + bytes + behind);
    MemoryFaultException fault = fault(Kind.OVERFLOW, p, () -> theFirstFree(p));
    assertTells(
        fault,
        "block of " + bytes + " bytes",
        "offset " + (bytes + behind) + " (" + behind + " bytes behind the end)",
        "allocated by",
        "theAllocation",
        "freed by",
        "theFirstFree");
    // It is free all the same, and the damage is told once.
    fault(Kind.DOUBLE_FREE, p, () -> theSecondFree(p));
    assertThat(allocator.check()).isOne();
  }

  @Test
  void aStringsLastZeroIsAnOverflow() {
    for (int i = 0; i < 200; i++) {
      long p = theAllocation(24);
      OffHeap.putByte(p + 24, (byte) 0);
      assertThatThrownBy(() -> theFirstFree(p)).isInstanceOf(MemoryFaultException.class);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 16", "1, 1", "100, 8", "5000, 128", "100000, 1", "5000000, 3"})
  void anUnderflow(long bytes, long before) {
    long p = theAllocation(bytes);
    flip(p - before);
    assertTells(
        fault(Kind.UNDERFLOW, p, () -> theFirstFree(p)),
        "before its start",
        "offset -" + before,
        "allocated by",
        "theAllocation",
        "freed by",
        "theFirstFree");
  }

  private long theBlockBelow() {
    return allocator.allocateRaw(100);
  }

  @Test
  void anUnderflowNamesTheBlockBelow() {
    long a = theBlockBelow();
    long b = theBlockBelow();
    long above = Math.max(a, b);
    flip(above - 1);
    assertTells(
        fault(Kind.UNDERFLOW, above, () -> theFirstFree(above)),
        "or it is the block below, of 100 bytes",
        "theBlockBelow");
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "100, 99", "5000, 2500", "100000, 99999", "3000000, 70000"})
  void aWriteAfterTheFree(long bytes, long at) {
    long p = theAllocation(bytes);
    theFirstFree(p);
    assertThat(allocator.check()).isOne();
    OffHeap.putByte(p + at, (byte) 7);
    MemoryFaultException fault = fault(Kind.USE_AFTER_FREE, p, allocator::check);
    assertTells(
        fault,
        "written to after it was freed",
        "offset " + at,
        "now 07",
        "allocated by",
        "theAllocation",
        "freed by",
        "theFirstFree");
  }

  @Test
  void whatLeavesTheQuarantineIsChecked() {
    long p = theAllocation(100);
    theFirstFree(p);
    OffHeap.putByte(p + 5, (byte) 7);
    try (CapturedLog log = new CapturedLog()) {
      allocator.trim();
      assertThat(log.text())
          .containsSubsequence("USE_AFTER_FREE", "theAllocation", "theFirstFree")
          .containsOnlyOnce("USE_AFTER_FREE");
    }
    assertThat(allocator.statistics().faults()).isOne();
    assertThat(allocator.check()).isZero();
  }

  @Test
  void closingChecks() {
    long written = theAllocation(100);
    theFirstFree(written);
    OffHeap.putByte(written + 5, (byte) 7);
    long overrun = theAllocation(200);
    flip(overrun + 200);
    try (CapturedLog log = new CapturedLog()) {
      allocator.close();
      assertThat(log.text()).contains("USE_AFTER_FREE", "OVERFLOW");
    }
    assertThat(allocator.statistics().faults()).isEqualTo(2);
    assertThatThrownBy(() -> theSecondFree(written))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closingChecks");
    assertThatThrownBy(allocator::check).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aFaultThatCheckToldIsThrownByTheFreeAndNotCountedTwice() {
    long p = theAllocation(100);
    flip(p + 100);
    try (CapturedLog log = new CapturedLog()) {
      fault(Kind.OVERFLOW, p, allocator::check);
      assertThatThrownBy(allocator::check).isInstanceOf(MemoryFaultException.class);
      assertThatThrownBy(() -> theFirstFree(p)).isInstanceOf(MemoryFaultException.class);
      assertThat(log.text()).containsOnlyOnce("OVERFLOW");
    }
    assertThat(allocator.statistics().faults()).isOne();
  }

  @Test
  void checkTellsTheOthersToo() {
    for (int i = 0; i < 3; i++) {
      flip(theAllocation(100) + 100);
    }
    try (CapturedLog log = new CapturedLog()) {
      assertThatThrownBy(allocator::check)
          .isInstanceOf(MemoryFaultException.class)
          .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(2));
      assertThat(log.text()).contains("OVERFLOW");
    }
    assertThat(allocator.statistics().faults()).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({"100, 8", "100, -8", "100, 100", "100000, 8192", "5000000, 4096"})
  void anAddressInsideABlock(long bytes, long offset) {
    long p = theAllocation(bytes);
    assertTells(
        fault(Kind.INTERIOR_POINTER, p + offset, () -> theFirstFree(p + offset)),
        "no block of this allocator",
        "offset " + offset + " of the block of " + bytes,
        "allocated by",
        "theAllocation",
        "freed by",
        "theFirstFree");
    allocator.freeRaw(p);
  }

  @Test
  void aForeignAddress() {
    long foreign = OffHeap.allocate(64, 64);
    assertTells(
        fault(Kind.FOREIGN_POINTER, foreign, () -> theFirstFree(foreign)),
        "no block of this allocator",
        "freed by",
        "theFirstFree");
    OffHeap.free(foreign);
    try (PerCpuAllocator other = PerCpuAllocator.builder().hardening(true).build()) {
      long theirs = other.allocateRaw(64);
      fault(Kind.FOREIGN_POINTER, theirs, () -> theFirstFree(theirs));
    }
  }

  @Test
  void otherUsesOfAFreeBlock() {
    long p = theAllocation(100);
    theFirstFree(p);
    assertTells(
        fault(Kind.USE_AFTER_FREE, p, () -> allocator.usableSize(p)),
        "theAllocation",
        "theFirstFree",
        "otherUsesOfAFreeBlock");
    assertTells(
        fault(Kind.USE_AFTER_FREE, p, () -> allocator.reallocateRaw(p, 1)),
        "theAllocation",
        "theFirstFree",
        "reallocated",
        "otherUsesOfAFreeBlock");
    long damaged = theAllocation(100);
    flip(damaged + 100);
    fault(Kind.OVERFLOW, damaged, () -> allocator.reallocateRaw(damaged, 1_000));
    assertThat(allocator.usableSize(damaged)).isEqualTo(100); // unchanged
  }

  @Test
  void reallocationMoves() {
    long p = theAllocation(100);
    long moved = allocator.reallocateRaw(p, 100);
    assertThat(moved).isNotEqualTo(p);
    fault(Kind.DOUBLE_FREE, p, () -> theSecondFree(p));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 16, 64, 8_192, 1 << 20, 8 << 20})
  void alignedBlocksHaveRedZonesToo(long alignment) {
    for (long bytes : new long[] {0, 33, 5_000, 2_000_000}) {
      long p = allocator.allocateRaw(bytes, alignment);
      assertThat(p % alignment).isZero();
      assertThat(allocator.usableSize(p)).isEqualTo(bytes);
      flip(p + bytes);
      fault(Kind.OVERFLOW, p, () -> theFirstFree(p));
      long q = allocator.allocateRawZeroed(bytes, alignment);
      flip(q - 1);
      fault(Kind.UNDERFLOW, q, () -> theFirstFree(q));
    }
  }

  @Test
  void freshBlocksAreNotZeroUnlessWanted() {
    for (long bytes : new long[] {1, 100, 50_000, 2_000_000}) {
      for (int i = 0; i < 3; i++) {
        long p = allocator.allocateRaw(bytes);
        assertThat(OffHeap.getByte(p)).isEqualTo(HardenedBlock.FRESH);
        assertThat(OffHeap.getByte(p + bytes - 1)).isEqualTo(HardenedBlock.FRESH);
        long z = allocator.allocateRawZeroed(bytes);
        assertThat(OffHeap.segment(z, bytes).mismatch(MemorySegment.ofArray(new byte[(int) bytes])))
            .isEqualTo(-1);
        allocator.freeRaw(p);
        allocator.freeRaw(z);
        allocator.trim();
      }
    }
  }

  @Test
  void theQuarantineIsBounded() {
    try (PerCpuAllocator small =
        PerCpuAllocator.builder().hardening(true).quarantineBytes(100_000).build()) {
      long first = small.allocateRaw(1_000);
      small.freeRaw(first);
      for (int i = 0; i < 1_000; i++) {
        small.freeRaw(small.allocateRaw(1_000));
        assertThat(small.statistics().quarantinedBytes()).isBetween(1_000L, 100_000L);
      }
      assertThat(small.check()).isBetween(70L, 100L);
      long large = small.allocateRaw(200_000);
      small.freeRaw(large); // too large: the others stay
      assertThat(small.check()).isBetween(70L, 100L);
      assertThat(small.trim()).isPositive();
      assertThat(small.statistics().quarantinedBytes()).isZero();
      assertThat(small.statistics().inUseBytes()).isZero();
      assertThat(small.statistics().faults()).isZero();
    }
  }

  @Test
  void theLimitTakesWhatIsInQuarantine() {
    try (PerCpuAllocator small = PerCpuAllocator.builder().hardening(true).limit(2 << 20).build()) {
      for (int i = 0; i < 10; i++) {
        small.freeRaw(small.allocateRaw(700_000));
        small.freeRaw(small.allocateRaw(1_500_000));
        for (int j = 0; j < 100; j++) {
          small.freeRaw(small.allocateRaw(10_000));
        }
      }
      assertThatThrownBy(() -> small.allocateRaw((2 << 20) - 10))
          .isInstanceOf(OutOfMemoryError.class);
    }
  }

  private long anotherAllocation(long bytes) {
    return allocator.allocateRaw(bytes);
  }

  @Test
  void leaksAreGroupedByStack() {
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      blocks.add(theAllocation(10 + i));
      allocator.freeRaw(theAllocation(1_000));
    }
    long other = anotherAllocation(500);
    assertThat(allocator.leaks())
        .satisfiesExactly(
            leak -> {
              assertThat(leak.blocks()).isOne();
              assertThat(leak.bytes()).isEqualTo(500);
              assertThat(leak.stack().getFirst().getMethodName()).isEqualTo("anotherAllocation");
              assertThat(leak.toString()).contains("1 blocks, 500 bytes", "anotherAllocation");
            },
            leak -> {
              assertThat(leak.blocks()).isEqualTo(10);
              assertThat(leak.bytes()).isEqualTo(145);
              assertThat(leak.stack().getFirst().getMethodName()).isEqualTo("theAllocation");
              assertThat(leak.stack().get(1).getMethodName()).isEqualTo("leaksAreGroupedByStack");
            });
    blocks.forEach(allocator::freeRaw);
    allocator.close();
    assertThat(allocator.leaks()).singleElement().matches(leak -> leak.bytes() == 500);
    assertThatThrownBy(() -> allocator.freeRaw(other)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theOrdinaryModeHasNothingToTell() {
    try (PerCpuAllocator plain = PerCpuAllocator.builder().hardening(false).build()) {
      assertThat(plain.allocateRaw(100)).isPositive();
      assertThat(plain.check()).isZero();
      assertThat(plain.leaks()).isEmpty();
      assertThat(plain.statistics().quarantinedBytes()).isZero();
    }
  }

  @Test
  void segmentsAndArenas() {
    MemorySegment segment = allocator.allocate(100, 64);
    MemorySegment slice = segment.asSlice(16);
    fault(Kind.INTERIOR_POINTER, slice.address(), () -> allocator.free(slice));
    allocator.free(segment);
    fault(Kind.DOUBLE_FREE, segment.address(), () -> allocator.free(segment));
    Arena arena = allocator.newArena();
    MemorySegment first = arena.allocate(10);
    arena.allocate(2_000_000);
    flip(first.address() + 10); // as native code may
    assertTells(fault(Kind.OVERFLOW, first.address(), arena::close), "segmentsAndArenas");
    assertThat(allocator.leaks()).isEmpty();
  }

  @Test
  void reportsNameThreads() throws Exception {
    AtomicReference<Long> address = new AtomicReference<>();
    Thread.ofVirtual().name("maker").start(() -> address.set(theAllocation(10))).join();
    Thread.ofVirtual().name("taker").start(() -> theFirstFree(address.get())).join();
    long p = address.get();
    assertTells(
        fault(Kind.DOUBLE_FREE, p, () -> theSecondFree(p)), "thread 'maker'", "thread 'taker'");
  }

  @Test
  void ofTwoFreesAtOnceOneIsTold() throws Exception {
    for (int i = 0; i < 200; i++) {
      long p = theAllocation(64);
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 2; t++) {
        threads.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      try {
                        theFirstFree(p);
                      } catch (MemoryFaultException e) {
                        thrown.set(e);
                      }
                    }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(thrown.get()).isInstanceOf(MemoryFaultException.class);
    }
    assertThat(allocator.statistics().faults()).isEqualTo(200);
  }

  @Test
  void aCleanLoadOnManyThreadsIsSilent() throws Exception {
    try (PerCpuAllocator busy =
            PerCpuAllocator.builder()
                .name("busy")
                .hardening(true)
                .quarantineBytes(1 << 20)
                .build();
        CapturedLog log = new CapturedLog()) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        int seed = t;
        Thread.Builder kind = t % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
        threads.add(
            kind.start(
                () -> {
                  try {
                    load(busy, new Random(seed));
                  } catch (RuntimeException | Error e) {
                    failure.set(e);
                  }
                }));
      }
      for (int i = 0; i < 20; i++) {
        busy.check();
        Thread.sleep(2);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failure.get()).isNull();
      busy.check();
      busy.trim();
      assertThat(busy.statistics().faults()).isZero();
      assertThat(busy.statistics().corruptFrees()).isZero();
      assertThat(busy.leaks()).isEmpty();
      assertThat(busy.check()).isZero();
      assertThat(log.text()).isEmpty();
    }
  }

  /** Every byte of a block is used, and looked at again before it is freed. */
  private static void load(PerCpuAllocator busy, Random random) {
    long[] live = new long[64];
    for (int i = 0; i < 3_000; i++) {
      int slot = random.nextInt(live.length);
      if (live[slot] == 0) {
        long bytes = 1L + random.nextInt(1 << random.nextInt(i % 50 == 0 ? 22 : 14));
        long alignment = 1L << random.nextInt(14);
        live[slot] = busy.allocateRaw(bytes, alignment);
        OffHeap.fill(live[slot], bytes, (byte) slot);
      } else if (random.nextInt(8) == 0) {
        live[slot] = busy.reallocateRaw(live[slot], 1L + random.nextInt(10_000));
        OffHeap.fill(live[slot], busy.usableSize(live[slot]), (byte) slot);
      } else {
        long bytes = busy.usableSize(live[slot]);
        assertThat(OffHeap.getByte(live[slot])).isEqualTo((byte) slot);
        assertThat(OffHeap.getByte(live[slot] + bytes - 1)).isEqualTo((byte) slot);
        busy.freeRaw(live[slot]);
        live[slot] = 0;
      }
    }
    for (long block : live) {
      busy.freeRaw(block);
    }
  }

  @Test
  void closingUnderLoadThrowsAndDoesNotCrash() throws Exception {
    for (int round = 0; round < 20; round++) {
      PerCpuAllocator busy = PerCpuAllocator.builder().name("busy").hardening(true).build();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        for (int i = 0; ; i++) {
                          busy.freeRaw(busy.allocateRaw(i % 100 == 0 ? 2_000_000 : 10 + i % 9_000));
                        }
                      } catch (IllegalStateException closed) {
                        // as it should be
                      } catch (RuntimeException | Error e) {
                        failure.set(e);
                      }
                    }));
      }
      Thread.sleep(5);
      busy.close();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failure.get()).isNull();
    }
  }

  @Test
  void stacksAreBounded() {
    Traces few = new Traces(1);
    Traces.Where kept = few.here();
    assertThat(few.here().stack()).isEmpty();
    assertThat(kept.stack()).hasSizeLessThanOrEqualTo(Traces.DEPTH);
    assertThat(kept.stack().getFirst().getMethodName()).isEqualTo("stacksAreBounded");
  }

  @Test
  void badOptionsAreRefused() {
    assertThatThrownBy(() -> PerCpuAllocator.builder().quarantineBytes(-1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> allocator.allocateRaw(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .isNotInstanceOf(MemoryFaultException.class);
  }
}
