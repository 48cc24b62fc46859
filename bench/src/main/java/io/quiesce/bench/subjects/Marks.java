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

  /** The times of all threads, each from its start to its end, added up. */
  long total() {
    long sum = 0;
    for (long[] mark : marks) {
      sum += mark[1] - mark[0];
    }
    return sum;
  }

  /**
   * The CPU time of an operation, about: wall time from the first start to the last end, times the
   * CPUs that the threads can have had, over all operations. More threads than CPUs do not make an
   * operation dearer than it is.
   */
  double ns() {
    int cpus = Math.min(marks.length, Runtime.getRuntime().availableProcessors());
    return (double) wall() * cpus / operations();
  }

  /** Operations of all threads in a second of wall time; never 0, which is no figure. */
  double rate() {
    return Math.max(1, operations()) * 1e9 / Math.max(1, wall());
  }

  /** How many times as much the busiest thread did as the idlest one. */
  double spread() {
    long least = Long.MAX_VALUE;
    long most = 0;
    for (long[] mark : marks) {
      least = Math.min(least, mark[2]);
      most = Math.max(most, mark[2]);
    }
    return (double) most / Math.max(1, least);
  }

  private long wall() {
    long start = Long.MAX_VALUE;
    long end = Long.MIN_VALUE;
    for (long[] mark : marks) {
      start = Math.min(start, mark[0]);
      end = Math.max(end, mark[1]);
    }
    return end - start;
  }
}
