package io.quiesce.verify.stress;

import io.quiesce.verify.stress.MiniRcu.UpdaterBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The protocol of {@code SleepableCounts} for one reader on one CPU, copied with its access modes:
 * the restartable sequence's plain add to a word that one CPU owns is an opaque load and store
 * here, right for the one thread that adds.
 */
class MiniCounts {
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int UNLOCKS = 2;

  private final UpdaterBarrier barrier;
  private final long[] words = new long[4];
  private volatile int generation;

  MiniCounts(UpdaterBarrier barrier) {
    this.barrier = barrier;
  }

  int enter() {
    int g = generation;
    add(g);
    return g;
  }

  void exit(int g) {
    add(UNLOCKS + g);
  }

  private void add(int word) {
    COUNT.setOpaque(words, word, (long) COUNT.getOpaque(words, word) + 1);
  }

  void synchronize() {
    VarHandle.fullFence(); // G.1
    MiniRcu.barrier(barrier); // S.3
    drain(generation ^ 1);
    generation ^= 1;
    drain(generation ^ 1);
    MiniRcu.barrier(barrier); // S.3
  }

  private void drain(int g) {
    while (!isEmpty(g)) {
      Thread.yield();
    }
  }

  private boolean isEmpty(int g) {
    long unlocks = (long) COUNT.getAcquire(words, UNLOCKS + g);
    MiniRcu.barrier(barrier); // S.2
    return (long) COUNT.getAcquire(words, g) == unlocks;
  }
}
