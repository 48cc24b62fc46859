package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.ctf.TraceDescription;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    try (RingBuffers buffers = buffers(false)) {
      long row = buffers.path().rowPlace(0);
      Store.setLongRelease(buffers.memory(), row + RingLayout.OFFSET, RingLayout.SUB_HEADER_BYTES);
      try (Consumer consumer =
          new Consumer(
              buffers,
              Anchors.begin(buffers.ring()),
              folder,
              TraceDescription.ofThisProcess("", List.of()),
              id -> true)) {
        assertThat(consumer.isDrained()).isTrue();
        long record = RingLayout.SUB_HEADER_BYTES + RingLayout.SLOT_BYTES;
        Store.setLongRelease(buffers.memory(), row + RingLayout.OFFSET, record);
        assertThat(consumer.isDrained()).isFalse();
      }
    }
  }

  @Test
  void theOwnersOfAllPendingRecordsMustBeGone() throws Exception {
    int dead = deadThread();
    int consumer = (int) Thread.currentThread().threadId(); // this test is in the tracer's package
    assertThat(Owners.areGone(Set.of(dead), 1_000_000)).isTrue();
    assertThat(Owners.areGone(Set.of(dead), 1)).isFalse();
    assertThat(Owners.areGone(Set.of(dead, consumer), 1_000_000)).isFalse();
  }

  private static int deadThread() throws InterruptedException {
    Thread thread = Thread.ofPlatform().start(() -> {});
    thread.join();
    return (int) thread.threadId();
  }
}
