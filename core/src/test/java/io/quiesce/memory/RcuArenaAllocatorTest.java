package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.VirtualMemory;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.Waiting;
import io.quiesce.rcu.WorkerOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An arena whose blocks come from an allocator that has a life of its own. */
@Timeout(120)
class RcuArenaAllocatorTest {
  private static final Duration LONG = Duration.ofSeconds(40);

  @BeforeEach
  void available() {
    assumeTrue(VirtualMemory.isAvailable());
  }

  @Test
  void everyBlockGoesBackToItsAllocator() throws Exception {
    try (PerCpuAllocator allocator = PerCpuAllocator.create("arena");
        Rcu rcu = Rcu.create("arena")) {
      RcuArena arena = RcuArena.create(rcu, allocator);
      for (long size : new long[] {0, 8, 600, 16_385, 70_000, 3 << 20}) {
        for (long alignment : new long[] {1, 64, 4_096, 65_536}) {
          MemorySegment segment = arena.allocate(size, alignment);
          assertThat(segment.address() % alignment).isZero();
          assertThat(segment.mismatch(MemorySegment.ofArray(new byte[(int) size]))).isEqualTo(-1);
          segment.fill((byte) 1);
        }
      }
      assertThat(allocator.statistics().inUseBytes()).isGreaterThan(4 * (3L << 20));
      arena.closeAndWait(LONG);
      assertThat(allocator.statistics().inUseBytes()).isZero();
      RcuArena again = RcuArena.create(rcu, allocator);
      assertThat(again.allocate(512).mismatch(MemorySegment.ofArray(new byte[512])))
          .as("a block that was used is zeroed")
          .isEqualTo(-1);
      again.closeAndWait(LONG);
      assertThat(allocator.statistics().inUseBytes()).isZero();
    }
  }

  @Test
  void theLimitInTheMiddleLeavesTheArenaAsItWas() throws Exception {
    try (PerCpuAllocator allocator =
            PerCpuAllocator.builder().name("limited").limit(8 << 20).build();
        Rcu rcu = Rcu.create("limited")) {
      RcuArena arena = RcuArena.create(rcu, allocator);
      List<MemorySegment> segments = new ArrayList<>();
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  segments.add(arena.allocate(20_000, 8).fill((byte) i));
                }
              })
          .isInstanceOf(OutOfMemoryError.class)
          .hasMessageContaining("limited");
      assertThat(segments).isNotEmpty();
      assertThat(rcu.isReading()).isFalse();
      assertThat(arena.isClosed()).isFalse();
      for (int i = 0; i < segments.size(); i++) {
        assertThat(segments.get(i).get(ValueLayout.JAVA_BYTE, 19_999)).isEqualTo((byte) i);
      }
      arena.closeAndWait(LONG);
      assertThat(allocator.statistics().inUseBytes()).isZero();
      RcuArena next = RcuArena.create(rcu, allocator);
      next.allocate(20_000, 8);
      next.close();
      rcu.barrier();
    }
  }

  @Test
  void anAllocatorThatIsClosedFirstTakesItsBlocksAlong() throws Exception {
    try (Rcu rcu = Rcu.create("closed-first")) {
      PerCpuAllocator allocator = PerCpuAllocator.create("closed-first");
      RcuArena arena = RcuArena.create(rcu, allocator);
      arena.allocate(64);
      arena.allocate(100_000);
      arena.allocate(3 << 20);
      allocator.close();
      assertThatThrownBy(() -> arena.allocate(100_000))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed-first");
      assertThat(rcu.isReading()).isFalse();
      assertThat(arena.isClosed()).isFalse();
      arena.closeAndWait(LONG); // no ExecutionException
      assertThat(arena.closed().toCompletableFuture()).isCompleted();
      assertThatThrownBy(() -> RcuArena.create(rcu, allocator))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed-first");
    }
  }

  /** Whichever is first, the freeing ends without an exception. */
  @Test
  void anAllocatorMayBeClosedWhileAWorkerFrees() throws Exception {
    try (Rcu rcu =
        Rcu.builder("both")
            .defaultWorker(WorkerOptions.defaults().delay(Duration.ofMillis(1)))
            .build()) {
      for (int round = 0; round < 60; round++) {
        PerCpuAllocator allocator = PerCpuAllocator.create("both");
        RcuArena arena = RcuArena.create(rcu, allocator);
        for (int i = 0; i < 50; i++) {
          arena.allocate(17_000 + 2_000L * i);
        }
        CountDownLatch freed = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        arena.close();
        arena
            .closed()
            .whenComplete(
                (nothing, failure) -> {
                  thrown.set(failure);
                  freed.countDown();
                });
        Thread.sleep(round / 20, round % 20 * 50_000); // the worker begins within 1 ms or so
        allocator.close();
        freed.await();
        assertThat(thrown.get()).isNull();
      }
    }
  }

  @Test
  void allocatingAndClosingRaceWithoutALeak() throws Exception {
    try (PerCpuAllocator allocator = PerCpuAllocator.create("race");
        Rcu rcu = Rcu.create("race")) {
      AtomicReference<RcuArena> current = new AtomicReference<>(RcuArena.create(rcu, allocator));
      AtomicBoolean stop = new AtomicBoolean();
      ConcurrentLinkedQueue<String> faults = new ConcurrentLinkedQueue<>();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        long mark = t + 1L;
        threads.add(
            (t == 0 ? Thread.ofVirtual() : Thread.ofPlatform())
                .start(
                    () -> {
                      for (int i = 0; !stop.get(); i++) {
                        RcuArena arena = current.get();
                        try (var _ = arena.read()) {
                          MemorySegment s = arena.allocate(i % 20 == 0 ? 20_000L : 96L, 8);
                          long before = s.get(ValueLayout.JAVA_LONG, 88);
                          s.set(ValueLayout.JAVA_LONG, 88, mark);
                          Thread.onSpinWait();
                          if (before != 0 || s.get(ValueLayout.JAVA_LONG, 88) != mark) {
                            faults.add("not zero, or handed out under its section");
                          }
                        } catch (IllegalStateException closed) {
                          Thread.onSpinWait();
                        } catch (RuntimeException | Error fault) {
                          faults.add(fault.toString());
                          return;
                        }
                      }
                    }));
      }
      for (int i = 0; i < 3_000; i++) {
        current.getAndSet(RcuArena.create(rcu, allocator)).close();
        if (i % 100 == 0) {
          Thread.sleep(5);
        }
      }
      stop.set(true);
      for (Thread thread : threads) {
        Waiting.join(thread);
      }
      current.get().closeAndWait(LONG);
      rcu.barrier();
      assertThat(faults).isEmpty();
      assertThat(allocator.statistics().inUseBytes()).isZero();
      assertThat(allocator.statistics().corruptFrees()).isZero();
    }
  }

  private static RcuArena.Access enter(Rcu rcu, AtomicReference<WeakReference<?>> owner) {
    PerCpuAllocator allocator = PerCpuAllocator.create("held");
    owner.set(new WeakReference<>(allocator));
    RcuArena arena = RcuArena.create(rcu, allocator);
    arena.allocate(64);
    return arena.read();
  }

  /** A segment holds nobody, and the arena may be garbage inside its last section. */
  @Test
  void anOpenSectionKeepsTheAllocator() throws Exception {
    try (Rcu rcu = Rcu.create("held")) {
      AtomicReference<WeakReference<?>> owner = new AtomicReference<>();
      RcuArena.Access access = enter(rcu, owner);
      for (int i = 0; i < 20; i++) {
        System.gc();
        Thread.sleep(5);
      }
      assertThat(owner.get().get()).isNotNull();
      access.close();
    }
  }
}
