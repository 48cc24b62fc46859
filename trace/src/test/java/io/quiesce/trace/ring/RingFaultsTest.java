package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.trace.ctf.TraceDescription;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** States of the ring that only a thread held up in the wrong place makes. */
class RingFaultsTest {
  @TempDir private Path folder;

  private RingBuffers buffers(boolean overwrite) throws Exception {
    RingGeometry geometry =
        new RingGeometry(Rows.count(), RingGeometry.LEAST_SUB_BYTES, 2, overwrite);
    return RingBuffers.create(folder.resolve("buffers"), geometry, HotPathKind.LOCK);
  }

  @Test
  void aSubBufferThatWasOnlyBegunIsDrained() throws Exception {
    RingTrace.onOneCpu(
        () -> {
          try (RingBuffers buffers = buffers(false);
              Consumer consumer =
                  new Consumer(
                      buffers,
                      Anchors.begin(buffers.ring()),
                      folder,
                      TraceDescription.ofThisProcess("", List.of()),
                      id -> true)) {
            long row = buffers.path().rowPlace(buffers.path().row());
            Store.setLongRelease(
                buffers.memory(), row + RingLayout.OFFSET, RingLayout.SUB_HEADER_BYTES);
            assertThat(consumer.isDrained()).isTrue();
            long record = RingLayout.SUB_HEADER_BYTES + RingLayout.SLOT_BYTES;
            Store.setLongRelease(buffers.memory(), row + RingLayout.OFFSET, record);
            assertThat(consumer.isDrained()).isFalse();
          }
          return true;
        });
  }

  /** Otherwise a burst is lost while the consumer sleeps. */
  @Test
  void theReaderIsWokenWhenARingIsHalfFull() throws Exception {
    try (RingBuffers buffers = buffers(false)) {
      AtomicBoolean go = new AtomicBoolean();
      Thread reader =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    while (!go.get()) {
                      LockSupport.park();
                    }
                  });
      buffers.wakes(reader);
      RingTrace.onOneCpu(
          () -> {
            emit(buffers);
            go.set(true);
            for (int i = 0; i < 2 * RingGeometry.LEAST_SUB_BYTES / RingLayout.SLOT_BYTES; i++) {
              emit(buffers);
            }
            return true;
          });
      assertThat(reader.join(Duration.ofSeconds(60))).isTrue();
    }
  }

  @Test
  void theOwnersOfAllPendingRecordsMustBeGone() throws Exception {
    int dead = deadThread();
    int consumer = (int) Thread.currentThread().threadId(); // this test is in the tracer's package
    assertThat(Owners.areGone(Set.of(dead), 1_000_000)).isTrue();
    assertThat(Owners.areGone(Set.of(dead), 1)).isTrue();
    assertThat(Owners.areGone(Set.of(0), 1)).isFalse(); // it may be virtual
    assertThat(Owners.areGone(Set.of(dead | Integer.MIN_VALUE), 1)).isFalse();
    assertThat(Owners.areGone(Set.of(dead, consumer), 1_000_000)).isFalse();
  }

  /** A pending record keeps its sub-buffer from being used again; nothing else is kept. */
  @ParameterizedTest
  @EnumSource(HotPathKind.class)
  void aRecordThatIsNotCommittedIsNotOverwritten(HotPathKind kind) throws Exception {
    assumeTrue(kind.isAvailable(), "skipped: no restartable sequences here");
    RingGeometry geometry = new RingGeometry(Rows.count(), RingGeometry.LEAST_SUB_BYTES, 4, true);
    try (RingBuffers buffers = RingBuffers.create(folder.resolve("b"), geometry, kind)) {
      RingTrace.onOneCpu(
          () -> {
            int perRing = 4 * 255;
            for (int i = 0; i < 10; i++) {
              emit(buffers);
            }
            long pending = buffers.reserve(0);
            int row = buffers.path().row();
            for (int i = 0; i < 3 * perRing; i++) {
              emit(buffers);
            }
            long lost = buffers.lost(row);
            assertThat(lost).isBetween(2L * perRing - 300, 2L * perRing + 300);
            buffers.commit(pending, 0, 1);
            for (int i = 0; i < 3 * perRing; i++) {
              emit(buffers);
            }
            assertThat(buffers.lost(row)).isEqualTo(lost);
            return true;
          });
    }
  }

  /** A flight recorder goes on when the owner of a pending record has died. */
  @ParameterizedTest
  @EnumSource(HotPathKind.class)
  void aRecordOfADeadThreadIsGivenUp(HotPathKind kind) throws Exception {
    assumeTrue(kind.isAvailable(), "skipped: no restartable sequences here");
    RingGeometry geometry = new RingGeometry(Rows.count(), RingGeometry.LEAST_SUB_BYTES, 4, true);
    try (RingBuffers buffers = RingBuffers.create(folder.resolve("b"), geometry, kind)) {
      AtomicInteger row = new AtomicInteger();
      RingTrace.onOneCpu(
          () -> {
            emit(buffers);
            row.set(buffers.path().row());
            return buffers.reserve(0) > 0;
          });
      if (!Rows.ofCpus()) {
        return; // the next thread has another row
      }
      RingTrace.onOneCpu(
          () -> {
            fill(buffers);
            long lost = buffers.lost(row.get());
            assertThat(lost).isPositive();
            StuckRows stuck = new StuckRows(buffers);
            for (int i = 0; i < 3 * Consumer.PATIENCE_LOOKS; i++) {
              stuck.pass();
              Thread.sleep(Consumer.PATIENCE_NANOS / 1_000_000 / Consumer.PATIENCE_LOOKS);
            }
            assertThat(buffers.lost(row.get())).isEqualTo(lost + 1); // the record itself
            fill(buffers);
            assertThat(buffers.lost(row.get())).isEqualTo(lost + 1);
            return true;
          });
    }
  }

  private static void fill(RingBuffers buffers) {
    for (int i = 0; i < 3 * 4 * 255; i++) {
      emit(buffers);
    }
  }

  private static void emit(RingBuffers buffers) {
    long record = buffers.reserve(0);
    if (record != 0) {
      buffers.commit(record, 0, 0);
    }
  }

  private static int deadThread() throws InterruptedException {
    Thread thread = Thread.ofPlatform().start(() -> {});
    thread.join();
    return (int) thread.threadId();
  }
}
