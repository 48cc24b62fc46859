package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.VirtualMemory;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Wrong use that races is told as well, and neither crashes the JVM nor loses memory. */
@Timeout(60)
class HardeningRaceTest {
  private static final int ROUNDS = 40;
  private static final int BYTES = 3 << 20; // a mapping of its own, gone at once when it is free

  @Test
  void aReallocationAndAFreeOfOneBlock() throws Exception {
    assumeTrue(VirtualMemory.isAvailable());
    try (PerCpuAllocator allocator =
        PerCpuAllocator.builder().name("race").hardening(true).quarantineBytes(0).build()) {
      AtomicInteger faults = new AtomicInteger();
      for (int i = 0; i < ROUNDS; i++) {
        long block = allocator.allocateRaw(BYTES);
        CyclicBarrier barrier = new CyclicBarrier(2);
        Thread other =
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        barrier.await();
                        Thread.sleep(0, 400_000);
                        allocator.freeRaw(block);
                      } catch (MemoryFaultException twice) {
                        faults.getAndIncrement();
                      } catch (Exception e) {
                        throw new IllegalStateException(e);
                      }
                    });
        barrier.await();
        try {
          allocator.freeRaw(allocator.reallocateRaw(block, BYTES));
        } catch (MemoryFaultException twice) {
          faults.getAndIncrement();
        }
        other.join();
      }
      assertThat(faults.get()).isEqualTo(ROUNDS);
      assertThat(allocator.leaks()).isEmpty();
      assertThat(allocator.statistics().hugeBlocks()).isZero();
    }
  }
}
