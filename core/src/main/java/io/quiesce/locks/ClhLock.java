package io.quiesce.locks;

import java.io.Serial;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * First come, first served through a list that runs backwards: each thread waits for its
 * predecessor's place.
 *
 * <h2>Algorithm</h2>
 *
 * <pre>
 *   tail --&gt; W2 --waits for--&gt; W1 --waits for--&gt; holder's place
 * </pre>
 *
 * To lock, a thread exchanges {@code tail} for a new place and waits until the place it got back is
 * done, which it then takes back (so that one that finds the last place done can take it as it is:
 * no place is made without contention). To unlock, it marks its own place done: one release store
 * and no look for a successor, which is what the lock is for. The other side of that: a holder does
 * not know who waits for it, so a waiter that parks must say so in its predecessor's place.
 *
 * <p>A thread that gives up leaves a pointer to its predecessor in its place; whoever waits for the
 * place goes on with that one. Places are left to the garbage collector.
 *
 * <p>Waits as an {@link McsLock} does. Space: 40 bytes and a place of 24; each waiter a place and
 * 64 bytes while it waits.
 *
 * <p>Source: Craig, 1993; Landin and Hagersten, 1994; Scott, "Non-blocking timeout in scalable
 * queue-based spin locks", 2002.
 */
public final class ClhLock extends ExclusiveLock {
  @Serial private static final long serialVersionUID = 1L;

  private static final VarHandle TAIL;
  private static final VarHandle DONE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(ClhLock.class, "tail", Place.class);
      DONE = lookup.findVarHandle(Place.class, "done", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** One thread's place. */
  private static final class Place {
    volatile boolean done;

    /** Where to go on, from a place whose thread has given up. */
    volatile @Nullable Place instead;

    /** Who waits for this place and has parked, or is about to. */
    volatile @Nullable Waiter successor;

    /** Takes the lock from this place, if it is done. Acquire: L.1. */
    boolean take() {
      return done && DONE.compareAndSet(this, true, false);
    }
  }

  private transient volatile Place tail;
  private transient Place holder;

  /** How its waiters wait. */
  private final WaitPolicy policy;

  /**
   * A lock that spins, yields, then parks.
   *
   * @param name appears in reports
   */
  public ClhLock(String name) {
    this(name, WaitPolicy.SPIN_YIELD_PARK, null);
  }

  /**
   * A lock that waits in another way.
   *
   * @param name appears in reports
   * @param policy how to wait
   * @param statistics where to count; null for none
   */
  public ClhLock(String name, WaitPolicy policy, @Nullable LockStatistics statistics) {
    super(name, statistics);
    this.policy = policy;
    Place free = new Place();
    free.done = true;
    this.tail = free;
    this.holder = free;
  }

  /**
   * Takes the last place again if it is done: no new place, and the tail stays. Somebody who has
   * just queued behind it competes for it in the same way, and waits for us if we win.
   *
   * <p>The tail may be the place of one that has given up: when two give up one after the other,
   * the second puts the tail back to the place of the first before that says where to go on.
   */
  @Override
  boolean tryAcquire() {
    Place last = tail;
    while (!last.take()) {
      last = last.instead;
      if (last == null) {
        return false;
      }
    }
    holder = last;
    return true;
  }

  /** What a waiter waits for; only its own thread uses it. */
  private static final class Wait implements Turn {
    Place predecessor;

    Wait(Place predecessor) {
      this.predecessor = predecessor;
    }

    @Override
    public boolean come(Waiter waiter) {
      while (true) {
        Place before = predecessor;
        if (waiter.parked) {
          before.successor = waiter; // volatile: before the looks that follow
        }
        if (before.take()) {
          return true;
        }
        Place instead = before.instead;
        if (instead == null) {
          return false;
        }
        predecessor = instead;
      }
    }
  }

  @Override
  Outcome acquire(Thread current, boolean interruptible, long nanos) {
    Place place = new Place();
    Waiter waiter = new Waiter(current);
    Wait wait = new Wait(place);
    Place before = (Place) TAIL.getAndSet(this, place);
    wait.predecessor = before;
    Outcome outcome = await(waiter, policy, wait, interruptible, nanos);
    if (outcome == Outcome.ACQUIRED) {
      holder = place;
      return outcome;
    }
    before = wait.predecessor;
    // Nobody behind: the place can go as if it had never been.
    if (!TAIL.compareAndSet(this, place, before)) {
      place.instead = before; // volatile: before the look at who parked
      Waiter successor = place.successor;
      if (successor != null) {
        successor.wake();
      }
    }
    return outcome;
  }

  @Override
  void release() {
    Place place = holder;
    DONE.setVolatile(place, true); // L.1, L.2: and before the look at who parked
    Waiter successor = place.successor;
    if (successor != null) {
      successor.wake();
    }
  }

  @Override
  public boolean isLocked() {
    Place last = tail;
    for (Place instead = last.instead; instead != null; instead = last.instead) {
      last = instead;
    }
    return !last.done;
  }
}
