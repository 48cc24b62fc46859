package io.quiesce.trace.ring;

import java.util.Set;

/**
 * Frees the rings of a flight recorder from records that nobody will ever commit.
 *
 * <p>In overwrite mode a CPU whose next sub-buffer still has a pending record loses its events
 * (<i>wrap</i>) until that is committed. Its owner may have died, or may have had no stack left
 * even for giving it up. So the session's thread looks at such rings, with the patience of {@link
 * Consumer}; once the owners of all pending records of the sub-buffer are gone, the records are
 * marked as given up, and count as lost.
 *
 * <p>Not thread-safe: the session's thread.
 */
final class StuckRows {
  private final RingBuffers buffers;
  private final RingGeometry geometry;
  private final SubBufferWalk walk;
  private final Patience patience;
  private final long[] seen;

  StuckRows(RingBuffers buffers) {
    this.buffers = buffers;
    this.geometry = buffers.ring().geometry();
    this.walk = new SubBufferWalk(buffers.ring());
    this.patience = new Patience(geometry.rows());
    this.seen = new long[geometry.rows()];
  }

  /** One look at every ring. */
  void pass() {
    for (int row = 0; row < geometry.rows(); row++) {
      long offset = Store.getLongVolatile(buffers.memory(), buffers.path().rowPlace(row));
      long before = offset - geometry.ringBytes();
      if (before < 0
          || (offset & geometry.subMask()) != 0
          || !buffers.path().maybePending(row, before)) {
        patience.reset(row);
      } else {
        look(row, offset, before);
      }
    }
  }

  private void look(int row, long offset, long before) {
    if (seen[row] != offset) {
      seen[row] = offset;
      patience.reset(row);
    }
    if (!patience.isOver(row)) {
      return;
    }
    Set<Integer> owners =
        walk.walk(row, before, before + geometry.subBytes(), (id, stamp, at, bytes) -> true).owners;
    if (!owners.isEmpty() && Owners.areGone(owners, patience.looks(row))) {
      long lost = walk.abandon(row, before);
      Store.addLong(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.LOST_OTHER, lost);
    }
  }
}
