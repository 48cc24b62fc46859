package io.quiesce.bench.subjects;

/** When each thread of a round began and ended, and how much it did. */
final class Marks {
  /** Of each thread on lines of its own. */
  private final long[][] marks;

  Marks(int threads) {
    marks = new long[threads][16];
  }

  void set(int index, long start, long end, long operations) {
    marks[index][0] = start;
    marks[index][1] = end;
    marks[index][2] = operations;
  }

  long operations() {
    long sum = 0;
    for (long[] mark : marks) {
      sum += mark[2];
    }
    return sum;
  }

  /**
   * The CPU time of an operation, about: wall time from the first start to the last end, times the
   * CPUs that the threads can have had, over all operations. More threads than CPUs do not make an
   * operation dearer than it is.
   */
  double ns() {
    long start = Long.MAX_VALUE;
    long end = Long.MIN_VALUE;
    for (long[] mark : marks) {
      start = Math.min(start, mark[0]);
      end = Math.max(end, mark[1]);
    }
    int cpus = Math.min(marks.length, Runtime.getRuntime().availableProcessors());
    return (double) (end - start) * cpus / operations();
  }
}
