package io.quiesce.trace.ring;

import io.quiesce.trace.ctf.StreamFile;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.IntPredicate;

/**
 * What the rings of an overwriting session hold, written as a trace while producers go on.
 *
 * <p>Each sub-buffer is copied, and then the ring's offset is read again: if the ring has not come
 * round to the sub-buffer's place, nothing in the copy is newer than it should be, and the copy
 * counts; otherwise it was the oldest one and is left out. So no producer ever waits for a reader
 * or exchanges sub-buffers with one, and the fast path needs no table of them. A reader that is
 * lapped loses the oldest sub-buffers; the newest ones are always had, up to the moment of the
 * copy.
 */
final class Snapshot {
  private final RingBuffers buffers;
  private final RingGeometry geometry;
  private final SubBufferWalk walk;
  private final Anchors anchors;
  private final Path folder;
  private final TraceDescription trace;
  private final IntPredicate known;
  private final MemorySegment copy;
  private final long copyBase;
  private final boolean quiet;
  private long events;
  private long overtaken;
  private long pending;

  /**
   * A snapshot, not yet taken.
   *
   * @param quiet whether no producer can run any more, so that everything in the ring is sound
   */
  Snapshot(
      RingBuffers buffers,
      Anchors anchors,
      Path folder,
      TraceDescription trace,
      IntPredicate known,
      boolean quiet) {
    this.buffers = buffers;
    this.geometry = buffers.ring().geometry();
    this.walk = new SubBufferWalk(buffers.ring());
    this.anchors = anchors;
    this.folder = folder;
    this.trace = trace;
    this.known = known;
    this.quiet = quiet;
    this.copy = Arena.ofAuto().allocate(geometry.subBytes(), 8);
    Store.register(copy);
    this.copyBase = Store.RAW ? copy.address() : 0;
  }

  /**
   * Takes it.
   *
   * @throws IOException if a file cannot be written; what is in the folder is a sound trace even so
   */
  void take() throws IOException {
    long[] offsets = new long[geometry.rows()];
    for (int row = 0; row < offsets.length; row++) {
      offsets[row] = offset(row);
    }
    anchors.take();
    for (int row = 0; row < offsets.length; row++) {
      if (offsets[row] > 0) {
        take(row, offsets[row]);
      }
    }
  }

  private void take(int row, long offset) throws IOException {
    PacketBuilder builder = new PacketBuilder(trace, row, geometry, anchors, known);
    try (StreamFile file = StreamFile.create(folder, row)) {
      long newest = (offset - 1) & -geometry.subBytes();
      long first = Math.max(0, newest + geometry.subBytes() - geometry.ringBytes());
      for (long at = first; at < offset; at += geometry.subBytes()) {
        long end = Math.min(at + geometry.subBytes(), offset);
        if (copied(row, at, end)) {
          builder.begin(copy, copyBase);
          SubBufferWalk.Findings findings =
              SubBufferWalk.walk(copy, copyBase, copyBase + (end - at), builder);
          pending += findings.pending;
          events += findings.committed - builder.unknown();
          file.append(builder.end(at / geometry.subBytes(), lostBefore(row, at, end)));
        } else {
          overtaken++;
        }
      }
    }
  }

  private boolean copied(int row, long at, long end) {
    walk.copy(row, at, end, copy, copyBase);
    Store.loadFence(); // R.7
    return quiet || offset(row) < at + geometry.ringBytes();
  }

  private long lostBefore(int row, long at, long end) {
    // The next one's header, if it has one and is not overwritten by now.
    long next = at + geometry.subBytes();
    if (end == next && offset(row) > next) {
      long lost = Store.getLong(buffers.memory(), buffers.path().place(row, next));
      Store.loadFence();
      if (quiet || offset(row) < next + geometry.ringBytes()) {
        return lost;
      }
    }
    return end == next ? 0 : buffers.lost(row);
  }

  private long offset(int row) {
    return Store.getLongVolatile(buffers.memory(), buffers.path().rowPlace(row));
  }

  /** Events written. */
  long events() {
    return events;
  }

  /** Sub-buffers that the producers reused before they were copied. */
  long overtaken() {
    return overtaken;
  }

  /** Events that were not committed at that moment. */
  long pending() {
    return pending;
  }
}
