package io.quiesce.locks;

/** Looks that need nothing but the place. */
final class Turns {
  static final ExclusiveLock.Turn GRANTED = place -> place.state() == Waiter.GRANTED;

  private Turns() {}
}
