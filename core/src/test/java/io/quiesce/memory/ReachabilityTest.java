package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.VirtualMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What keeps an allocator alive, and what must not. */
@Timeout(60)
class ReachabilityTest {
  @BeforeEach
  void available() {
    assumeTrue(VirtualMemory.isAvailable());
  }

  private static boolean collected(WeakReference<?> reference) throws InterruptedException {
    for (int i = 0; i < 400 && reference.get() != null; i++) {
      System.gc();
      Thread.sleep(5);
    }
    return reference.get() == null;
  }

  private static WeakReference<PerCpuAllocator> makeAndForget(boolean hardening) {
    PerCpuAllocator allocator =
        PerCpuAllocator.builder().name("dropped").hardening(hardening).build();
    allocator.freeRaw(allocator.allocateRaw(100));
    assertThat(allocator.allocateRaw(200)).isNotZero(); // a block that is never freed holds nobody
    return new WeakReference<>(allocator);
  }

  @Test
  void aDroppedAllocatorIsCollected() throws Exception {
    assertThat(collected(makeAndForget(false))).isTrue();
  }

  @Test
  void aDroppedHardenedAllocatorIsCollected() throws Exception {
    assertThat(collected(makeAndForget(true))).isTrue();
  }

  private static MemorySegment segmentOf(WeakReference<PerCpuAllocator>[] owner) {
    PerCpuAllocator allocator = PerCpuAllocator.create("held");
    owner[0] = new WeakReference<>(allocator);
    return allocator.newArena().allocate(100);
  }

  @Test
  void aSegmentOfAnArenaKeepsTheMemoryMapped() throws Exception {
    @SuppressWarnings({"unchecked", "rawtypes"})
    WeakReference<PerCpuAllocator>[] owner = new WeakReference[1];
    MemorySegment segment = segmentOf(owner);
    for (int i = 0; i < 20; i++) {
      System.gc();
      Thread.sleep(5);
    }
    assertThat(owner[0].get()).isNotNull();
    segment.set(ValueLayout.JAVA_LONG, 8, 1); // would end the JVM
    assertThat(segment.get(ValueLayout.JAVA_LONG, 8)).isOne();
  }
}
