package io.quiesce.verify.stress;

import io.quiesce.linux.Membarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The protocol of {@code Reader} and {@code GracePeriod} for one reader, copied with its access
 * modes and nothing else, so that a twin can leave out one step. That the copy is faithful is shown
 * by its healthy form passing the tests that the twins fail.
 */
class MiniRcu {
  private static final VarHandle CTR;
  private static final VarHandle COUNTER;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      CTR = lookup.findVarHandle(MiniRcu.class, "ctr", long.class);
      COUNTER = lookup.findVarHandle(MiniRcu.class, "counter", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** What stands between the updater's stores and its look at the reader. */
  enum UpdaterBarrier {
    PROCESS_WIDE,
    FULL_FENCE,
    NONE
  }

  private final boolean readerFence;
  private final UpdaterBarrier barrier;
  private long ctr;
  private long counter = 1;

  MiniRcu(boolean readerFence, UpdaterBarrier barrier) {
    this.readerFence = readerFence;
    this.barrier = barrier;
  }

  void enter() {
    CTR.setOpaque(this, (long) COUNTER.getOpaque(this)); // A.1
    if (readerFence) {
      VarHandle.fullFence(); // A.3
    }
  }

  void exit() {
    CTR.setRelease(this, 0L); // A.2
  }

  void synchronize() {
    VarHandle.fullFence(); // G.1
    barrier(barrier);
    long target = (long) COUNTER.getOpaque(this) + 1;
    COUNTER.setVolatile(this, target);
    for (long seen = look(); seen != 0 && seen < target; seen = look()) {
      Thread.yield();
    }
  }

  private long look() {
    return (long) CTR.getAcquire(this); // A.2
  }

  static void barrier(UpdaterBarrier barrier) {
    switch (barrier) {
      case PROCESS_WIDE -> Membarrier.fence();
      case FULL_FENCE -> VarHandle.fullFence();
      case NONE -> {}
    }
  }
}
