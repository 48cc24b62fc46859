package io.quiesce.verify;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.Membarrier;
import io.quiesce.linux.OffHeap;
import io.quiesce.percpu.PerCpuBuffer;
import io.quiesce.percpu.PerCpuCounter;
import io.quiesce.percpu.PerCpuHistogram;
import io.quiesce.percpu.PerCpuOps;
import io.quiesce.percpu.PerCpuStack;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Per-CPU data under torture in one JVM: threads of every kind move nodes and numbers about, each
 * of which has one owner at a time, while sequences are restarted by fences, by changes of the CPU
 * and by more threads than CPUs, and while rows are closed, changed and opened from elsewhere. At
 * the end everything must be there once. The broken form changes rows without closing them.
 */
final class PerCpuTorture {
  /** What is tortured, one after another. */
  enum Part {
    /** Lists and counts on rows, and a manager that swaps the lists by plain stores. */
    ROWS,
    /** Counter, histogram, buffer and stack. */
    STRUCTURES
  }

  private static final int NODES = 256;
  private static final long NODE_BYTES = 64;
  private static final long OWNER = 8;
  private static final long STRIDE = 128;
  private static final long COUNT = 64; // in a row, behind the list's header
  private static final int WORKERS = 4;
  private static final int VIRTUALS = 4;
  private static final Duration END_LIMIT = Duration.ofSeconds(30);

  private final Part part;
  private final long seed;
  private final boolean broken;
  private final boolean offHeap = OffHeap.isAvailable();
  private final long nodes;
  private final long table;
  private final List<Long> aside = new ArrayList<>(); // the manager's
  private final AtomicLong withoutRow = new AtomicLong();
  private final LongAdder operations = new LongAdder();
  private final LongAdder additions = new LongAdder();
  private final LongAdder recorded = new LongAdder();
  private final AtomicLong handedOut = new AtomicLong();
  private final AtomicLong handedOver = new AtomicLong();
  private final AtomicLong visits = new AtomicLong();
  private final AtomicIntegerArray owners = new AtomicIntegerArray(NODES + 1);
  private final PerCpuCounter counter = PerCpuCounter.create();
  private final PerCpuHistogram histogram = PerCpuHistogram.create(10_000, 2);
  private final PerCpuBuffer buffer = PerCpuBuffer.create(NODES);
  private final @Nullable PerCpuStack stack;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;

  PerCpuTorture(Part part, long seed, boolean broken) {
    this.part = part;
    this.seed = seed;
    this.broken = broken;
    nodes = offHeap ? OffHeap.allocate(NODES * NODE_BYTES, NODE_BYTES) : 0;
    table = offHeap ? OffHeap.allocate(PerCpuOps.rows() * STRIDE, STRIDE) : 0;
    stack = offHeap ? PerCpuStack.create() : null;
  }

  /** What one run counted; visits are those of managers, drains and resets. */
  record Result(long operations, long additions, long visits) {}

  Result run(long millis) throws InterruptedException {
    fill();
    start();
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (failure == null && System.nanoTime() < until) {
      Thread.sleep(20);
    }
    stop = true;
    for (Thread thread : threads) {
      if (!thread.join(END_LIMIT)) {
        throw new TortureFailure("thread " + thread.getName() + " hangs");
      }
    }
    TortureFailure.throwIfAny(failure);
    if (part == Part.ROWS) {
      checkRows();
    } else {
      checkStructures();
    }
    return new Result(operations.sum(), additions.sum(), visits.get());
  }

  // ---- threads ----

  private interface Body {
    void run(int number, SplittableRandom random) throws Exception;
  }

  private Runnable guard(int number, Body body) {
    return () -> {
      try {
        body.run(number, new SplittableRandom(seed ^ number));
      } catch (Throwable thrown) {
        synchronized (this) {
          failure = failure == null ? thrown : failure;
        }
        stop = true;
      }
    };
  }

  private void start() {
    int number = 1;
    for (int i = 0; i < WORKERS; i++, number++) {
      threads.add(Thread.ofPlatform().daemon().unstarted(guard(number, this::work)));
    }
    for (int i = 0; i < VIRTUALS; i++, number++) {
      threads.add(Thread.ofVirtual().unstarted(guard(number, this::work)));
    }
    threads.add(Thread.ofPlatform().daemon().unstarted(guard(number++, this::brief)));
    threads.add(Thread.ofPlatform().daemon().unstarted(guard(number++, this::hammer)));
    threads.add(
        Thread.ofPlatform()
            .daemon()
            .unstarted(guard(number, part == Part.ROWS ? this::manage : this::visit)));
    threads.forEach(Thread::start);
  }

  /** Threads that are born, do a little and die: their rows must not notice. */
  private void brief(int number, SplittableRandom random) throws InterruptedException {
    while (!stop) {
      Thread thread =
          Thread.ofPlatform()
              .daemon()
              .start(
                  guard(
                      number,
                      (same, ignored) -> {
                        for (int i = 0; i < 50; i++) {
                          step(number, random);
                        }
                      }));
      thread.join();
    }
  }

  /** Restarts every sequence, and collects now and then what nobody holds. */
  private void hammer(int number, SplittableRandom random) throws InterruptedException {
    while (!stop) {
      if (Membarrier.isRseqAvailable()) {
        Membarrier.fenceRseq();
      } else {
        Thread.sleep(1);
      }
      if (random.nextInt(20_000) == 0) {
        System.gc();
      }
    }
  }

  private void work(int number, SplittableRandom random) throws InterruptedException {
    boolean virtual = Thread.currentThread().isVirtual();
    int[] cpus = offHeap && !virtual ? CpuAffinity.get().toArray() : new int[0];
    while (!stop) {
      step(number, random);
      delay(random, cpus);
    }
  }

  private static void delay(SplittableRandom random, int[] cpus) throws InterruptedException {
    int dice = random.nextInt(4_000);
    if (dice == 0) {
      Thread.sleep(0, random.nextInt(300_000));
    } else if (dice < 40) {
      Thread.yield();
    } else if (dice < 300) {
      Thread.onSpinWait();
    } else if (dice < 305 && cpus.length > 0) {
      CpuAffinity.pinTo(cpus[random.nextInt(cpus.length)]);
    }
  }

  private void step(int number, SplittableRandom random) throws InterruptedException {
    operations.increment();
    if (part == Part.ROWS) {
      stepOnRows(number, random);
    } else {
      stepOnStructures(number, random);
    }
  }

  // ---- rows ----

  private void fill() {
    for (int i = 0; i < NODES; i++) {
      if (part == Part.ROWS && offHeap) {
        push(nodes + i * NODE_BYTES);
      } else if (part == Part.STRUCTURES) {
        if (!buffer.offer(i + 1)) {
          owners.set(i + 1, -1); // no room on this CPU: not in the game
        }
        if (stack != null) {
          stack.push(nodes + i * NODE_BYTES);
        }
      }
    }
  }

  private void push(long node) {
    while (!PerCpuOps.listPush(table, STRIDE, node, 0)) {
      Thread.yield(); // closed for a moment, or every locked row is busy
    }
  }

  private static void own(long node, int number) {
    long before = OffHeap.getAndSetLong(node + OWNER, number);
    if (before != 0) {
      throw new TortureFailure("a node was given to " + number + " while " + before + " had it");
    }
  }

  private void stepOnRows(int number, SplittableRandom random) throws InterruptedException {
    if (!offHeap) {
      Thread.sleep(1);
      return;
    }
    additions.increment();
    if (!PerCpuOps.add(table + COUNT, STRIDE, 1)) {
      withoutRow.incrementAndGet();
    }
    long node = PerCpuOps.listPop(table, STRIDE, 0);
    if (node > 0) {
      own(node, number);
      if (random.nextInt(4) == 0) {
        Thread.yield();
      }
      OffHeap.setLongRelease(node + OWNER, 0);
      push(node);
    }
  }

  /** Closes a row, fences, swaps its list by plain accesses, opens; broken: just swaps. */
  private void manage(int number, SplittableRandom random) {
    if (!offHeap || !PerCpuOps.canFence()) {
      return;
    }
    while (!stop) {
      int row = random.nextInt(PerCpuOps.rows());
      long list = table + row * STRIDE;
      if (!broken) {
        OffHeap.setIntVolatile(list + PerCpuOps.LIST_CLOSED, 1);
        PerCpuOps.fenceRow(row);
      }
      long head = OffHeap.getLongVolatile(list);
      for (int i = 0; i < 100; i++) {
        Thread.onSpinWait();
        if (!broken && OffHeap.getLongVolatile(list) != head) {
          throw new TortureFailure("the list of a closed and fenced row moved");
        }
      }
      if (random.nextInt(8) == 0) {
        Thread.yield(); // so that others come in between on a machine with one CPU, too
      }
      OffHeap.setLongOpaque(list, aside.isEmpty() ? 0 : aside.removeLast());
      if (head != 0) {
        aside.add(head);
      }
      if (!broken) {
        OffHeap.setIntRelease(list + PerCpuOps.LIST_CLOSED, 0);
      }
      visits.incrementAndGet();
      Thread.yield();
    }
  }

  private void checkRows() {
    if (!offHeap) {
      return;
    }
    List<Long> heads = new ArrayList<>(aside);
    long sum = withoutRow.get();
    for (int row = 0; row < PerCpuOps.rows(); row++) {
      heads.add(OffHeap.getLongVolatile(table + row * STRIDE));
      sum += OffHeap.getLongVolatile(table + row * STRIDE + COUNT);
    }
    if (sum != additions.sum()) {
      throw new TortureFailure(additions.sum() + " additions came to " + sum);
    }
    int seen = 0;
    for (long head : heads) {
      for (long node = head; node != 0; node = OffHeap.getLong(node)) {
        if (++seen > NODES) {
          throw new TortureFailure("a node is in two lists");
        }
      }
    }
    if (seen != NODES) {
      throw new TortureFailure("of " + NODES + " nodes " + seen + " are left");
    }
  }

  // ---- structures ----

  private void stepOnStructures(int number, SplittableRandom random) {
    counter.add(2);
    additions.add(2);
    histogram.record(random.nextInt(10_000));
    recorded.increment();
    long value = buffer.poll();
    if (value != 0) {
      int before = owners.getAndSet((int) value, number);
      if (before != 0) {
        throw new TortureFailure("value " + value + " was given out while " + before + " had it");
      }
      owners.set((int) value, 0);
      while (!buffer.offer(value)) {
        Thread.yield(); // shared part: full only while a drain has put values back
      }
    }
    PerCpuStack nodesHere = stack;
    if (nodesHere != null) {
      long node = random.nextInt(16) == 0 ? nodesHere.popAny() : nodesHere.pop();
      if (node != 0) {
        own(node, number);
        OffHeap.setLongRelease(node + OWNER, 0);
        nodesHere.push(node);
      }
    }
    if (random.nextInt(8) == 0) {
      PerCpuCounter brief = PerCpuCounter.create();
      brief.add(number);
      if (brief.sum() != number) {
        throw new TortureFailure("a new counter says " + brief.sum() + ", not " + number);
      }
    }
  }

  /** Drains and resets. */
  private void visit(int number, SplittableRandom random) throws InterruptedException {
    while (!stop) {
      long got = counter.sumThenReset();
      if (got < 0) {
        throw new TortureFailure("a reset handed out " + got);
      }
      handedOut.addAndGet(got);
      handedOver.addAndGet(histogram.snapshotThenReset().totalCount());
      buffer.drain(
          value -> {
            while (!buffer.offer(value)) {
              Thread.yield();
            }
          });
      PerCpuStack nodesHere = stack;
      if (nodesHere != null) {
        nodesHere.drain(nodesHere::push);
      }
      visits.incrementAndGet();
      Thread.sleep(random.nextInt(3));
    }
  }

  private void checkStructures() {
    equal("counted", handedOut.get() + counter.sumThenReset(), additions.sum());
    equal(
        "recorded", handedOver.get() + histogram.snapshotThenReset().totalCount(), recorded.sum());
    buffer.close();
    AtomicLong values = new AtomicLong();
    buffer.drain(value -> values.incrementAndGet());
    long expected = 0;
    for (int i = 1; i <= NODES; i++) {
      expected += owners.get(i) == 0 ? 1 : 0;
    }
    equal("values in the buffer", values.get(), expected);
    if (stack != null) {
      stack.close();
      equal("nodes on the stack", stack.drain(node -> {}), NODES);
    }
  }

  private static void equal(String what, long found, long expected) {
    if (found != expected) {
      throw new TortureFailure(what + ": " + found + " instead of " + expected);
    }
  }
}
