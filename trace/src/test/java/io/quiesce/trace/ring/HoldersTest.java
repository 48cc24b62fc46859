package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads that hold something of the ring and do not give it back, and those that come late. */
class HoldersTest {
  private static final long PLATFORM = Long.MIN_VALUE;
  private static final int SIZE = 32;

  @TempDir private Path folder;

  private RingBuffers buffers(HotPathKind kind) throws Exception {
    return RingBuffers.create(
        folder.resolve("buffers"),
        new RingGeometry(Rows.count(), RingGeometry.LEAST_SUB_BYTES, 4, true),
        kind);
  }

  private static long lock(RingBuffers buffers, int row) {
    return buffers.path().rowPlace(row) + RingLayout.LOCK;
  }

  private static boolean emit(RingBuffers buffers) {
    long record = buffers.reserve(0);
    if (record != 0) {
      buffers.commit(record, 0, 0);
    }
    return record != 0;
  }

  @Test
  void aThreadTakesItsOwnLockOver() throws Exception {
    RingTrace.onOneCpu(
        () -> {
          try (RingBuffers buffers = buffers(HotPathKind.LOCK)) {
            assertThat(emit(buffers)).isTrue();
            int row = buffers.path().row();
            long place = lock(buffers, row);
            long left = PLATFORM | Thread.currentThread().threadId();
            Store.setLongRelease(buffers.memory(), place, left);
            assertThat(emit(buffers)).isTrue();
            assertThat((int) Store.getLong(buffers.memory(), place)).isZero();
            assertThat(Store.getLong(buffers.memory(), place)).as("taken over").isPositive();
            buffers.path().flush(row);
            assertThat(buffers.lost(row)).isZero();
          }
          return true;
        });
  }

  /** Who looked for its holder and found it outside must not take over what it holds by now. */
  @Test
  void noTwoHoldingsHaveTheSameWord() throws Exception {
    RingTrace.onOneCpu(
        () -> {
          try (RingBuffers buffers = buffers(HotPathKind.LOCK)) {
            assertThat(emit(buffers)).isTrue();
            long place = lock(buffers, buffers.path().row());
            long before = Store.getLong(buffers.memory(), place);
            assertThat(emit(buffers)).isTrue();
            assertThat(Store.getLong(buffers.memory(), place)).isGreaterThan(before);
          }
          return true;
        });
  }

  @Test
  void theLockOfADeadThreadIsTakenOver() throws Exception {
    Thread dead = Thread.ofPlatform().start(() -> {});
    dead.join();
    RingTrace.onOneCpu(
        () -> {
          try (RingBuffers buffers = buffers(HotPathKind.LOCK)) {
            assertThat(emit(buffers)).isTrue();
            int row = buffers.path().row();
            Store.setLongRelease(buffers.memory(), lock(buffers, row), PLATFORM | dead.threadId());
            assertThat(emit(buffers)).isTrue();
            assertThat(buffers.path().isHeldUp(row)).isFalse();
            assertThat(buffers.lost(row)).isZero();
          }
          return true;
        });
  }

  /** It may go on at any time, so nobody may take its lock; and nobody waits for it for ever. */
  @Test
  void nobodyWaitsForEverForALockThatIsHeld() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Thread holder = Thread.ofPlatform().start(() -> hold(end)); // in the tracer's package
    try {
      RingTrace.onOneCpu(
          () -> {
            try (RingBuffers buffers = buffers(HotPathKind.LOCK)) {
              assertThat(emit(buffers)).isTrue();
              int row = buffers.path().row();
              long place = lock(buffers, row);
              long held = PLATFORM | holder.threadId();
              Store.setLongRelease(buffers.memory(), place, held);
              for (int i = 0; i < 1_000; i++) { // each of them a second would be too long
                assertThat(emit(buffers)).isFalse();
              }
              buffers.path().flush(row);
              assertThat(Store.getLong(buffers.memory(), place)).isEqualTo(held);
              assertThat(buffers.lost(row)).isEqualTo(1_000);
              Store.setLongRelease(buffers.memory(), place, 0);
              assertThat(emit(buffers)).isTrue();
              assertThat(buffers.path().isHeldUp(row)).isFalse();
              Store.setLongRelease(buffers.memory(), place, held);
              buffers.end();
              Store.setLongRelease(buffers.memory(), place, 0);
              assertThat(emit(buffers)).isFalse();
              assertThat(buffers.lost(row)).isEqualTo(1_000);
            }
            return true;
          });
    } finally {
      end.countDown();
      holder.join();
    }
  }

  private static void hold(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A thread that was held up before its swap, while the session ended and was written. */
  @Test
  void whoComesBehindTheEndIsNotReserved() throws Exception {
    RingTrace.onOneCpu(
        () -> {
          try (RingBuffers buffers = buffers(HotPathKind.COMPARE_AND_SWAP)) {
            CompareAndSwapPath path = (CompareAndSwapPath) buffers.path();
            assertThat(emit(buffers)).isTrue();
            int row = path.row();
            long offset = Store.getLong(buffers.memory(), path.rowPlace(row));
            assertThat(path.take(row, offset, SIZE, 1, 1)).isPositive();
            assertThat(path.take(row, offset, SIZE, 1, 1)).as("was faster").isNegative();
            buffers.end();
            long late = offset + SIZE;
            assertThat(path.take(row, late, SIZE, 1, 1)).isZero();
            SubBufferWalk.Findings findings =
                new SubBufferWalk(buffers.ring())
                    .walk(row, 0, late + SIZE, (id, stamp, at, bytes) -> true);
            assertThat(findings.pending).isEqualTo(1);
            assertThat(findings.abandoned).isEqualTo(1);
          }
          return true;
        });
  }

  /**
   * Several threads of one row killed, or held up, between the swap and the size: in recovery, and
   * in a copy. What others committed between them is found.
   */
  @Test
  void recordsBetweenThoseWithoutASizeAreFound() throws Exception {
    RingTrace.onOneCpu(
        () -> {
          try (RingBuffers buffers = buffers(HotPathKind.COMPARE_AND_SWAP)) {
            int[] nothing = {0, 0, 16, 0, 40};
            for (int size : nothing) {
              for (int i = 0; i < 3; i++) {
                assertThat(emit(buffers)).isTrue();
              }
              swapOnly(buffers, size, 0, 0);
            }
            emit(buffers);
            swapOnly(buffers, 32, 7, 0);
            swapOnly(buffers, 48, 7, 0x0000_0040_0000_0022L); // its low half is like a size
            emit(buffers);
            swapOnly(buffers, 24, 0, 0);
            int row = buffers.path().row();
            long end = Store.getLong(buffers.memory(), buffers.path().rowPlace(row));
            SubBufferWalk walk = new SubBufferWalk(buffers.ring());
            check(walk.walk(row, 0, end, (id, stamp, at, bytes) -> true));
            MemorySegment copy = Arena.ofAuto().allocate(end, 8);
            Store.register(copy);
            long base = Store.RAW ? copy.address() : 0;
            walk.copy(row, 0, end, copy, 0, base);
            check(SubBufferWalk.walk(copy, base, base + end, (id, stamp, at, bytes) -> true));
          }
          return true;
        });
  }

  private static void check(SubBufferWalk.Findings findings) {
    assertThat(findings.committed).isEqualTo(5 * 3 + 2);
    assertThat(findings.pending).isEqualTo(2 + 3);
  }

  /** As a thread leaves a record that is killed in the middle of it. */
  private static void swapOnly(RingBuffers buffers, long size, int owner, long stamp) {
    int row = buffers.path().row();
    long place = buffers.path().rowPlace(row);
    long offset = Store.getLong(buffers.memory(), place);
    assertThat(Store.compareAndSetLong(buffers.memory(), place, offset, offset + size)).isTrue();
    if (size > 0) {
      long slot = buffers.path().place(row, offset);
      Store.putInt(buffers.memory(), slot + RingLayout.SLOT_ID, owner);
      Store.putLong(buffers.memory(), slot + RingLayout.SLOT_STAMP, stamp);
    }
  }

  /** Whatever it was in the middle of, others go on, and what they lose is counted. */
  @ParameterizedTest
  @EnumSource(HotPathKind.class)
  void anOverflowOfTheStackStopsNobody(HotPathKind kind) throws Exception {
    assumeTrue(kind.isAvailable(), "skipped: no restartable sequences here");
    RingTrace.onOneCpu(
        () -> {
          try (RingBuffers buffers = buffers(kind)) {
            for (int round = 0; round < 30; round++) {
              int depth = round;
              Thread thread =
                  new Thread(null, () -> overflow(buffers, depth % 7), "overflow", 256 << 10);
              thread.start(); // on this thread's CPU, where there are CPUs
              thread.join();
              int row = buffers.path().row();
              long lost = buffers.lost(row);
              assertThat(emit(buffers) || buffers.lost(row) == lost + 1).isTrue();
            }
          }
          return true;
        });
  }

  private static void overflow(RingBuffers buffers, int depth) {
    try {
      recurse(buffers, depth);
    } catch (StackOverflowError _) {
      assertThat(depth).isNotNegative();
    }
  }

  @SuppressWarnings("InfiniteRecursion") // That is the point.
  private static long recurse(RingBuffers buffers, long a) {
    emit(buffers);
    return recurse(buffers, a + 1) + 1;
  }

  /** An interrupt closes the channel of whoever is writing; the lock on the file would go, too. */
  @Test
  void anInterruptLeavesTheFileOpen() throws Exception {
    Path file = folder.resolve("buffers");
    RingGeometry geometry = new RingGeometry(2, 1 << 20, 4, false);
    Thread.currentThread().interrupt();
    try (RingMemory ring = RingMemory.create(file, geometry, Stamps.NANOS.code())) {
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
      ring.prepare(0);
      assertThat(Thread.interrupted()).isTrue();
      Thread self = Thread.currentThread();
      Thread other =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < 1_000; i++) {
                      self.interrupt();
                      Thread.onSpinWait();
                    }
                  });
      for (int i = 0; other.isAlive(); i++) {
        ring.prepare(i & 1);
      }
      other.join();
      boolean _ = Thread.interrupted();
      ring.prepare(1);
      assertThatThrownBy(() -> RingMemory.open(file))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("still runs");
    } finally {
      boolean _ = Thread.interrupted();
    }
  }
}
