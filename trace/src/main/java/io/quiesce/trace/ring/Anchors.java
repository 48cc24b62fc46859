package io.quiesce.trace.ring;

import io.quiesce.linux.MonotonicClock;
import io.quiesce.linux.Tsc;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;

/**
 * Turns stamps into nanoseconds of {@code CLOCK_MONOTONIC}, along lines between moments at which
 * counter and clock were read together.
 *
 * <p>An anchor is taken after the offsets are read and before the records are, so each stamp lies
 * between two anchors, and lines that meet in their ends never go back. Anchors closer than {@value
 * #APART_NANOS} ns replace one another; when there are too many, every second one goes. They are
 * kept in the buffers' file as well, for recovery.
 *
 * <p>A counter may begin anew when the machine was suspended to memory. Then the anchors begin anew
 * too; what was stamped before, and is above every later stamp, gets the time of the last anchor
 * before.
 *
 * <p>A kill may come between any two stores, so no pair is ever half new: its ticks are 0 while it
 * changes. One that is to be replaced stays until the new one is in the file, behind it. Recovery
 * takes the pairs that go up in both counter and clock, and leaves out the others, which are what
 * is being replaced, or thinned out.
 *
 * <p>Not thread-safe: the consumer's, or the recovery's.
 */
class Anchors {
  static final long APART_NANOS = 100_000_000;
  private static final int SHIFT = 40;

  /** One place is left, for the one that replaces another. */
  private static final int MOST = RingLayout.ANCHORS_MAX - 1;

  /**
   * By how much a counter goes back that began anew; two CPUs' counters differ by some thousand.
   */
  private static final long ANEW_TICKS = 1_000_000_000;

  private final MemorySegment memory;
  private final long place;
  private final boolean counter;
  private final long[] ticks = new long[RingLayout.ANCHORS_MAX];
  private final long[] nanos = new long[RingLayout.ANCHORS_MAX];
  private int count;
  // The line last used: from ticks[line] to ticks[line + 1].
  private int line = -1;
  private long multiplier;
  // When the counter last began anew.
  private boolean anew;
  private long before;

  Anchors(RingMemory ring) {
    this.memory = ring.memory();
    this.place = ring.base() + RingLayout.anchorsAt(ring.geometry().rows());
    this.counter = ring.stamps() == Stamps.TSC.code();
  }

  /** A new session's. */
  static Anchors begin(RingMemory ring) {
    Anchors anchors = new Anchors(ring);
    anchors.take();
    return anchors;
  }

  /** Those that a program left. */
  static Anchors recover(RingMemory ring) {
    Anchors anchors = new Anchors(ring);
    long claimed = Store.getLongAcquire(anchors.memory, anchors.place);
    int most = Math.clamp(claimed, 0, RingLayout.ANCHORS_MAX);
    for (int i = 0; i < most; i++) {
      long at = anchors.pair(i);
      anchors.keep(Store.getLong(anchors.memory, at), Store.getLong(anchors.memory, at + 8));
    }
    return anchors;
  }

  private void keep(long tsc, long time) {
    if (tsc != 0 && (count == 0 || (tsc > ticks[count - 1] && time > nanos[count - 1]))) {
      ticks[count] = tsc;
      nanos[count] = time;
      count++;
    }
  }

  /** Counter and clock now. */
  void take() {
    if (counter) {
      Tsc.Anchor now = Tsc.anchor();
      add(now.tsc(), now.monotonicNanos());
    }
  }

  void add(long tsc, long time) {
    int last = count - 1;
    if (last >= 0 && tsc <= ticks[last]) {
      if (ticks[last] - tsc < ANEW_TICKS) {
        return; // another CPU's counter; the next one will do
      }
      anew = true;
      before = nanos[last];
      replace(0, tsc, time);
    } else if (last >= 1 && time - nanos[last - 1] < APART_NANOS) {
      replace(last, tsc, time);
    } else {
      if (count == MOST) {
        thin();
      }
      append(tsc, time);
    }
  }

  private void append(long tsc, long time) {
    put(count, tsc, time);
    count++;
    store(place + RingLayout.ANCHOR_COUNT, count);
  }

  /** The last one then. */
  private void replace(int index, long tsc, long time) {
    append(tsc, time);
    put(index, tsc, time);
    count = index + 1;
    line = -1;
    store(place + RingLayout.ANCHOR_COUNT, count);
  }

  /** What stays in the file behind the last one is not above it, and so not taken for another. */
  private void thin() {
    int kept = 1; // the first one is where it belongs
    for (int i = 2; i < count - 2; i += 2) {
      put(kept++, ticks[i], nanos[i]);
    }
    put(kept++, ticks[count - 1], nanos[count - 1]);
    count = kept;
    line = -1;
  }

  private void put(int index, long tsc, long time) {
    ticks[index] = tsc;
    nanos[index] = time;
    long at = pair(index);
    store(at, 0);
    store(at + 8, time);
    store(at, tsc);
  }

  private long pair(int index) {
    return place + RingLayout.ANCHORS_FIRST + index * 16L;
  }

  /** A release store. A test looks after each of them at what a kill would leave. */
  void store(long at, long value) {
    Store.setLongRelease(memory, at, value);
  }

  /** The time of a stamp; beyond the first or the last anchor, along the nearest line. */
  long toNanos(long stamp) {
    if (!counter) {
      return stamp;
    }
    if (line < 0 || stamp < ticks[line] || stamp >= ticks[line + 1]) {
      if (anew && stamp > ticks[count - 1]) {
        return before;
      }
      find(stamp);
    }
    if (line < 0) {
      return count == 0 ? 0 : nanos[0];
    }
    long delta = stamp - ticks[line];
    long high = Math.multiplyHigh(delta, multiplier);
    return nanos[line] + ((high << (Long.SIZE - SHIFT)) | ((delta * multiplier) >>> SHIFT));
  }

  private void find(long stamp) {
    if (count < 2) {
      line = -1;
      return;
    }
    int low = 0;
    int high = count - 2;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (ticks[middle] <= stamp) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    if (line == low) {
      return;
    }
    line = low;
    multiplier =
        BigInteger.valueOf(nanos[low + 1] - nanos[low])
            .shiftLeft(SHIFT)
            .divide(BigInteger.valueOf(ticks[low + 1] - ticks[low]))
            .longValue();
  }

  /** The clock now, for packets without events. */
  static long now() {
    return MonotonicClock.nanos();
  }
}
