package io.quiesce.bench.subjects;

/** One thread's way of reading. Made by the thread that uses it, at the start of each round. */
interface ReadLoop {

  /** Makes a loop for the calling thread. */
  @FunctionalInterface
  interface Factory {
    ReadLoop newLoop();
  }

  /** Before the first batch of a round. */
  default void begin() {}

  /** Reads {@link Team#BATCH} times, each in a section of its own; the sum of what was read. */
  long batch();

  /** Between two batches: where an event loop would announce a quiescent state. */
  default void betweenBatches() {}

  /** After the last batch of a round. */
  default void end() {}
}
