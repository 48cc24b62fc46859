package io.quiesce.bench.subjects;

/** Where results go that nobody wants, so that no loop is dead code. */
final class Sink {
  private static volatile long last;

  private Sink() {}

  static void take(long value) {
    last = value;
  }

  static long last() {
    return last;
  }
}
