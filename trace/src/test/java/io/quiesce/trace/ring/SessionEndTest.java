package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.ctf.Metadata;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The end of a session's rings, disturbed. */
@SuppressWarnings("try") // Closed early.
class SessionEndTest {
  @TempDir private Path folder;

  private RingSession session(TraceDescription trace, IntPredicate known) throws IOException {
    return RingSession.create(
        folder.resolve("buffers"), 1 << 20, 4, 4096, false, HotPathKind.LOCK, folder, trace, known);
  }

  @Test
  void aConsumerThatFailsLeavesTheBuffersToRecovery() throws Exception {
    TraceDescription trace = TraceDescription.ofThisProcess("", List.of());
    try (Metadata _ = Metadata.create(folder, trace)) {
      RingSession session =
          session(
              trace,
              id -> {
                throw new IllegalStateException("spoilt");
              });
      long record = session.buffers().reserve(0);
      session.buffers().commit(record, 0, 0);
      assertThatThrownBy(session::close)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("spoilt");
      session.close();
    }
    Path buffers = folder.resolve("buffers");
    assertThat(RingSession.recover(folder, buffers).unknown()).isOne();
  }

  /** They have 200 looks, a millisecond apart at least. */
  @Test
  void anInterruptTakesNoTimeFromEventsThatAreBeingStored() throws Exception {
    TraceDescription trace = TraceDescription.ofThisProcess("", List.of());
    try (Metadata _ = Metadata.create(folder, trace)) {
      RingSession session = session(trace, id -> true);
      assertThat(session.buffers().reserve(0)).isNotZero();
      Thread.currentThread().interrupt();
      long begun = System.nanoTime();
      try {
        session.close();
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
      assertThat(System.nanoTime() - begun).isGreaterThan(150_000_000);
      assertThat(session.statistics().other()).isOne();
    }
  }
}
