package io.quiesce.rcu;

import io.quiesce.linux.Membarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs a domain's grace periods: waits until every section that was open is closed.
 *
 * <h2>Algorithm</h2>
 *
 * A 64-bit counter only grows. A reader that leaves quiescence copies it into its record; a reader
 * that returns stores zero. One grace period is
 *
 * <pre>
 *   barrier        every CPU that runs a thread of ours has a full barrier     (A.1)
 *   counter += 1   readers that come from now on are new
 *   scan           wait for each record until it is zero or not below counter  (A.2)
 * </pre>
 *
 * <p><em>Why it is right.</em> Take a reader and the instant of the barrier on its CPU. If its
 * store into the record came before, the scan sees it and waits while it is older than the counter.
 * If the store came after, so do the loads that follow it in program order, and they see what the
 * updater stored before. A reader that copied the counter long ago and stores it late shows an old
 * value and is waited for, needlessly but safely: the counter never comes round, so an old value
 * can never be taken for a new one. The counter moves <em>after</em> the barrier: a reader whose
 * loads the CPU reorders could otherwise show the new value with pointers that it had loaded
 * before.
 *
 * <p><em>Why one pass and one barrier</em>, where userspace RCU has two of each. Its counter is one
 * bit of parity; a late store of a stale parity looks new, hence the second flip. And its readers
 * leave by a plain store, hence the barrier at the end; ours leave by a release store, which costs
 * nothing on x86-64 and one {@code stlr} on AArch64. The model of both is in {@code verify/spin}.
 *
 * <p>The sleepable counts (see {@link SleepableCounts}) are waited for as well once anybody has
 * used them.
 *
 * <h2>Sharing</h2>
 *
 * {@code sequence} is even when idle, odd while a grace period runs. A caller takes as its cookie
 * the even value at which a grace period that has not begun yet will have ended, then becomes the
 * leader or waits for one; whoever finds its cookie reached returns. So any number of callers that
 * wait together share at most two grace periods.
 *
 * <h2>Waiting</h2>
 *
 * The waiter spins, yields, then sleeps for 20 us doubling to a millisecond (expedited: to 50 us).
 * A reader's exit therefore needs no look at a futex word and no fence before it: the wake-up that
 * liburcu's fenced flavour once lost cannot be lost, because there is none. A sleeping poll of one
 * millisecond costs the waiter next to nothing and ends a period at most that late.
 */
final class GracePeriod {
  private static final VarHandle SEQUENCE;

  static {
    try {
      SEQUENCE = MethodHandles.lookup().findVarHandle(GracePeriod.class, "sequence", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private static final int SPINS = 256;
  private static final int YIELDS = 16;

  /** With more records than this, every so many periods drop those of ended threads. */
  private static final int PRUNE_ABOVE = 64;

  private static final int PRUNE_EVERY = 256;
  private static final long FIRST_SLEEP_NANOS = 20_000;
  private static final long LONGEST_SLEEP_NANOS = 1_000_000;
  private static final long LONGEST_EXPEDITED_SLEEP_NANOS = 50_000;

  private final Rcu rcu;
  private final ReaderRegistry registry;
  private final SleepableCounts counts;
  private final boolean fenced;
  private final StallReport stalls;
  private final ReentrantLock leader = new ReentrantLock();

  /** Wait and sleep time is cut while this is above zero. */
  private final LongAdder hurry = new LongAdder();

  private volatile long sequence;

  GracePeriod(
      Rcu rcu,
      ReaderRegistry registry,
      SleepableCounts counts,
      boolean fenced,
      StallReport stalls) {
    this.rcu = rcu;
    this.registry = registry;
    this.counts = counts;
    this.fenced = fenced;
    this.stalls = stalls;
  }

  /** The cookie of a grace period that begins after this call. Full barrier before. */
  long snapshot() {
    VarHandle.fullFence(); // G.1: what the caller unpublished is before the period's own barrier
    return ((long) SEQUENCE.getVolatile(this) + 3) & ~1L;
  }

  /** Whether the grace period of a cookie has ended. Acquire: frees may follow (G.2). */
  boolean isElapsed(long cookie) {
    return sequence - cookie >= 0;
  }

  long completed() {
    return sequence >>> 1;
  }

  /** Returns when the cookie's grace period has ended, running it if nobody does. */
  void await(long cookie, boolean expedited) {
    if (isElapsed(cookie)) {
      return;
    }
    if (expedited) {
      hurry.increment();
    }
    boolean interrupted = false;
    try {
      while (!isElapsed(cookie)) {
        leader.lock();
        try {
          if (!isElapsed(cookie)) {
            interrupted |= run();
          }
        } finally {
          leader.unlock();
        }
      }
    } finally {
      if (expedited) {
        hurry.decrement();
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean run() {
    long begun = System.nanoTime();
    Wait wait = new Wait(begun); // what may run out of memory comes before the first change
    long before = sequence;
    boolean done = false;
    tellBegun();
    try {
      sequence = before + 1; // G.1: odd, volatile; callers that come from here on need the next one
      boolean readers = registry.size() != 0;
      boolean counted = rcu.countsUsed();
      if (fenced || !(readers || counted)) {
        VarHandle.fullFence(); // A.3, and A.5 for readers that register or first count after this
        readers = registry.size() != 0;
        counted = rcu.countsUsed();
        if (!fenced && (readers || counted)) {
          Membarrier.fence();
        }
      } else {
        Membarrier.fence(); // A.1
      }
      long target = rcu.advanceCounter();
      if (readers) {
        scan(registry.roster(), target, wait);
      }
      if (rcu.countsUsed()) {
        drain(wait);
      }
      done = true;
    } finally {
      // G.2: even, volatile. A period that failed has not been: nobody's cookie is reached by it.
      sequence = done ? before + 2 : before;
    }
    try {
      RcuEvents.gracePeriod(rcu, begun, wait.waitedFor, !hurryIsZero());
    } catch (Throwable unrecorded) {
      // The period has been, whether an event says so or not.
    }
    return wait.interrupted;
  }

  private void tellBegun() {
    try {
      RcuEvents.gracePeriodBegun(rcu);
    } catch (Throwable untold) {
      // As at the end: nobody who listens keeps a period from being.
    }
  }

  private boolean hurryIsZero() {
    return hurry.sum() == 0;
  }

  private void scan(ReaderRegistry.Roster roster, long target, Wait wait) {
    int size = roster.size;
    boolean dead = false;
    for (int i = 0; i < size; i++) {
      Reader reader = roster.slots[i];
      if (!reader.blocks(target)) {
        continue;
      }
      wait.next();
      while (reader.blocks(target)) {
        if (wait.pause()) {
          if (reader.ownerIsGone()) {
            dead = true; // a thread that ended inside a section holds nothing any more
            break;
          }
          if (wait.isStalled()) {
            stalls.report(roster, target, counts, wait.elapsedNanos());
          }
        }
      }
    }
    if (dead || (size > PRUNE_ABOVE && (target & PRUNE_EVERY - 1) == 0)) {
      registry.dropDead();
    }
  }

  private void drain(Wait wait) {
    counts.barrier(); // S.3
    drain(counts.inactive(), wait);
    counts.flip();
    drain(counts.inactive(), wait);
    counts.barrier(); // S.3
  }

  private void drain(int generation, Wait wait) {
    if (counts.isEmpty(generation)) {
      return;
    }
    wait.next();
    while (!counts.isEmpty(generation)) {
      rcu.closeLostSections();
      // An attempt costs a process-wide barrier, so there is no point in spinning between two.
      if (wait.pauseLong() && wait.isStalled()) {
        stalls.report(null, 0, counts, wait.elapsedNanos());
      }
    }
  }

  /** How long, and how gently, one grace period has been waiting. */
  private final class Wait {
    private final long begun;
    private int attempts;
    private long sleep = FIRST_SLEEP_NANOS;
    private long stallAt = stalls.limitNanos();
    private boolean interrupted;
    private int waitedFor;

    Wait(long begun) {
      this.begun = begun;
    }

    void next() {
      waitedFor++;
      attempts = 0;
      sleep = FIRST_SLEEP_NANOS;
    }

    /** Waits a little; returns whether it slept, which is when dearer checks are affordable. */
    boolean pause() {
      int attempt = attempts++;
      if (attempt < SPINS) {
        Thread.onSpinWait();
        return false;
      }
      return pauseAfterSpinning(attempt - SPINS);
    }

    boolean pauseLong() {
      return pauseAfterSpinning(attempts++);
    }

    private boolean pauseAfterSpinning(int attempt) {
      if (attempt < YIELDS) {
        Thread.yield();
        return false;
      }
      LockSupport.parkNanos(GracePeriod.this, sleep);
      interrupted |= Thread.interrupted(); // else the next park would not wait
      long longest = hurryIsZero() ? LONGEST_SLEEP_NANOS : LONGEST_EXPEDITED_SLEEP_NANOS;
      sleep = Math.min(sleep * 2, longest);
      return true;
    }

    long elapsedNanos() {
      return System.nanoTime() - begun;
    }

    boolean isStalled() {
      if (elapsedNanos() < stallAt) {
        return false;
      }
      stallAt *= 2;
      return true;
    }
  }
}
