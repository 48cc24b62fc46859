package io.quiesce.linux;

/**
 * Passes on what a method handle threw. On its own, so that handling an error never initialises a
 * class that needs native access.
 */
final class Thrown {
  private Thrown() {}

  /** What a handle threw, unchanged; native calls throw only unchecked things. */
  static RuntimeException unchecked(Throwable t) {
    if (t instanceof Error error) {
      throw error;
    }
    return t instanceof RuntimeException exception
        ? exception
        : new IllegalStateException("a native call threw a checked exception", t);
  }
}
