package io.quiesce.bench.subjects;

import java.util.concurrent.locks.LockSupport;

/** One way to close a block under its readers. */
interface CloseWay {
  /** Bytes of a block. */
  int BYTES = 4096;

  /** Words that readers walk over. */
  int WORDS = BYTES / 8;

  /** A block, as some way holds it. */
  abstract class Block {
    /** When it was freed, as told by {@code System.nanoTime()}, or 0. */
    volatile long freedAt;
  }

  /** A new block, not yet visible to readers. */
  Block make();

  /** What readers see now. For the closer, the only one who replaces. */
  Block current();

  /** Publishes a block and closes the one before, without waiting longer than the way must. */
  void replace(Block next);

  /** A read section with some loads in it; their sum. */
  long read(int accesses);

  /** Waits until every block closed so far is freed. */
  void settle();

  /** Waits until a block is freed. */
  default long awaitFreed(Block block) {
    while (true) {
      long at = block.freedAt;
      if (at != 0) {
        return at;
      }
      LockSupport.parkNanos(20_000);
    }
  }
}
