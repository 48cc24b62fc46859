package io.quiesce.locks;

import io.quiesce.linux.Membarrier;
import io.quiesce.linux.Platform;
import java.io.Serial;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The lock to use unless there is a reason for another: one word that newcomers may take, a queue
 * for those that must wait, and a bound on how long the first of them can be passed by.
 *
 * <h2>Algorithm</h2>
 *
 * <pre>
 *   locked: 0 or 1 &lt;--- compare-and-set --- newcomers, and the head
 *   head --&gt; W1 --next--&gt; W2 --next--&gt; W3 &lt;-- tail         W2 and W3 wait to become the head
 * </pre>
 *
 * Locking sets the word from 0 to 1; unlocking is one store of 0. Who cannot have it spins a little
 * and then queues as in an {@link McsLock}; only the head of the queue contends with newcomers for
 * the word. When it gets it, its successor becomes the head, without being woken: the holder does
 * that when it unlocks. So a hand-over to a thread that does not run, which is what makes queue
 * locks collapse with more threads than CPUs, happens only on request:
 *
 * <p><em>Bounded by-passing.</em> A head that was woken {@link #PATIENCE_WAKE_UPS} times in vain,
 * or finds that it has been the head for {@link #PATIENCE_NANOS}, sets its place impatient; the
 * next unlock leaves the word at 1 and grants the lock to it. Unlocks look at the time themselves
 * in one of 128 by-passes, because a head that the scheduler does not run finds nothing: without
 * that the longest wait is a third longer, and threads that share a CPU with the holder get less
 * than their part. With n waiters in front a thread waits at most n + 1 times that, the length of
 * the sections, and what the scheduler takes to run a woken thread. Longer patience means fewer
 * changes of the running thread, so more throughput and fewer that wait at all; shorter patience
 * means shorter waits of those that do.
 *
 * <p><em>A head that was woken in vain rests.</em> Waking is the dearest part of an unlock. When a
 * newcomer was faster than a woken head, the lock is much wanted and the next wake-up would most
 * likely be in vain too, so the head sleeps for {@link #SHORTEST_REST_NANOS}, then for twice as
 * long, without saying that it wants to be woken.
 *
 * <p><em>No fence in the unlock.</em> An unlock is a release store of 0 and a look at {@code head}
 * and whether it is parked; nothing orders the two, and the look may miss a head that parks at the
 * same moment. The head makes up for that (L.4): until it is impatient it parks for {@link
 * #FIRST_PARK_NANOS} at most; an impatient one runs the process-wide barrier between saying that it
 * parks and its last look. Where there is no such barrier the unlock is a volatile store.
 *
 * <p>A waiter that gives up marks its place; the same compare-and-set decides between that and the
 * grant (L.3). A head that gives up passes its position on and wakes the new head.
 *
 * <p>With {@link WaitPolicy#SPIN} and without the fast path this is the lock of the 2002 experiment
 * ({@link #asIn2002}). Space: 72 bytes; each waiter one place of 48 bytes.
 *
 * <p>Source: Stultz and the readers of the MCS lock thread, January 2002 (nodeless MCS); Dice,
 * "Malthusian locks", 2017, for letting newcomers in.
 */
public final class NodelessMcsLock extends ExclusiveLock {
  @Serial private static final long serialVersionUID = 1L;

  /** How long a head lets newcomers pass by: 1.25 ms. */
  public static final long PATIENCE_NANOS = 1_250_000;

  /** How often a head lets itself be woken in vain: 16 times. */
  public static final int PATIENCE_WAKE_UPS = 16;

  private static final long SHORTEST_REST_NANOS = 200_000;
  private static final long LONGEST_REST_NANOS = 400_000;
  private static final long FIRST_PARK_NANOS = 200_000;

  /** A power of two. A clock costs as much as four uncontended pairs, so this is in the noise. */
  private static final int PASSES_BETWEEN_CLOCKS = 128;

  /** Looks of one that finds the lock taken, before it queues: some hundred nanoseconds. */
  private static final int LOOKS_BEFORE_QUEUE = 10;

  /** Looks of an impatient head before it parks; the holder's section may be about to end. */
  private static final int LOOKS_FOR_GRANT = 256;

  /** Pauses in which the store of an unlock leaves its CPU, as good as always. */
  private static final int PAUSES_FOR_STORES = 8;

  /** Whether the waiter can make up for a fence that the unlock does not have. */
  private static final boolean ASYMMETRIC = Platform.membarrier();

  private static final VarHandle LOCKED;
  private static final VarHandle HEAD;
  private static final VarHandle TAIL;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      LOCKED = lookup.findVarHandle(NodelessMcsLock.class, "locked", int.class);
      HEAD = lookup.findVarHandle(NodelessMcsLock.class, "head", Waiter.class);
      TAIL = lookup.findVarHandle(NodelessMcsLock.class, "tail", Waiter.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private transient volatile int locked;
  private transient volatile @Nullable Waiter head;
  private transient volatile @Nullable Waiter tail;

  /** How its waiters wait. */
  private final WaitPolicy policy;

  /** Whether the word may be taken without queuing. */
  private final boolean newcomers;

  private final transient Turn turn = this::come;

  /**
   * A lock that lets newcomers in, and whose waiters spin, then park.
   *
   * @param name appears in reports
   */
  public NodelessMcsLock(String name) {
    this(name, null);
  }

  /**
   * A lock with statistics.
   *
   * @param name appears in reports
   * @param statistics where to count; null for none
   */
  public NodelessMcsLock(String name, @Nullable LockStatistics statistics) {
    this(name, WaitPolicy.SPIN_PARK, true, statistics);
  }

  private NodelessMcsLock(
      String name, WaitPolicy policy, boolean newcomers, @Nullable LockStatistics statistics) {
    super(name, statistics);
    this.policy = policy;
    this.newcomers = newcomers;
  }

  /**
   * The lock as it was in 2002, for comparison: everybody queues, and waits by spinning. Only for
   * threads that are pinned to CPUs of their own.
   *
   * @param name appears in reports
   * @return a new lock
   */
  public static NodelessMcsLock asIn2002(String name) {
    return new NodelessMcsLock(name, WaitPolicy.SPIN, false, null);
  }

  /** No look before the compare-and-set: without contention the look would be in vain. */
  @Override
  boolean tryAcquire() {
    return (newcomers || tail == null) && LOCKED.compareAndSet(this, 0, 1);
  }

  @Override
  Outcome acquire(Thread current, boolean interruptible, long nanos) {
    if (newcomers && !current.isVirtual()) {
      for (int i = 0; i < LOOKS_BEFORE_QUEUE; i++) {
        Thread.onSpinWait();
        if (locked == 0 && tryAcquire()) {
          return Outcome.ACQUIRED;
        }
      }
    }
    Waiter place = new Waiter(current); // before the exchange: there may be no memory
    enqueue(place);
    Outcome outcome = await(place, policy, turn, interruptible, nanos);
    if (outcome != Outcome.ACQUIRED && place.abandon()) {
      giveUp(place);
      return outcome;
    }
    if (outcome == Outcome.INTERRUPTED) {
      current.interrupt(); // granted in that very moment: the interrupt is the caller's to see
    }
    pass(place, false);
    return Outcome.ACQUIRED;
  }

  /** Also for a waiter of a condition, by the one that signals it and holds the lock. */
  @Override
  boolean enqueue(Waiter place) {
    Waiter previous = (Waiter) TAIL.getAndSet(this, place);
    if (previous == null) {
      place.since = now();
      head = place; // volatile: before the look at "parked" in the unlock to come
    } else {
      previous.setNext(place);
    }
    return true;
  }

  @Override
  boolean takesSignalled() {
    return true;
  }

  @Override
  void acquireEnqueued(Waiter place) {
    while (await(place, policy, turn, false, FOREVER) != Outcome.ACQUIRED) {
      Thread.onSpinWait(); // no memory or stack to park, but a wait for a condition ends with the
      // lock
    }
    pass(place, false);
  }

  /** A waiter's look: granted, or the head and the word is free. */
  private boolean come(Waiter place) {
    if (place.state() == Waiter.GRANTED) {
      return true;
    }
    if (head != place) {
      return false;
    }
    return locked == 0 && LOCKED.compareAndSet(this, 0, 1);
  }

  /** After a wake-up in vain, and once: until the next one. */
  @Override
  long restBeforePark(Waiter place) {
    if (!place.wokenInVain || place.impatient || head != place) {
      return 0;
    }
    place.wokenInVain = false;
    long rest = SHORTEST_REST_NANOS << Math.min(place.rests++, 8);
    return Math.min(Math.min(rest, LONGEST_REST_NANOS), patienceLeft(place));
  }

  private static long patienceLeft(Waiter head) {
    return head.rests > PATIENCE_WAKE_UPS ? 0 : PATIENCE_NANOS - (System.nanoTime() - head.since);
  }

  private static long now() {
    long now = System.nanoTime();
    return now == 0 ? 1 : now;
  }

  /** The holder's look on behalf of the head, which may not run; the count is the holder's. */
  private static boolean isOverdue(Waiter head) {
    if ((++head.passedBy & (PASSES_BETWEEN_CLOCKS - 1)) != 0) {
      return false;
    }
    long since = head.since; // 0: a racy look, and it is not to be seen yet
    return since != 0 && System.nanoTime() - since > PATIENCE_NANOS;
  }

  /** L.4: the look that follows must not miss an unlock whose look missed {@code parked}. */
  @Override
  long beforePark(Waiter place) {
    if (head != place) {
      return FOREVER; // who makes it the head orders that before its look at "parked"
    }
    if (!place.impatient) {
      long left = patienceLeft(place);
      if (left > 0) {
        if (!ASYMMETRIC) {
          return left;
        }
        for (int i = 0; i < PAUSES_FOR_STORES; i++) {
          Thread.onSpinWait();
        }
        return Math.min(left, FIRST_PARK_NANOS);
      }
      place.impatient = true;
    }
    for (int i = 0; i < LOOKS_FOR_GRANT; i++) {
      if (place.state() == Waiter.GRANTED) {
        return 1; // the look that follows ends the wait
      }
      Thread.onSpinWait();
    }
    if (ASYMMETRIC) {
      Membarrier.fence();
    }
    return FOREVER;
  }

  /**
   * The head is done: the next one that has not given up becomes the head.
   *
   * @param wake whether to wake it; a holder does that when it unlocks
   */
  private void pass(Waiter from, boolean wake) {
    Waiter at = from;
    while (true) {
      Waiter next = at.next();
      if (next == null) {
        if (TAIL.compareAndSet(this, at, (Waiter) null)) {
          // A newcomer may have become the head of the empty queue already.
          HEAD.compareAndSet(this, from, (Waiter) null);
          return;
        }
        next = at.awaitNext();
      }
      if (next.hasGivenUp()) {
        at = next;
        continue;
      }
      next.since = now();
      head = next; // volatile
      if (wake) {
        next.wake();
      }
      // It may have given up, and looked whether it is the head, just before: one of us passes on.
      if (!next.hasGivenUp() || !next.claim()) {
        return;
      }
      from = next;
      at = next;
    }
  }

  private void giveUp(Waiter place) {
    if (head == place && place.claim()) {
      pass(place, true);
      return;
    }
    Waiter first = head;
    if (first != null) {
      first.unlinkAbandoned();
    }
  }

  @Override
  void release() {
    Waiter first = (Waiter) HEAD.getOpaque(this);
    if (first != null && (first.impatient || isOverdue(first)) && first.grant()) { // L.2
      first.wake();
      return;
    }
    if (ASYMMETRIC) {
      LOCKED.setRelease(this, 0); // L.1; L.4: no fence before the look
      first = (Waiter) HEAD.getOpaque(this); // again: a head may have given up meanwhile
    } else {
      LOCKED.setVolatile(this, 0); // L.1
      first = head; // volatile too: L.4 without the barrier
    }
    if (first != null) {
      first.wake();
    }
  }

  @Override
  public boolean isLocked() {
    return locked != 0;
  }
}
