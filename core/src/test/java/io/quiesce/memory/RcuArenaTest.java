package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import io.quiesce.rcu.Holder;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.Waiting;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class RcuArenaTest {
  private static final Duration LONG = Duration.ofSeconds(40);

  private final CountingSource source = new CountingSource();

  @BeforeEach
  void needsMemory() {
    Needs.facility("native");
  }

  @AfterEach
  void nothingIsFreedWrongly() {
    assertThat(source.wrong).hasValue(0);
  }

  @Test
  void itAllocatesZeroedAlignedMemoryThatDoesNotOverlap() throws Exception {
    try (Rcu rcu = Rcu.create("allocate")) {
      RcuArena arena = RcuArena.create(rcu, source);
      List<MemorySegment> all = new ArrayList<>();
      for (int round = 0; round < 20; round++) {
        for (long size :
            new long[] {0, 1, 7, 8, 64, 100, 511, 513, 4_000, 16_384, 16_385, 70_000}) {
          for (long alignment : new long[] {1, 8, 64, 4_096, 32_768}) {
            MemorySegment segment = arena.allocate(size, alignment);
            assertThat(segment.byteSize()).isEqualTo(size);
            assertThat(segment.address() % alignment).isZero();
            assertThat(segment.mismatch(MemorySegment.ofArray(new byte[(int) size]))).isEqualTo(-1);
            segment.fill((byte) all.size());
            all.add(segment);
          }
        }
      }
      for (int i = 0; i < all.size(); i++) {
        for (long at = 0; at < all.get(i).byteSize(); at++) {
          if (all.get(i).get(ValueLayout.JAVA_BYTE, at) != (byte) i) {
            throw new AssertionError("segment " + i + " was overwritten at " + at);
          }
        }
      }
      assertThat(all.stream().map(MemorySegment::address).distinct()).hasSameSizeAs(all);
      arena.closeAndWait(LONG);
      assertThat(source.live).isEmpty();
    }
  }

  @Test
  void manySmallSegmentsAreFewBlocks() throws Exception {
    try (Rcu rcu = Rcu.create("chunks")) {
      RcuArena arena = RcuArena.create(rcu, source);
      arena.allocate(64);
      assertThat(source.live.values()).containsExactly(512L);
      for (int i = 0; i < 10_000; i++) {
        arena.allocate(64);
      }
      assertThat(source.allocated.get()).isLessThan(20);
      arena.closeAndWait(LONG);
      assertThat(source.live).isEmpty();
    }
  }

  @Test
  void itIsAnArenaForEverythingThatTakesOne() {
    try (Rcu rcu = Rcu.create("arena");
        Arena arena = RcuArena.create(rcu)) {
      MemorySegment text = arena.allocateFrom("quiescent");
      assertThat(text.getString(0, StandardCharsets.UTF_8)).isEqualTo("quiescent");
      MemorySegment longs = arena.allocateFrom(ValueLayout.JAVA_LONG, 1, 2, 3);
      assertThat(longs.getAtIndex(ValueLayout.JAVA_LONG, 2)).isEqualTo(3);
      assertThat(longs.isAccessibleBy(new Thread(() -> {}))).isTrue();
      assertThat(longs.scope()).isEqualTo(arena.scope()).isEqualTo(Arena.global().scope());
      assertThatThrownBy(() -> arena.allocate(-1, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("cannot allocate -1 bytes");
      assertThatThrownBy(() -> arena.allocate(1, 3)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> arena.allocate(1, 0)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> longs.getAtIndex(ValueLayout.JAVA_LONG, 3))
          .as("bounds are checked")
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void afterCloseEverythingThrows() throws Exception {
    try (Rcu rcu = Rcu.create("closed")) {
      RcuArena arena = RcuArena.create(rcu, source);
      arena.allocate(8);
      assertThat(arena).hasToString("RcuArena[open]");
      RcuArena.Access ended = arena.read();
      ended.close();
      assertThatThrownBy(ended::segment)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("this access is closed");
      arena.close();
      assertThat(arena.isClosed()).isTrue();
      assertThat(arena).hasToString("RcuArena[closed]");
      assertThatThrownBy(arena::read)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("this arena is closed");
      assertThatThrownBy(() -> arena.allocate(8))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("this arena is closed");
      assertThatThrownBy(arena::close)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("this arena is closed");
      assertThat(rcu.isReading()).as("a refused read leaves no section").isFalse();
      assertThat(arena.scope().isAlive()).as("as documented").isTrue();
      arena.closeAndWait(LONG);
      arena.closeAndWait(LONG);
      assertThat(arena.closed().toCompletableFuture()).isCompleted();
      assertThat(source.live).isEmpty();
      RcuArena other = RcuArena.create(rcu, source);
      other.closeAndWait(LONG);
      assertThatThrownBy(other::close).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void ofManyWhoCloseOneDoes() throws Exception {
    try (Rcu rcu = Rcu.create("closers")) {
      for (int round = 0; round < 200; round++) {
        RcuArena arena = RcuArena.create(rcu, source);
        arena.allocate(100);
        AtomicInteger closed = new AtomicInteger();
        CyclicBarrier start = new CyclicBarrier(3);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
          threads.add(
              Thread.ofPlatform()
                  .start(
                      () -> {
                        await(start);
                        try {
                          arena.close();
                          closed.getAndIncrement();
                        } catch (IllegalStateException second) {
                          assertThat(second).hasMessageContaining("this arena is closed");
                        }
                      }));
        }
        for (Thread thread : threads) {
          Waiting.join(thread);
        }
        assertThat(closed).hasValue(1);
      }
      rcu.barrier();
      assertThat(source.live).isEmpty();
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void insideASectionTheMemoryOutlivesTheClose() throws Exception {
    try (Rcu rcu = Rcu.create("inside")) {
      RcuArena arena = RcuArena.create(rcu, source);
      MemorySegment segment = arena.allocate(64).fill((byte) 7);
      try (RcuArena.Access access = arena.read()) {
        assertThatThrownBy(access::segment)
            .isInstanceOf(UnsupportedOperationException.class)
            .hasMessageContaining("maps no file");
        assertThatThrownBy(() -> arena.closeAndWait(LONG))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("would wait for itself");
        assertThat(arena.isClosed()).isFalse();
        arena.close();
        Thread.sleep(30);
        assertThat(source.live).isNotEmpty();
        assertThat(segment.get(ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 7);
        assertThat(OffHeap.getByte(segment.address())).isEqualTo((byte) 7);
        assertThatThrownBy(arena::read).isInstanceOf(IllegalStateException.class);
      }
      arena.closeAndWait(LONG);
      assertThat(source.live).isEmpty();
      if (OffHeap.isDebug()) {
        assertThatThrownBy(() -> OffHeap.getByte(segment.address() + 32))
            .as("a late reader shows")
            .isInstanceOfAny(IllegalStateException.class, IndexOutOfBoundsException.class);
      }
    }
  }

  @Test
  void whoWaitsForAReaderIsToldItsName() throws Exception {
    try (Rcu rcu = Rcu.create("named")) {
      RcuArena arena = RcuArena.create(rcu, source);
      arena.allocate(1);
      Holder holder = new Holder(rcu, Thread.ofPlatform().name("index-scan"));
      assertThatThrownBy(() -> arena.closeAndWait(Duration.ofMillis(50)))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining("still in use by thread index-scan");
      assertThat(source.live).isNotEmpty();
      assertThat(arena.closed().toCompletableFuture()).isNotDone();
      assertThat(rcu.statistics().pendingCallbacks()).isPositive();
      holder.leave();
      arena.closeAndWait(LONG);
      assertThat(source.live).isEmpty();
    }
  }

  @Test
  void outOfMemoryLeavesTheArenaAsItWas() throws Exception {
    try (Rcu rcu = Rcu.create("memory")) {
      RcuArena arena = RcuArena.create(rcu, source);
      source.budget.set(0);
      assertThatThrownBy(() -> arena.allocate(8)).isInstanceOf(OutOfMemoryError.class);
      assertThatThrownBy(() -> arena.allocate(80_000)).isInstanceOf(OutOfMemoryError.class);
      assertThat(rcu.isReading()).isFalse();
      source.budget.set(1);
      arena.allocate(8);
      assertThatThrownBy(() -> RcuArena.create(rcu).allocate(Long.MAX_VALUE - 7, 8))
          .isInstanceOf(OutOfMemoryError.class);
      assertThatThrownBy(() -> arena.allocate(Long.MAX_VALUE - 7, 64))
          .isInstanceOf(OutOfMemoryError.class);
      source.budget.set(1);
      assertThatThrownBy(() -> arena.allocate(Long.MAX_VALUE - 7, 64))
          .isInstanceOf(OutOfMemoryError.class)
          .hasMessageContaining("the C library");
      arena.closeAndWait(LONG);
      assertThat(source.live).isEmpty();
    }
  }

  @Test
  void whatCannotBeFreedIsToldToWhoeverWaits() {
    BlockSource failing =
        new BlockSource() {
          @Override
          public long allocate(long bytes, long alignment) {
            return source.allocate(bytes, alignment);
          }

          @Override
          public void free(long address, long bytes) {
            source.free(address, bytes);
            throw new IllegalStateException("expected by RcuArenaTest");
          }
        };
    try (Rcu rcu = Rcu.create("failing")) {
      RcuArena arena = RcuArena.create(rcu, failing);
      arena.allocate(8);
      arena.allocate(80_000);
      assertThatThrownBy(() -> arena.closeAndWait(LONG))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> arena.closed().toCompletableFuture().join())
          .isInstanceOf(CompletionException.class);
      assertThat(source.live).as("the others are freed").isEmpty();
    }
  }

  @Test
  void aHundredThousandArenasLeakNothing() throws Exception {
    try (Rcu rcu = Rcu.create("many")) {
      for (int i = 0; i < 100_000; i++) {
        try (RcuArena arena = RcuArena.create(rcu, source)) {
          arena.allocate(64).set(ValueLayout.JAVA_LONG, 0, i);
        }
      }
      rcu.barrier();
      assertThat(source.allocated).hasValue(100_000);
      assertThat(source.live).isEmpty();
      for (int i = 0; i < 10_000 && rcu.statistics().pendingCallbacks() != 0; i++) {
        Thread.sleep(1); // the worker counts what it ran at the end of a batch
      }
      assertThat(rcu.statistics().pendingCallbacks()).isZero();
    }
  }

  @Test
  void aDomainThatWasClosedFirstStillFrees() throws Exception {
    Rcu rcu = Rcu.create("gone");
    RcuArena arena = RcuArena.create(rcu, source);
    arena.allocate(64);
    rcu.close();
    arena.close();
    arena.closeAndWait(LONG);
    assertThat(source.live).isEmpty();
    rcu.close();
  }

  /**
   * Allocators, readers and a closer meet in one arena after another. A block that is freed under
   * its section would read as poison in the debug mode; the source sees what is freed twice or
   * never.
   */
  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void allocateAndCloseMayRace(Rcu.Flavour flavour) throws Exception {
    try (Rcu rcu = Rcu.builder("race").flavour(flavour).build()) {
      AtomicBoolean stop = new AtomicBoolean();
      AtomicInteger refused = new AtomicInteger();
      ConcurrentLinkedQueue<String> faults = new ConcurrentLinkedQueue<>();
      AtomicReference<RcuArena> current = new AtomicReference<>(RcuArena.create(rcu, source));
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        long mark = 0x1111_1111L * (t + 1);
        Thread.Builder kind = t % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
        threads.add(
            kind.start(
                () -> {
                  for (int i = 0; !stop.get(); i++) {
                    RcuArena arena = current.get();
                    try (var _ = arena.read()) {
                      MemorySegment segment = arena.allocate(i % 50 == 0 ? 20_000 : 64, 8);
                      if (segment.get(ValueLayout.JAVA_LONG, 16) != 0) {
                        faults.add("not zero");
                      }
                      segment.set(ValueLayout.JAVA_LONG, 16, mark);
                      Thread.yield();
                      if (segment.get(ValueLayout.JAVA_LONG, 16) != mark) {
                        faults.add("freed under a section, or handed out twice");
                      }
                    } catch (IllegalStateException closed) {
                      if (!String.valueOf(closed.getMessage()).contains("this arena is closed")) {
                        faults.add(closed.toString());
                      }
                      refused.getAndIncrement();
                    }
                  }
                }));
      }
      long until = System.nanoTime() + 1_500_000_000L;
      int arenas = 0;
      do {
        RcuArena old = current.get();
        Thread.sleep(0, 200_000);
        if (arenas % 2 == 0) {
          current.set(RcuArena.create(rcu, source));
          old.close();
        } else {
          old.close(); // this way round it is seen closed
          Thread.yield();
          current.set(RcuArena.create(rcu, source));
        }
        arenas++;
      } while (System.nanoTime() - until < 0);
      stop.set(true);
      for (Thread thread : threads) {
        Waiting.join(thread);
      }
      current.get().closeAndWait(LONG);
      rcu.barrier();
      assertThat(faults).isEmpty();
      assertThat(refused.get()).isPositive();
      assertThat(source.live).isEmpty();
    }
  }
}
