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
 * <p><em>Bounded by-passing.</em> A head that has waited for {@link #PATIENCE_NANOS} as the head
 * sets its place impatient; the next unlock leaves the word at 1 and grants the lock to it. With n
 * waiters in front a thread waits at most n + 1 times that, the length of the sections, and what
 * the scheduler takes to run a woken thread.
 *
 * <p><em>Nobody to wake, no fence.</em> The unlock is a plain store of 0 and a look at {@code
 * head}, and nothing orders the two. Against a waiter that queued and parked in between, the waiter
 * does the ordering: one that came to an empty queue parks first for {@link #FIRST_PARK_NANOS}
 * only, and then runs the process-wide barrier before its last look (L.4). Where there is no such
 * barrier the unlock is a volatile store. Once the queue is not empty, unlocks see it and use full
 * fences.
 *
 * <p>A waiter that gives up marks its place; the same compare-and-set decides between that and the
 * grant (L.3). A head that gives up passes its position on and wakes the new head.
 *
 * <p>With {@link WaitPolicy#SPIN} and without the fast path this is the lock of the 2002 experiment
 * ({@link #asIn2002}). Space: 40 bytes; each waiter one place of 32 bytes.
 *
 * <p>Source: Stultz and the readers of the MCS lock thread, January 2002 (nodeless MCS); Dice,
 * "Malthusian locks", 2017, for letting newcomers in.
 */
public final class NodelessMcsLock extends ExclusiveLock {
  @Serial private static final long serialVersionUID = 1L;

  /** How long a head lets newcomers pass: 1 ms. */
  public static final long PATIENCE_NANOS = Long.getLong("pat", 1_000_000);

  /** A first park of one that came to an empty queue: 200 us. */
  private static final long FIRST_PARK_NANOS = 200_000;

  private static final int SPINS_BEFORE_QUEUE = Integer.getInteger("sbq", 64);

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
  private final WaitPolicy policy;
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

  @Override
  boolean tryAcquire() {
    return locked == 0 && (newcomers || tail == null) && LOCKED.compareAndSet(this, 0, 1);
  }

  @Override
  Outcome acquire(Thread current, boolean interruptible, long nanos) {
    if (newcomers && !current.isVirtual()) {
      for (int i = 0; i < SPINS_BEFORE_QUEUE; i++) {
        Thread.onSpinWait();
        if (tryAcquire()) {
          return Outcome.ACQUIRED;
        }
      }
    }
    Waiter place = new Waiter(current); // before the exchange: there may be no memory
    Waiter previous = (Waiter) TAIL.getAndSet(this, place);
    if (previous == null) {
      place.alone = true;
      head = place;
    } else {
      previous.setNext(place);
    }
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

  /** A waiter's look: granted, or the head and the word is free. */
  private boolean come(Waiter place) {
    if (place.state() == Waiter.GRANTED) {
      return true;
    }
    if (head != place) {
      return false;
    }
    if (locked == 0 && LOCKED.compareAndSet(this, 0, 1)) {
      return true;
    }
    if (!place.impatient
        && policy != WaitPolicy.SPIN
        && place.looks++ % LOOKS_BETWEEN_CLOCKS == 0) {
      long now = System.nanoTime();
      if (place.headSince == 0) {
        place.headSince = now;
      } else if (now - place.headSince > PATIENCE_NANOS) {
        place.impatient = true;
      }
    }
    return false;
  }

  private static final int LOOKS_BETWEEN_CLOCKS = 32;

  /** L.4: only one that came to an empty queue may have been missed by an unlock. */
  @Override
  long beforePark(Waiter place) {
    if (place.headSince != 0) {
      place.looks = 0; // the next look is after a park: look at the clock as well
    }
    if (!ASYMMETRIC || !place.alone) {
      return head == place && !place.impatient ? PATIENCE_NANOS : FOREVER;
    }
    if (place.headSince != 0 && System.nanoTime() - place.headSince > FIRST_PARK_NANOS) {
      Membarrier.fence();
      place.alone = false;
      return PATIENCE_NANOS;
    }
    return FIRST_PARK_NANOS;
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
    if (HEAD.getOpaque(this) != null) {
      releaseToQueue();
      return;
    }
    if (ASYMMETRIC) {
      LOCKED.setRelease(this, 0); // L.1
    } else {
      LOCKED.setVolatile(this, 0);
    }
    if (HEAD.getOpaque(this) != null) {
      VarHandle.fullFence(); // L.4: the store before the look at "parked"
      wakeHead();
    }
  }

  private void releaseToQueue() {
    Waiter first = head;
    if (first != null && first.impatient && first.grant()) {
      first.wake();
      return;
    }
    locked = 0; // volatile: before the look at the head
    wakeHead();
  }

  private void wakeHead() {
    Waiter first = head;
    if (first != null) {
      first.wake();
    }
  }

  @Override
  public boolean isLocked() {
    return locked != 0;
  }
}
