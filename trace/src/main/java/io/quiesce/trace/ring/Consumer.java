package io.quiesce.trace.ring;

import io.quiesce.trace.ctf.StreamFile;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Takes finished sub-buffers out of the rings, and writes them as packets. One thread calls {@link
 * #pass} again and again; producers never wait for it.
 *
 * <p>A sub-buffer with a pending record is left for later, and its CPU's others with it, since a
 * stream is written in order. After {@link #PATIENCE_LOOKS} looks and {@link #PATIENCE_NANOS} the
 * owners of all its pending records are looked for; when each is gone, or no longer in the tracer,
 * the records are given up and count as lost. One owner that lives keeps the sub-buffer, since it
 * may go on storing there.
 *
 * <p>While a packet cannot be written its CPU's ring is not emptied either: once the ring is full,
 * producers count what they lose, and nothing else is lost.
 */
final class Consumer implements AutoCloseable {
  static final int PATIENCE_LOOKS = 20;
  static final long PATIENCE_NANOS = 1_000_000_000;

  private final RingBuffers buffers;
  private final RingGeometry geometry;
  private final Path folder;
  private final TraceDescription trace;
  private final IntPredicate known;
  private final Anchors anchors;
  private final @Nullable RowStream[] streams;
  private final Patience patience;
  private long failures;
  private @Nullable IOException failure;

  Consumer(
      RingBuffers buffers,
      Anchors anchors,
      Path folder,
      TraceDescription trace,
      IntPredicate known) {
    this.buffers = buffers;
    this.geometry = buffers.ring().geometry();
    this.anchors = anchors;
    this.folder = folder;
    this.trace = trace;
    this.known = known;
    this.streams = new RowStream[geometry.rows()];
    this.patience = new Patience(geometry.rows());
  }

  /**
   * One look at every ring.
   *
   * @param flush whether sub-buffers are ended that are not full
   * @param last whether records that are pending are given up at once
   * @return how many packets were written
   */
  int pass(boolean flush, boolean last) {
    int packets = 0;
    long[] offsets = new long[geometry.rows()];
    for (int row = 0; row < offsets.length; row++) {
      if (isReady(row)) {
        if (flush) {
          buffers.path().flush(row);
        }
        offsets[row] = offset(row);
      }
    }
    anchors.take(); // after the offsets, so that no stamp below them is later
    for (int row = 0; row < offsets.length; row++) {
      try {
        packets += consume(row, offsets[row], last);
      } catch (RuntimeException e) { // one CPU's; the others go on
        failures++;
        failure = new IOException("The events of CPU " + row + " cannot be written: " + e, e);
      }
    }
    return packets;
  }

  private int consume(int row, long offset, boolean last) {
    int packets = 0;
    long place = buffers.path().rowPlace(row) + RingLayout.CONSUMED;
    long consumed = Store.getLong(buffers.memory(), place);
    try {
      while (consumed + geometry.subBytes() <= offset) {
        RowStream stream = stream(row);
        if (stream.hasUnwritten()) {
          stream.retry();
        } else {
          long end = consumed + geometry.subBytes();
          // A look costs a third of gathering: it comes first where it found something before.
          boolean looked = patience.looks(row) > 0;
          if (looked && !isSettled(row, stream.look(consumed, end), last)) {
            return packets;
          }
          // What the packet leaves out is counted, not what was pending at the look: the owner of
          // one may have committed it since.
          SubBufferWalk.Findings findings = stream.gather(consumed, end);
          if (!looked && !isSettled(row, findings, last)) {
            stream.drop();
            return packets;
          }
          settle(row, findings);
          stream.write(consumed, lostBefore(row, end, offset));
        }
        consumed += geometry.subBytes();
        Store.setLongRelease(buffers.memory(), place, consumed); // R.4, R.8
        packets++;
      }
      return packets;
    } catch (IOException e) {
      failures++;
      failure = e;
      return packets;
    }
  }

  /** What was lost before the sub-buffer behind this one began, or up to now if it has not. */
  private long lostBefore(int row, long end, long offset) {
    return offset > end
        ? Store.getLong(buffers.memory(), buffers.path().place(row, end))
        : buffers.lost(row);
  }

  /** Whether a sub-buffer may be written: nothing is pending in it, or that is given up. */
  private boolean isSettled(int row, SubBufferWalk.Findings findings, boolean last) {
    return findings.pending == 0 || last || isGivenUp(row, findings.owners);
  }

  private boolean isGivenUp(int row, Set<Integer> owners) {
    if (!patience.isOver(row)) {
      return false;
    }
    Store.setIntRelease(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.STUCK, 1);
    return Owners.areGone(owners, patience.looks(row));
  }

  /** A sub-buffer is about to be written: what is not committed in it is lost. */
  private void settle(int row, SubBufferWalk.Findings findings) {
    if (patience.looks(row) > 0) {
      patience.reset(row);
      Store.setIntRelease(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.STUCK, 0);
    }
    long lost = findings.pending + findings.abandoned;
    if (lost > 0) {
      Store.addLong(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.LOST_OTHER, lost);
    }
  }

  private RowStream stream(int row) throws IOException {
    RowStream stream = streams[row];
    if (stream == null) {
      stream =
          new RowStream(
              buffers,
              row,
              new PacketBuilder(trace, row, geometry, anchors, known),
              StreamFile.create(folder, row, trace.uuid()));
      streams[row] = stream;
    }
    return stream;
  }

  private boolean isReady(int row) {
    int closed =
        Store.getIntVolatile(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.CLOSED);
    return (closed & (RingLayout.NOT_READY | RingLayout.FAILED)) == 0;
  }

  private long offset(int row) {
    return Store.getLongVolatile(buffers.memory(), buffers.path().rowPlace(row));
  }

  /** Whether everything that was reserved is in the files. */
  boolean isDrained() {
    for (int row = 0; row < geometry.rows(); row++) {
      long consumed =
          Store.getLong(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.CONSUMED);
      // A sub-buffer may have been begun by a thread that then went to another CPU.
      if (isReady(row) && offset(row) - consumed > RingLayout.SUB_HEADER_BYTES) {
        return false;
      }
    }
    return true;
  }

  /** Counts what is still in the rings as lost: nobody will ever read it. */
  void giveUp() {
    SubBufferWalk walk = new SubBufferWalk(buffers.ring());
    for (int row = 0; row < geometry.rows(); row++) {
      long offset = isReady(row) ? offset(row) : 0;
      long place = buffers.path().rowPlace(row);
      RowStream stream = streams[row];
      // Those that the packet left out are counted already.
      boolean gathered = stream != null && stream.hasUnwritten();
      for (long at = Store.getLong(buffers.memory(), place + RingLayout.CONSUMED);
          at < offset;
          at += geometry.subBytes()) {
        long end = Math.min(at + geometry.subBytes(), offset);
        SubBufferWalk.Findings found = walk.walk(row, at, end, (id, stamp, from, bytes) -> true);
        long others = gathered ? 0 : found.pending + found.abandoned;
        Store.addLong(buffers.memory(), place + RingLayout.LOST_OTHER, found.committed + others);
        gathered = false;
      }
    }
  }

  /** Events in the files. */
  long events() {
    long sum = 0;
    for (RowStream stream : streams) {
      sum += stream == null ? 0 : stream.events();
    }
    return sum;
  }

  /** How often a packet could not be written, tries included. */
  long failures() {
    return failures;
  }

  /** Why the last one could not be, until asked. */
  @Nullable IOException takeFailure() {
    IOException taken = failure;
    failure = null;
    return taken;
  }

  /** Events that were lost behind the last packet are in no file yet: an empty one says so. */
  private void writeLosses() throws IOException {
    for (int row = 0; row < streams.length; row++) {
      long lost = buffers.lost(row);
      RowStream stream = streams[row];
      if (lost > (stream == null ? 0 : stream.lost())
          && (stream == null || !stream.hasUnwritten())) {
        long consumed =
            Store.getLong(buffers.memory(), buffers.path().rowPlace(row) + RingLayout.CONSUMED);
        stream(row).writeEmpty(consumed, Anchors.now(), lost);
      }
    }
  }

  @Override
  public void close() throws IOException {
    IOException first = null;
    try {
      if (isDrained()) {
        writeLosses();
      }
    } catch (IOException e) {
      first = e;
    }
    for (RowStream stream : streams) {
      try {
        if (stream != null) {
          stream.close();
        }
      } catch (IOException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
