package io.quiesce.trace.ring;

import io.quiesce.trace.ctf.Metadata;
import io.quiesce.trace.ctf.StreamFile;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.UUID;
import java.util.function.IntPredicate;

/**
 * Finishes the trace of a program that was killed: cuts what is not whole, and adds the committed
 * events that were still in the buffers.
 *
 * <p>A sub-buffer's number is its packet's sequence number, so what the consumer had written before
 * it could say so is not written twice.
 */
final class Recovery {
  private static final int[] CAUSES = {
    RingLayout.LOST_FULL, RingLayout.LOST_WRAP, RingLayout.LOST_BIG, RingLayout.LOST_OTHER
  };

  private final RingBuffers buffers;
  private final RingGeometry geometry;
  private final Path folder;
  private long packets;
  private long events;
  private long uncommitted;
  private long unknown;

  private Recovery(RingBuffers buffers, Path folder) {
    this.buffers = buffers;
    this.geometry = buffers.ring().geometry();
    this.folder = folder;
  }

  /**
   * Recovers.
   *
   * @param folder of the trace
   * @param file of the buffers
   * @throws IOException in one sentence if the program still runs or something cannot be read or
   *     written; it may be tried again
   */
  static RecoveryReport run(Path folder, Path file) throws IOException {
    try (RingMemory ring = RingMemory.open(file)) {
      Recovery recovery = new Recovery(RingBuffers.left(ring), folder);
      recovery.run();
      return new RecoveryReport(
          recovery.packets,
          recovery.events,
          recovery.uncommitted,
          recovery.unknown,
          recovery.lost());
    }
  }

  private RingStatistics lost() {
    long[] lost = new long[CAUSES.length];
    for (int row = 0; row < geometry.rows(); row++) {
      for (int i = 0; i < CAUSES.length; i++) {
        lost[i] += Store.getLong(buffers.memory(), buffers.path().rowPlace(row) + CAUSES[i]);
      }
    }
    return new RingStatistics(0, lost[0], lost[1], lost[2], lost[3], 0);
  }

  private void run() throws IOException {
    UUID uuid = Metadata.recover(folder);
    Set<Integer> ids = Metadata.ids(folder);
    TraceDescription trace = TraceDescription.ofThisProcess("", java.util.List.of()).with(uuid);
    Anchors anchors = Anchors.recover(buffers.ring());
    for (int row = 0; row < geometry.rows(); row++) {
      long offset = offset(row);
      if (StreamFile.exists(folder, row) || offset > 0) {
        recover(row, offset, trace, anchors, ids::contains);
      }
    }
  }

  private void recover(
      int row, long offset, TraceDescription trace, Anchors anchors, IntPredicate known)
      throws IOException {
    StreamFile file =
        StreamFile.exists(folder, row)
            ? StreamFile.recover(folder, row, trace.uuid())
            : StreamFile.create(folder, row);
    try (RowStream stream =
        new RowStream(
            buffers, row, new PacketBuilder(trace, row, geometry, anchors, known), file)) {
      long last = (offset + geometry.subBytes() - 1) & -geometry.subBytes();
      long first = Math.max(first(row, stream), oldest(row, offset, last));
      for (long at = first; at < offset; at += geometry.subBytes()) {
        long end = Math.min(at + geometry.subBytes(), offset);
        SubBufferWalk.Findings findings = stream.gather(at, end);
        uncommitted += findings.pending + findings.abandoned;
        stream.write(at, lostBefore(row, at, offset));
        packets++;
      }
      events += stream.events();
      unknown += stream.dropped();
    }
  }

  /** The oldest sub-buffer that is whole: the one before it is being zeroed to be begun anew. */
  private long oldest(int row, long offset, long last) {
    long begun = Store.getLong(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.BEGUN);
    long whole =
        begun == offset ? geometry.ringBytes() - geometry.subBytes() : geometry.ringBytes();
    return last - whole;
  }

  private long first(int row, RowStream stream) {
    long consumed =
        Store.getLong(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.CONSUMED);
    return Math.max(
        geometry.overwrite() ? 0 : consumed, (stream.lastSequence() + 1) * geometry.subBytes());
  }

  private long lostBefore(int row, long at, long offset) {
    long next = at + geometry.subBytes();
    return next < offset
        ? Store.getLong(buffers.memory(), buffers.path().place(row, next))
        : buffers.lost(row);
  }

  private long offset(int row) {
    return Store.getLongVolatile(buffers.memory(), buffers.path().rowPlace(row));
  }
}
