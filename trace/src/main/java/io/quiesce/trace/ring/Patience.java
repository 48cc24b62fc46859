package io.quiesce.trace.ring;

/**
 * How often, and since when, pending records were found in each row: both must be much before their
 * owners are looked for, which stops the program for a moment. Not thread-safe.
 */
final class Patience {
  private final int[] looks;
  private final long[] since;

  Patience(int rows) {
    this.looks = new int[rows];
    this.since = new long[rows];
  }

  /** Counts a look that found some; whether the owners are to be looked for now. */
  boolean isOver(int row) {
    long now = System.nanoTime();
    if (looks[row]++ == 0) {
      since[row] = now;
    }
    return looks[row] % Consumer.PATIENCE_LOOKS == 0 && now - since[row] >= Consumer.PATIENCE_NANOS;
  }

  /** Looks that found some since the last {@link #reset}. */
  int looks(int row) {
    return looks[row];
  }

  /** Nothing is pending there, or something else is. */
  void reset(int row) {
    looks[row] = 0;
  }
}
