package io.quiesce.trace.ring;

/** Passes on what a method handle threw. */
public final class Thrown {
  private Thrown() {}

  /** The same, unchanged: what is called through handles here throws nothing checked. */
  public static RuntimeException unchecked(Throwable t) {
    if (t instanceof Error error) {
      throw error;
    }
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }
}
