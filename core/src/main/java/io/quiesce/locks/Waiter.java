package io.quiesce.locks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread's place in a queue. Made for each wait and left to the garbage collector, so a place
 * that its thread has left can stay where it is until somebody passes it by.
 */
final class Waiter {
  static final int WAITING = 0;

  /** It is this thread's turn; for good. */
  static final int GRANTED = 1;

  /** The thread has given up. */
  static final int ABANDONED = 2;

  /** It has given up, and somebody has taken it upon himself to pass its position on; for good. */
  static final int PASSED = 3;

  private static final VarHandle STATE;
  private static final VarHandle NEXT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Waiter.class, "state", int.class);
      NEXT = lookup.findVarHandle(Waiter.class, "next", Waiter.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  final @Nullable Thread thread;
  private volatile int state;
  private @Nullable Waiter next;

  /** Set before the last look and the park; whoever changes what it waits for looks at it after. */
  volatile boolean parked;

  /** For the nodeless lock: by-passed too often or too long, and wants to be handed the lock. */
  volatile boolean impatient;

  /** For a condition: who else was signalled under the same hold of the lock. */
  @Nullable Waiter alsoToWake;

  /**
   * For a condition: where it waits for the lock; the signaller queues it, and only after grant.
   */
  @Nullable Waiter lockPlace;

  /**
   * For the nodeless lock: when it became the head (0: not yet), stored before it is made that. For
   * a condition, if waits are measured: when it was signalled; published by the grant.
   */
  long since;

  // For the nodeless lock, the thread's alone: how often it has rested, and whether it was woken
  // and somebody else was faster.
  byte rests;
  boolean wokenInVain;

  /** For the nodeless lock: unlocks that saw it as the head; the holder's alone. */
  int passedBy;

  Waiter(@Nullable Thread thread) {
    this.thread = thread;
  }

  int state() {
    return state;
  }

  /** Gives the turn; false if the thread has given up. Full barrier. */
  boolean grant() {
    return STATE.compareAndSet(this, WAITING, GRANTED);
  }

  /** Gives up; false if the turn has been given already. Full barrier. */
  boolean abandon() {
    return STATE.compareAndSet(this, WAITING, ABANDONED);
  }

  /** Takes over passing on the position of one that has given up; true for one thread. */
  boolean claim() {
    return STATE.compareAndSet(this, ABANDONED, PASSED);
  }

  boolean hasGivenUp() {
    return state >= ABANDONED;
  }

  @Nullable Waiter next() {
    return (Waiter) NEXT.getAcquire(this);
  }

  void setNext(@Nullable Waiter next) {
    NEXT.setRelease(this, next);
  }

  /** The next one, which has exchanged the tail and is about to store the link. */
  @SuppressWarnings("ThreadPriorityCheck") // Yields to the one that was preempted in between.
  Waiter awaitNext() {
    Waiter found = next();
    for (int i = 0; found == null; i++) {
      if (i < 128) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
      found = next();
    }
    return found;
  }

  /** Wakes the thread if it is parked, or about to; a volatile look, so order it yourself. */
  void wake() {
    if (parked) {
      parked = false; // once for each park
      LockSupport.unpark(thread);
    }
  }

  /**
   * Drops those behind this one that have given up and are not the last, so that a storm of
   * time-outs does not pile up behind a long holder. Any thread, best effort: a link only ever
   * skips places that nobody is in. Compare-and-set, since this one may be the place that an {@link
   * McsLock} uses again: its link has been cleared by then, and must not come back.
   */
  void unlinkAbandoned() {
    Waiter at = this;
    Waiter candidate = at.next();
    while (candidate != null) {
      Waiter after = candidate.next();
      if (after == null) {
        return;
      }
      if (candidate.hasGivenUp()) {
        if (!NEXT.compareAndSet(at, candidate, after)) {
          return; // cleared, or somebody else is at it
        }
      } else {
        at = candidate;
      }
      candidate = after;
    }
  }
}
