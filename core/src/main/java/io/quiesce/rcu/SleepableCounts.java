package io.quiesce.rcu;

import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.Membarrier;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import io.quiesce.percpu.PerCpuOps;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Readers that may sleep, migrate and change carrier inside a section: two generations of per-CPU
 * counts instead of a record per thread.
 *
 * <h2>Algorithm</h2>
 *
 * A reader adds one to {@code locks[generation]} of the CPU it is on, and at the end one to {@code
 * unlocks[generation]} of the CPU it is on <em>then</em>; the section remembers the generation. A
 * generation is empty when the sums over all CPUs agree. The grace period waits for the inactive
 * generation, flips, and waits for the other. Two waits, because a reader may have read the
 * generation long before it counts itself under it.
 *
 * <pre>
 *             generation 0        generation 1
 *   CPU 0   locks 7 unlocks 5   locks 2 unlocks 2
 *   CPU 1   locks 3 unlocks 5   locks 0 unlocks 0      5 + 5 = 10 = 7 + 3: nobody inside
 * </pre>
 *
 * <p>One attempt sums all <em>unlocks</em>, runs a barrier, then sums all <em>locks</em> (S.2). In
 * the other order a reader that migrates between its two counts has its lock missed and its unlock
 * seen, standing in for another reader that is still inside.
 *
 * <p>Two kinds of rows. With restartable sequences and the process-wide barrier, a CPU's words are
 * changed by plain adds inside a sequence on that CPU; no fence. Threads for which that is not to
 * be had (and every thread without rseq or membarrier) use striped atomic rows on the heap: entry
 * is a volatile add, exit at least a release add (S.1). A section may begin in one kind and end in
 * the other.
 *
 * <p>Source: sleepable RCU (McKenney, "Sleepable RCU", LWN 2006, and the kernel's later per-CPU
 * form).
 */
final class SleepableCounts {
  private static final long ROW_BYTES = 128;
  private static final int UNLOCKS = 2;

  private static final int STRIPES =
      Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors()) * 4 - 1);
  private static final int STRIPE_LONGS = 16;

  private final boolean perCpu;
  private final int rows;
  private final long base;
  private final AtomicLongArray striped = new AtomicLongArray(STRIPES * STRIPE_LONGS);
  private volatile int generation;

  SleepableCounts(boolean fenced) {
    perCpu = !fenced && Platform.membarrier() && PerCpuOps.isAvailable() && OffHeap.isAvailable();
    rows = perCpu ? CpuTopology.tableSize() : 0;
    // Never freed: a domain is made a few times in a process, and a late reader may still count.
    base = perCpu ? OffHeap.allocate(rows * ROW_BYTES, ROW_BYTES) : 0;
  }

  /** Counts a reader in; returns the generation, 0 or 1. Full barrier, by one side or the other. */
  int enter() {
    int g = generation;
    add(g);
    return g;
  }

  /** Counts a reader out of the generation under which it came in. */
  void exit(int g) {
    add(UNLOCKS + g);
  }

  private void add(int word) {
    if (perCpu && PerCpuOps.add(base + word * 8L, ROW_BYTES, 1)) {
      return;
    }
    int stripe = (int) Thread.currentThread().threadId() & (STRIPES - 1);
    striped.getAndAdd(stripe * STRIPE_LONGS + word, 1); // S.1
    if (word < UNLOCKS) {
      VarHandle.fullFence(); // S.1: a volatile add alone does not hold back later plain loads
    }
  }

  private long sum(int word) {
    long sum = 0;
    for (int cpu = 0; cpu < rows; cpu++) {
      sum += OffHeap.getLongAcquire(base + cpu * ROW_BYTES + word * 8L);
    }
    for (int stripe = 0; stripe < STRIPES; stripe++) {
      sum += striped.getAcquire(stripe * STRIPE_LONGS + word);
    }
    return sum;
  }

  /** S.2: orders the sums against every reader's adds. */
  void barrier() {
    if (perCpu) {
      Membarrier.fence();
    } else {
      VarHandle.fullFence();
    }
  }

  /** The generation that new readers do not take. */
  int inactive() {
    return generation ^ 1;
  }

  void flip() {
    int next = generation ^ 1;
    generation = next; // by the leader of the grace period only
  }

  /** One attempt to see a generation empty. */
  boolean isEmpty(int g) {
    long unlocks = sum(UNLOCKS + g);
    barrier();
    return sum(g) == unlocks;
  }

  /** How many sections are open now; a racy glimpse. */
  long open() {
    long unlocks = sum(UNLOCKS) + sum(UNLOCKS + 1);
    return Math.max(0, sum(0) + sum(1) - unlocks);
  }
}
