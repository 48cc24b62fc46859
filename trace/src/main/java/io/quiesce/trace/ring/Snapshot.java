package io.quiesce.trace.ring;

import io.quiesce.trace.ctf.StreamFile;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private static final int ATTEMPTS = 20;

  private final RingBuffers buffers;
  private final RingGeometry geometry;
  private final SubBufferWalk walk;
  private final Anchors anchors;
  private final Path folder;
  private final TraceDescription trace;
  private final IntPredicate known;
  private final boolean quiet;
  private final Stamps stamps;
  private final Map<Integer, MemorySegment> memories = new HashMap<>();
  private long latest;
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
    this.stamps = Stamps.of(buffers.ring().stamps());
  }

  /** One ring, as it was. */
  private record Copy(int row, long first, long end, MemorySegment memory, long lost) {
    boolean isEmpty() {
      return first == end;
    }
  }

  /**
   * Takes it: first copies, at the speed of memory, then writes.
   *
   * @throws IOException if a file cannot be written; what is in the folder is a sound trace even so
   */
  void take() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      List<Copy> copies = copyAll(arena);
      for (int i = 1; i < ATTEMPTS && copies.stream().anyMatch(Copy::isEmpty); i++) {
        copies = copyAll(arena); // lapped by the producers: code that never ran, or no CPU
      }
      anchors.take(); // after the offsets, so that no stamp below them is later
      for (Copy copy : copies) {
        write(copy);
      }
    }
  }

  /**
   * What is later than the moment before the first ring was looked at is left out of all of them. A
   * thread that went from one CPU to another meanwhile would show a gap otherwise: its events on
   * the first are not in the copy any more, those on the second are.
   */
  private List<Copy> copyAll(Arena arena) {
    overtaken = 0;
    latest = quiet ? Long.MAX_VALUE : stamps.nowOrdered();
    long[] offsets = new long[geometry.rows()];
    for (int row = 0; row < offsets.length; row++) {
      offsets[row] = offset(row);
    }
    List<Copy> copies = new ArrayList<>();
    for (int row = 0; row < offsets.length; row++) {
      if (offsets[row] > 0) {
        copies.add(copy(row, offsets[row], arena));
      }
    }
    return copies;
  }

  private Copy copy(int row, long offset, Arena arena) {
    MemorySegment memory =
        memories.computeIfAbsent(row, _ -> arena.allocate(geometry.ringBytes(), 8));
    Store.register(memory);
    long first = copy(row, offset, memory);
    return new Copy(row, first, offset, memory.asSlice(first - oldest(offset)), buffers.lost(row));
  }

  /** Copies from the newest to the oldest, as the producers come round to the oldest first. */
  private long copy(int row, long offset, MemorySegment memory) {
    long base = Store.RAW ? memory.address() : 0;
    long oldest = oldest(offset);
    long first = offset;
    for (long at = newest(offset); at >= oldest; at -= geometry.subBytes()) {
      long end = Math.min(at + geometry.subBytes(), offset);
      walk.copy(row, at, end, memory, at - oldest, base);
      Store.loadFence(); // R.7
      if (!quiet && offset(row) >= at + geometry.ringBytes()) {
        overtaken += (at - oldest) / geometry.subBytes() + 1;
        break;
      }
      first = at;
    }
    return first;
  }

  private long newest(long offset) {
    return (offset - 1) & -geometry.subBytes();
  }

  private long oldest(long offset) {
    return Math.max(0, newest(offset) + geometry.subBytes() - geometry.ringBytes());
  }

  private void write(Copy copy) throws IOException {
    PacketBuilder builder = new PacketBuilder(trace, copy.row, geometry, anchors, known);
    long base = Store.RAW ? copy.memory.address() : 0;
    MemorySegment memory = copy.memory;
    try (StreamFile file = StreamFile.create(folder, copy.row)) {
      for (long at = copy.first; at < copy.end; at += geometry.subBytes()) {
        long end = Math.min(at + geometry.subBytes(), copy.end);
        builder.begin(memory, base, latest);
        SubBufferWalk.Findings findings =
            SubBufferWalk.walk(
                memory, base + (at - copy.first), base + (end - copy.first), builder);
        pending += findings.pending;
        events += findings.committed - builder.unknown() - builder.late();
        // The next one's header has what was lost before it began.
        long lost = end < copy.end ? Store.getLong(memory, base + (end - copy.first)) : copy.lost;
        file.append(builder.end(at / geometry.subBytes(), lost));
      }
    }
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
