package io.quiesce.trace.ring;

import io.quiesce.linux.Membarrier;
import io.quiesce.linux.NativeCode;
import io.quiesce.linux.Rseq;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * One restartable sequence reserves, stamps and stores the slot; only its last store, of the
 * offset, takes effect for others. A sequence that was interrupted starts again and reads the
 * counter again, so a stream is in the order of time. No atomic instruction.
 *
 * <p>From another CPU a row is changed by the protocol of docs/ordering.md, P.3: close it, run a
 * fence on its CPU that aborts what is in flight, change it, open it.
 */
final class SequencePath extends HotPath {
  /** Touched only where they exist. */
  private static final class Calls {
    static final MethodHandle RESERVE =
        NativeCode.downcall(
            "trace-reserve",
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT));
    static final MethodHandle SWITCH =
        NativeCode.downcall(
            "trace-switch",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG));
  }

  SequencePath(RingMemory ring) {
    super(ring);
  }

  /** Whether the machine has what it takes. */
  static boolean isAvailable() {
    return Rseq.isAvailable() && Membarrier.isRseqAvailable() && Stamps.best() == Stamps.TSC;
  }

  @Override
  long tryReserve(long size, int owner) {
    try {
      return (long) Calls.RESERVE.invokeExact(table, size, 0L, owner);
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  @Override
  void move(int row, long expected, long offset, long place, long word) {
    try {
      int _ = (int) Calls.SWITCH.invokeExact(table, row, expected, offset, place, word);
    } catch (Throwable t) {
      throw Thrown.unchecked(t);
    }
  }

  @Override
  int row() {
    return Rseq.cpu();
  }

  /**
   * A record that is still reserved when the next one of its CPU is reserved belongs to a thread
   * that was interrupted in the middle. The sequence looks at the record before its own, and notes
   * its own offset if that is so; no record is left out, since every one but the newest has one
   * behind it. Walking every sub-buffer before it is used again cost 2 ns for each event.
   */
  @Override
  boolean maybePending(int row, long offset) {
    return Store.getLongVolatile(memory, rowPlace(row) + RingLayout.SUSPECT) > offset;
  }

  @Override
  boolean needsZeros() {
    return false;
  }

  @Override
  void flush(int row) {
    if (!flushHere(row)) {
      flushFromElsewhere(row);
    }
  }

  /** On the row's own CPU the step is a producer's, and holds nobody up; whether it was taken. */
  private boolean flushHere(int row) {
    long at = rowPlace(row);
    long offset = Store.getLongVolatile(memory, at);
    if (!isBegun(offset)) {
      return true;
    }
    if (Rseq.cpu() == row) {
      move(row, offset, next(offset), place(row, offset), RingLayout.PADDING);
    }
    return Store.getLongVolatile(memory, at) >= next(offset);
  }

  private void flushFromElsewhere(int row) {
    close(row, RingLayout.FLUSHING); // R.6, until it is open again
    try {
      Membarrier.fenceCpu(row);
      long at = rowPlace(row);
      long offset = Store.getLongVolatile(memory, at);
      if (isBegun(offset)) {
        Store.putLong(memory, place(row, offset), RingLayout.PADDING);
        Store.setLongRelease(memory, at, next(offset));
      }
    } finally {
      open(row, RingLayout.FLUSHING);
    }
  }

  @Override
  void end() {
    for (int row = 0; row < geometry.rows(); row++) {
      close(row, RingLayout.ENDED);
    }
    Membarrier.fenceRseq();
  }
}
