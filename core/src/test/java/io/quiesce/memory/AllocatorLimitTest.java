package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.percpu.PerCpuOps;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that runs out: by the limit, and by the kernel. */
@Timeout(60)
class AllocatorLimitTest {
  private static final long LIMIT = 4L << 20;

  @BeforeEach
  void available() {
    assumeTrue(VirtualMemory.isAvailable());
  }

  private static PerCpuAllocator limited() {
    return PerCpuAllocator.builder().name("limited").limit(LIMIT).build();
  }

  private static List<Long> fill(PerCpuAllocator allocator, long size) {
    List<Long> blocks = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                blocks.add(allocator.allocateRaw(size));
              }
            })
        .isInstanceOf(OutOfMemoryError.class)
        .hasMessageContaining("'limited' has no " + size + " bytes")
        .hasMessageContaining("limit of " + LIMIT + " bytes")
        .hasMessageContaining("free blocks, or build it with a higher limit");
    return blocks;
  }

  @ParameterizedTest
  @ValueSource(longs = {16, 1_000, 5_000, 32_768, 100_000, 1_500_000})
  void theLimitIsReachedAndNotPassed(long size) {
    try (PerCpuAllocator allocator = limited()) {
      List<Long> blocks = fill(allocator, size);
      AllocatorStatistics s = allocator.statistics();
      assertThat(s.backedBytes()).isLessThanOrEqualTo(LIMIT);
      assertThat(s.inUseBytes())
          .isEqualTo(blocks.size() * PerCpuAllocator.blockSize(size))
          .isGreaterThan(LIMIT - Math.max(size, 700_000));
      assertThat(s.outOfMemory()).isOne();
      // One block that comes back is one that can be had.
      allocator.freeRaw(blocks.removeLast());
      blocks.add(allocator.allocateRaw(size));
      blocks.forEach(allocator::freeRaw);
      assertThat(allocator.statistics().inUseBytes()).isZero();
      // And all of it serves any other size, once the caches are emptied.
      if (PerCpuOps.canFence()) {
        allocator.freeRaw(allocator.allocateRaw(LIMIT / 2));
        fill(allocator, 48).forEach(allocator::freeRaw);
      }
    }
  }

  @Test
  void cachesAreEmptiedBeforeAnErrorIsThrown() {
    assumeTrue(PerCpuOps.canFence());
    try (PerCpuAllocator allocator = limited()) {
      for (long size = 16; size < 4_000; size *= 2) {
        List<Long> blocks = new ArrayList<>();
        for (long i = 0; i < LIMIT / 16 / size; i++) {
          blocks.add(allocator.allocateRaw(size));
        }
        blocks.forEach(allocator::freeRaw);
      }
      AllocatorStatistics before = allocator.statistics();
      assertThat(before.cachedBytes()).isPositive();
      allocator.freeRaw(allocator.allocateRaw(LIMIT)); // all there is
      AllocatorStatistics after = allocator.statistics();
      assertThat(after.outOfMemory()).isZero();
      assertThat(after.trims()).isEqualTo(before.trims() + 1);
      assertThat(after.cachedBytes()).isZero();
    }
  }

  @Test
  void aZeroedBlockIsZeroAlsoAfterReuse() {
    try (PerCpuAllocator allocator = limited()) {
      for (long size : new long[] {1, 24, 1_000, 30_000, 200_000, 1_200_000}) {
        for (int i = 0; i < 20; i++) {
          long p = allocator.allocateRawZeroed(size);
          for (long at = 0; at < size; at += size > 1_000 ? 509 : 1) {
            assertThat(OffHeap.getByte(p + at)).isZero();
          }
          assertThat(OffHeap.getByte(p + size - 1)).isZero();
          OffHeap.fill(p, allocator.usableSize(p), (byte) 0x77);
          allocator.freeRaw(p);
        }
      }
    }
  }

  @Test
  void threadsAtTheLimitNeverPassIt() throws Exception {
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    AtomicInteger errors = new AtomicInteger();
    try (PerCpuAllocator allocator = limited()) {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        SplittableRandom random = new SplittableRandom(t);
        Runnable body =
            () -> {
              try {
                errors.addAndGet(pressOn(allocator, random));
              } catch (Throwable thrown) {
                wrong.set(thrown);
              }
            };
        threads.add(t % 2 == 0 ? Thread.ofPlatform().start(body) : Thread.startVirtualThread(body));
      }
      while (threads.stream().anyMatch(Thread::isAlive)) {
        AllocatorStatistics s = allocator.statistics();
        assertThat(s.backedBytes()).isBetween(0L, LIMIT);
        assertThat(s.idleBytes()).isNotNegative();
        Thread.sleep(1);
      }
      assertThat(wrong.get()).isNull();
      assertThat(errors.get()).as("the limit was met").isPositive();
      assertThat(allocator.statistics().inUseBytes()).isZero();
      if (PerCpuOps.canFence()) {
        allocator.trim();
        assertThat(allocator.statistics().backedBytes()).isZero();
      }
    }
  }

  private static int pressOn(PerCpuAllocator allocator, SplittableRandom random) {
    int errors = 0;
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      try {
        long size = random.nextInt(10) == 0 ? random.nextInt(1_500_000) : random.nextInt(9_000);
        blocks.add(allocator.allocateRaw(size));
      } catch (OutOfMemoryError full) {
        errors++;
        while (blocks.size() > 4) {
          allocator.freeRaw(blocks.removeLast());
        }
      }
      if (blocks.size() > 200) {
        allocator.freeRaw(blocks.remove(random.nextInt(blocks.size())));
      }
    }
    blocks.forEach(allocator::freeRaw);
    return errors;
  }

  /** What a child does whose address space is limited; says what stopped it. */
  static final class Greedy {
    private Greedy() {}

    public static void main(String[] args) {
      List<PerCpuAllocator> allocators = new ArrayList<>();
      try {
        for (int i = 0; i < 1_000; i++) {
          PerCpuAllocator allocator = PerCpuAllocator.create("greedy");
          allocators.add(allocator);
          for (int k = 0; k < Integer.parseInt(args[0]); k++) {
            allocator.allocateRawZeroed(3_000_000);
          }
        }
        System.out.println("no end");
      } catch (OutOfMemoryError e) {
        System.out.println(e.getMessage());
      }
      int served = 0;
      for (PerCpuAllocator allocator : allocators) {
        allocator.freeRaw(allocator.allocateRaw(100));
        served++;
      }
      allocators.forEach(PerCpuAllocator::close);
      System.out.println(served == allocators.size() ? "goes on" : "stuck");
    }
  }

  @Test
  void anAddressSpaceThatIsLimitedIsOneErrorOfAnAllocation() throws Exception {
    assertThat(greedy(100)).contains("'greedy' has no 3000000 bytes: the kernel has no more");
  }

  @Test
  void orOneOfANewAllocator() throws Exception {
    assertThat(greedy(0)).contains("raise ulimit -v, or close allocators");
  }

  private static String greedy(int blocks) throws Exception {
    Path base = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                "ulimit -v 5000000 && exec \"$0\" \"$@\"",
                java,
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:ReservedCodeCacheSize=32m",
                "-XX:CompressedClassSpaceSize=32m",
                "-XX:-CreateCoredumpOnCrash",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                base.resolve("target/classes") + ":" + base.resolve("target/test-classes"),
                Greedy.class.getName(),
                Integer.toString(blocks))
            .redirectErrorStream(true)
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(out).isZero();
    assertThat(out.strip().lines().toList()).as(out).hasSize(2).last().isEqualTo("goes on");
    return out;
  }
}
