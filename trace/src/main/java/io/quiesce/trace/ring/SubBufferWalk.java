package io.quiesce.trace.ring;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Steps from record to record through a sub-buffer, in the ring itself or in a copy of it.
 *
 * <p>Whatever it finds it stays inside the sub-buffer: a size that cannot be one ends the walk.
 */
final class SubBufferWalk {
  /** Takes the committed records. */
  interface Sink {
    /**
     * One record.
     *
     * @param id of its type
     * @param stamp when it was reserved
     * @param at place of its context and fields
     * @param bytes of them
     * @return whether to go on
     */
    boolean record(int id, long stamp, long at, long bytes);
  }

  /** What a walk found. */
  static final class Findings {
    /** Records given to the sink. */
    long committed;

    /** Records that were given up. */
    long abandoned;

    /** Records that are still reserved, or whose size is not stored yet. */
    long pending;

    /** Their owners, for a walk with a sink; 0 for one whose size is not stored yet. */
    final Set<Integer> owners = new HashSet<>();

    /** How far behind the begin of the sub-buffer the last pending one is; 0 if there is none. */
    long pendingAt;

    /** Whether the sink had enough. */
    boolean stopped;
  }

  private final MemorySegment memory;
  private final long base;
  private final RingGeometry geometry;

  SubBufferWalk(RingMemory ring) {
    this.memory = ring.memory();
    this.base = ring.base();
    this.geometry = ring.geometry();
  }

  /**
   * Where in a whole sub-buffer the first pending record is, from its begin; 0 if there is none.
   */
  long pending(int row, long offset) {
    long at = place(row, offset);
    return walk(memory, at, at + geometry.subBytes(), null).pendingAt;
  }

  /** Gives all pending records of a whole sub-buffer up; how many. Their owners must be gone. */
  long abandon(int row, long offset) {
    long at = place(row, offset) + RingLayout.SUB_HEADER_BYTES;
    long end = place(row, offset) + geometry.subBytes();
    long count = 0;
    while (at < end) {
      int word = Store.getIntAcquire(memory, at);
      int state = word & RingLayout.STATE_MASK;
      long size = word & ~RingLayout.STATE_MASK;
      if (state == RingLayout.PADDING) {
        break;
      }
      if (!isSized(word, end - at)) {
        size = resume(memory, at, end) - at;
        if (size == 0) {
          continue; // it has its size by now
        }
        state = RingLayout.RESERVED;
      }
      int given =
          size < RingLayout.SLOT_BYTES ? RingLayout.PADDING : (int) size | RingLayout.ABANDONED;
      // Unless its owner committed it after all.
      if (state == RingLayout.RESERVED && Store.compareAndSetInt(memory, at, word, given)) {
        count++;
      }
      at += size;
    }
    return count;
  }

  /**
   * Walks a sub-buffer in the ring.
   *
   * @param offset where it begins
   * @param end where it ends, or the row's offset if that comes earlier
   */
  Findings walk(int row, long offset, long end, Sink sink) {
    long at = place(row, offset);
    return walk(memory, at, at + (end - offset), sink);
  }

  private long place(int row, long offset) {
    return base + geometry.ringAt(row) + (offset & geometry.ringMask());
  }

  /**
   * Where records go on behind one whose size is not stored: at the first word that is not zero,
   * which is a size, or the owner of another such record. For the sub-buffer was zeroed, a record's
   * owner is stored before its stamp, and its fields after its size (R.2).
   *
   * <p>A record behind that has nothing stored yet is passed over, and may get a size and fields
   * meanwhile. So it is looked again whether all before is still zero: who saw a field sees the
   * size.
   */
  private static long resume(MemorySegment memory, long from, long end) {
    long behind = from + RingLayout.SLOT_BYTES; // no record is shorter
    long found = firstWord(memory, behind, end);
    while (true) {
      if (isSized(Store.getIntAcquire(memory, from), end - from)) {
        return from; // by now
      }
      long again = firstWord(memory, behind, found);
      if (again == found) {
        return found;
      }
      found = again;
    }
  }

  private static long firstWord(MemorySegment memory, long from, long end) {
    long at = from;
    while (at < end && Store.getLongAcquire(memory, at) == 0) {
      at += RingLayout.ALIGN;
    }
    return Math.min(at, end);
  }

  private static boolean isSized(int word, long rest) {
    long size = word & ~RingLayout.STATE_MASK;
    return word == RingLayout.PADDING || (size >= RingLayout.SLOT_BYTES && size <= rest);
  }

  /** A record that is not committed, where it lies in a sub-buffer, and the bytes to its end. */
  private record Pending(long at, long size) {
    /** What stands for it in a copy. */
    int word() {
      return size < RingLayout.SLOT_BYTES
          ? RingLayout.PADDING // at the very end, where no record fits
          : (int) size | RingLayout.RESERVED;
    }
  }

  /**
   * Copies a sub-buffer so that the copy may be walked. The records are looked at before they are
   * copied: what was committed then is copied whole, and the others are marked as reserved in the
   * copy, since a plain copy may take the fields first and the word that publishes them later. One
   * whose size was not stored reaches to the next one there.
   *
   * @param to where it goes
   * @param toOffset of its first byte there
   * @param toBase place of the first byte of that memory
   */
  void copy(int row, long offset, long end, MemorySegment to, long toOffset, long toBase) {
    long start = place(row, offset);
    long stop = start + (end - offset);
    List<Pending> pending = new ArrayList<>();
    long at = start + RingLayout.SUB_HEADER_BYTES;
    while (at < stop) {
      int word = Store.getIntAcquire(memory, at); // R.1
      int state = word & RingLayout.STATE_MASK;
      long size = word & ~RingLayout.STATE_MASK;
      if (state == RingLayout.PADDING) {
        break;
      }
      boolean sized = isSized(word, stop - at);
      long next = sized ? at + size : resume(memory, at, stop);
      if (next > at && (!sized || state == RingLayout.RESERVED)) {
        pending.add(new Pending(at - start, next - at));
      }
      at = next;
    }
    Store.loadFence();
    MemorySegment.copy(memory, start - base, to, toOffset, end - offset);
    for (Pending record : pending) {
      Store.putInt(to, toBase + toOffset + record.at, record.word());
    }
  }

  /** Walks what lies between two places; a null sink only counts, up to the first pending one. */
  static Findings walk(
      MemorySegment memory, long start, long end, @org.jspecify.annotations.Nullable Sink sink) {
    Findings findings = new Findings();
    long at = start + RingLayout.SUB_HEADER_BYTES;
    while (at < end) {
      int word = Store.getIntAcquire(memory, at); // R.1
      int state = word & RingLayout.STATE_MASK;
      long size = word & ~RingLayout.STATE_MASK;
      if (state == RingLayout.PADDING) {
        break;
      }
      if (!isSized(word, end - at)) {
        // Reserved by compare-and-swap, its size not yet stored.
        long next = sink == null ? end : resume(memory, at, end);
        if (next > at) {
          findings.pendingAt = at - start;
          findings.pending++;
          findings.owners.add(0);
        }
        at = next;
        continue;
      }
      switch (state) {
        case RingLayout.COMMITTED -> {
          int id = Store.getInt(memory, at + RingLayout.SLOT_ID);
          findings.committed++;
          if (sink != null
              && !sink.record(
                  id & RingLayout.ID_MASK,
                  Store.getLong(memory, at + RingLayout.SLOT_STAMP),
                  at + RingLayout.SLOT_BYTES,
                  Math.max(0, size - RingLayout.SLOT_BYTES - (id >>> RingLayout.PADDING_SHIFT)))) {
            findings.stopped = true;
            return findings;
          }
        }
        case RingLayout.ABANDONED -> findings.abandoned++;
        default -> {
          findings.pendingAt = at - start;
          findings.pending++;
          if (sink == null) {
            return findings;
          }
          findings.owners.add(Store.getInt(memory, at + RingLayout.SLOT_ID));
        }
      }
      at += size;
    }
    return findings;
  }
}
