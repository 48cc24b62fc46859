package io.quiesce.locks;

import java.io.Serial;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A first-come, first-served lock: each waiter waits at a place of its own, and the holder hands
 * the lock to the next.
 *
 * <h2>Algorithm</h2>
 *
 * <pre>
 *   tail ------------------------------.
 *                                      v
 *   holder's place --next--&gt; W1 --next--&gt; W2      W1 and W2 each look at their own state
 * </pre>
 *
 * To lock, a thread <em>exchanges</em> {@code tail} for its place. If there was none, the lock is
 * its own; else it stores the link into its predecessor's place and waits there. To unlock, the
 * holder grants the turn to the next place; if there is none, it takes {@code tail} back to null,
 * and if that fails somebody has exchanged it, so that the link is on its way and is waited for.
 *
 * <p>Without contention no place is made: the lock has one of its own that an uncontended holder
 * uses, so that locking is one compare-and-set of {@code tail} and unlocking another.
 *
 * <p>A waiter that gives up marks its place {@link Waiter#ABANDONED}; the same compare-and-set
 * decides between that and being granted the turn (L.3), so that no hand-over is lost. The holder
 * walks past such places.
 *
 * <p>With {@link WaitPolicy#SPIN} this is the lock of 1991 and of the 2002 experiment; the default
 * {@link WaitPolicy#SPIN_YIELD_PARK} bears more threads than CPUs. It is fair whatever it costs: a
 * hand-over to a thread that does not run waits for the scheduler. Use it where every waiter must
 * have its turn; elsewhere {@link NodelessMcsLock} is many times faster under load.
 *
 * <p>{@code tryLock()} takes a free lock; waiters exist only while it is held. Space: 48 bytes and
 * one place; each waiter one place of 48 bytes.
 *
 * <p>Source: Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory
 * multiprocessors", 1991; Stultz, MCS lock patches, January 2002; Scott and Scherer, "Scalable
 * queue-based spin locks with timeout", 2001, for what a time-out must not lose.
 */
public final class McsLock extends ExclusiveLock {
  @Serial private static final long serialVersionUID = 1L;

  private static final VarHandle TAIL;

  static {
    try {
      TAIL = MethodHandles.lookup().findVarHandle(McsLock.class, "tail", Waiter.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private transient volatile @Nullable Waiter tail;

  /** The place of a holder that met nobody. */
  private final transient Waiter own = new Waiter(null);

  /** The holder's place; the holder's alone. */
  private transient Waiter holder = own;

  /** How its waiters wait. */
  private final WaitPolicy policy;

  /**
   * A lock that spins, yields, then parks.
   *
   * @param name appears in reports
   */
  public McsLock(String name) {
    this(name, WaitPolicy.SPIN_YIELD_PARK);
  }

  /**
   * A lock that waits in another way.
   *
   * @param name appears in reports
   * @param policy how to wait
   */
  public McsLock(String name, WaitPolicy policy) {
    this(name, policy, null);
  }

  /**
   * A lock with statistics.
   *
   * @param name appears in reports
   * @param policy how to wait
   * @param statistics where to count; null for none
   */
  public McsLock(String name, WaitPolicy policy, @Nullable LockStatistics statistics) {
    super(name, statistics);
    this.policy = policy;
  }

  @Override
  boolean tryAcquire() {
    if (tail == null && TAIL.compareAndSet(this, (Waiter) null, own)) {
      holder = own;
      return true;
    }
    return false;
  }

  @Override
  Outcome acquire(Thread current, boolean interruptible, long nanos) {
    Waiter place = new Waiter(current); // before the exchange: there may be no memory
    if (enqueue(place)) {
      Outcome outcome = await(place, policy, Turns.GRANTED, interruptible, nanos);
      if (outcome != Outcome.ACQUIRED && place.abandon()) {
        tidy();
        return outcome;
      }
      // It was granted in that very moment: an interrupt is the caller's to see later.
      if (outcome == Outcome.INTERRUPTED) {
        current.interrupt();
      }
    }
    holder = place;
    return Outcome.ACQUIRED;
  }

  /**
   * Whether the place must be waited at: false if the queue was empty and the lock is its own. A
   * waiter of a condition is put here by the one that signals, who holds the lock.
   */
  @Override
  boolean enqueue(Waiter place) {
    Waiter previous = (Waiter) TAIL.getAndSet(this, place);
    if (previous == null) {
      return false;
    }
    previous.setNext(place);
    return true;
  }

  @Override
  boolean takesSignalled() {
    return true;
  }

  @Override
  void acquireEnqueued(Waiter place) {
    while (await(place, policy, Turns.GRANTED, false, FOREVER) != Outcome.ACQUIRED) {
      Thread.onSpinWait(); // no memory or stack to park, but a wait for a condition ends with the
      // lock
    }
    holder = place;
  }

  /** L.2: the grant is a release of everything the holder did; the next one's look an acquire. */
  @Override
  void release() {
    Waiter place = holder;
    while (true) {
      Waiter next = place.next();
      if (next == null) {
        if (TAIL.compareAndSet(this, place, (Waiter) null)) {
          return;
        }
        next = place.awaitNext();
      }
      if (place == own) {
        own.setNext(null); // it is used again once the tail is null
      }
      if (next.grant()) {
        next.wake();
        return;
      }
      place = next; // its thread has given up: it stands for us now
    }
  }

  /** The holder may hold on for long: those that have given up must not pile up behind it. */
  private void tidy() {
    if (ABANDONED_SEEN.incrementAndGet() % TIDY_EVERY == 0) {
      Waiter from = holder; // racy: any place of the queue will do, or a past one
      if (from != null) {
        from.unlinkAbandoned();
      }
    }
  }

  private static final int TIDY_EVERY = 16;
  private static final AtomicInteger ABANDONED_SEEN = new AtomicInteger();

  @Override
  public boolean isLocked() {
    return tail != null;
  }
}
