package io.quiesce.trace.ring;

import io.quiesce.trace.ctf.Metadata;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The rings of a session with their way into files. Thread-safe.
 *
 * <p>The order in which things are made: the buffers first, so that nothing is left when there is
 * no space for them.
 */
public final class RingSession implements AutoCloseable {
  private static final int LAST_LOOKS = 200;

  private final RingBuffers buffers;
  private final Anchors anchors;
  private final @Nullable Consumer consumer;
  private final StuckRows stuck;
  private final IntPredicate known;
  private final Path folder;
  private final UUID uuid;
  private boolean closed;

  private RingSession(
      RingBuffers buffers,
      Anchors anchors,
      @Nullable Consumer consumer,
      IntPredicate known,
      Path folder,
      UUID uuid) {
    this.folder = folder;
    this.uuid = uuid;
    this.buffers = buffers;
    this.anchors = anchors;
    this.consumer = consumer;
    this.stuck = new StuckRows(buffers);
    this.known = known;
  }

  /**
   * Makes the buffers.
   *
   * @param file of the buffers, new
   * @param budget bytes for all CPUs
   * @param subCount sub-buffers for each CPU
   * @param mostSubBytes the largest sub-buffer wanted
   * @param overwrite flight recorder, or discard
   * @param kind of hot path
   * @param folder of the trace, for a consumer
   * @param trace its description
   * @param known whether an id's type is in the metadata
   */
  public static RingSession create(
      Path file,
      long budget,
      int subCount,
      long mostSubBytes,
      boolean overwrite,
      HotPathKind kind,
      Path folder,
      TraceDescription trace,
      IntPredicate known)
      throws IOException {
    RingGeometry geometry =
        RingGeometry.within(budget, Rows.count(), subCount, overwrite, mostSubBytes);
    RingBuffers buffers = RingBuffers.create(file, geometry, kind);
    Anchors anchors = Anchors.begin(buffers.ring());
    Consumer consumer = overwrite ? null : new Consumer(buffers, anchors, folder, trace, known);
    return new RingSession(buffers, anchors, consumer, known, folder, trace.uuid());
  }

  /**
   * Makes the rings of all CPUs that this process may run on.
   *
   * @throws IOException in one sentence if there is no space
   */
  public void reserveAll() throws IOException {
    buffers.prepareAll();
  }

  /** Says which thread calls {@link #pass}: it is unparked when a ring is half full. */
  public void wakes(Thread thread) {
    if (consumer != null) {
      buffers.wakes(thread);
    }
  }

  /** Where events go. */
  public RingBuffers buffers() {
    return buffers;
  }

  /**
   * One look at the rings: writes finished sub-buffers, or only keeps the clock's anchors.
   *
   * @param flush whether unfinished sub-buffers are written too
   * @return packets written
   */
  public synchronized int pass(boolean flush) {
    if (closed) {
      return 0;
    }
    if (consumer == null) {
      anchors.take();
      stuck.pass();
      return 0;
    }
    return consumer.pass(flush, false);
  }

  /** Why the last packet could not be written, once. */
  public synchronized @Nullable IOException takeFailure() {
    return consumer == null ? null : consumer.takeFailure();
  }

  /**
   * Writes what an overwriting session's buffers hold as a trace of its own.
   *
   * @param folder new
   * @param trace its description; the uuid is replaced
   * @param metadata adds the event types to it
   * @return how many events were written
   */
  public synchronized long snapshot(Path folder, TraceDescription trace, Types metadata)
      throws IOException {
    if (closed) {
      throw new IllegalStateException("The session has ended; its buffers are gone");
    }
    return snapshot(folder, trace, metadata, false);
  }

  private long snapshot(Path folder, TraceDescription trace, Types types, boolean quiet)
      throws IOException {
    TraceDescription own = trace.with(UUID.randomUUID());
    try (Metadata metadata = Metadata.create(folder, own)) {
      types.addTo(metadata);
      Snapshot snapshot = new Snapshot(buffers, anchors, folder, own, known, quiet);
      snapshot.take();
      return snapshot.events();
    }
  }

  /** Knows the event types. */
  @FunctionalInterface
  public interface Types {
    /** Adds them all. */
    void addTo(Metadata metadata) throws IOException;
  }

  /** What became of the events so far. */
  public synchronized RingStatistics statistics() {
    long[] lost = new long[4];
    for (int row = 0; row < buffers.ring().geometry().rows(); row++) {
      long at = buffers.path().rowPlace(row) + RingLayout.LOST_FULL;
      for (int i = 0; i < lost.length; i++) {
        lost[i] += Store.getLongVolatile(buffers.memory(), at + 8L * i);
      }
    }
    return new RingStatistics(
        consumer == null ? 0 : consumer.events(),
        lost[0],
        lost[1],
        lost[2],
        lost[3],
        consumer == null ? 0 : consumer.failures());
  }

  /**
   * Ends the session: no event is stored from here on, and what is in the buffers is written.
   * Events that are being stored get 200 ms to end.
   *
   * @throws IOException if not everything could be written; the file of the buffers stays for
   *     recovery then, unless the trace is gone from its folder
   */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    // Whatever happens, the lock goes: else recovery would take this program's life for a session.
    try (buffers) {
      buffers.end();
      finish();
    }
  }

  private void finish() throws IOException {
    boolean drained = true;
    IOException failure = null;
    if (consumer != null) {
      try (consumer) {
        drain(consumer);
        drained = consumer.isDrained();
        failure = consumer.takeFailure();
      }
    }
    // Without the trace nobody finds what the buffers belong to: they would stay for ever.
    boolean lost = !drained && !Metadata.isOf(folder, uuid);
    if (lost && consumer != null) {
      consumer.giveUp();
    }
    if (drained || lost) {
      buffers.ring().delete();
    }
    if (!drained) {
      throw failure == null ? new IOException("Not all events could be written") : failure;
    }
  }

  /** An interrupt cuts one look short, not all of them. */
  private static void drain(Consumer consumer) {
    boolean interrupted = Thread.interrupted();
    try {
      consumer.pass(true, false);
      for (int i = 0; i < LAST_LOOKS && !consumer.isDrained(); i++) {
        interrupted |= pause();
        consumer.pass(true, i == LAST_LOOKS - 1);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whether it was interrupted. */
  private static boolean pause() {
    try {
      Thread.sleep(1);
      return false;
    } catch (InterruptedException _) {
      return true;
    }
  }

  /** Finishes the trace of a program that was killed; see {@link Recovery}. */
  public static RecoveryReport recover(Path folder, Path file) throws IOException {
    return Recovery.run(folder, file);
  }
}
