package io.quiesce.verify;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.CpuSet;
import io.quiesce.linux.Membarrier;
import io.quiesce.rcu.CallbackWorker;
import io.quiesce.rcu.Guarded;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.RcuStatistics;
import io.quiesce.rcu.Reader;
import io.quiesce.rcu.Section;
import io.quiesce.rcu.WakeUp;
import io.quiesce.rcu.WorkerOptions;
import io.quiesce.verify.BlockPool.Block;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One flavour under torture in one JVM: readers of every kind follow references to {@link
 * BlockPool} blocks and check them, updaters replace and retire them in every way there is, and
 * chaos does to workers, threads and CPUs what must not matter.
 */
final class RcuTorture {
  /** Kinds of readers; every one of them must have read something at the end. */
  enum Kind {
    /** Looks its record up; nests, dawdles. */
    IMPLICIT,
    /** Holds its record. */
    EXPLICIT,
    /** Announces quiescent states. */
    ONLINE,
    /** Virtual threads, which yield and sleep inside sections. */
    VIRTUAL,
    /** Is born, reads once or twice, dies; some die inside a section. */
    BRIEF,
    /** Runs out of stack inside nested sections. */
    OVERFLOW,
    /** Threads whose ids fall on one slot of the look-up table. */
    COLLIDING,
    /** Moves itself from CPU to CPU, inside sections as well. */
    MOVING
  }

  private static final int REFERENCES = 4;
  private static final int POOL = 2048;
  private static final int COLLIDERS = 3;
  private static final Duration END_LIMIT = Duration.ofSeconds(30);
  private static final long STALL_MILLIS = 60;
  private static final long STALL_EVERY_NANOS = 1_000_000_000;

  private final Rcu.Flavour flavour;
  private final boolean broken;
  private final long seed;
  private final AtomicLong stalls = new AtomicLong();
  private final Rcu rcu;
  private final BlockPool pool = new BlockPool(POOL);
  private final List<RcuRef<Block>> references = new ArrayList<>();
  private final Guarded<Block> guarded;
  private final Map<Kind, LongAdder> reads = new EnumMap<>(Kind.class);
  private final LongAdder updates = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stop;

  /** While readers pause between sections, grace periods are quick; else CPUs are overcommitted. */
  private volatile boolean calm;

  private volatile @Nullable Throwable failure;

  RcuTorture(Rcu.Flavour flavour, long seed, boolean broken) {
    this.flavour = flavour;
    this.seed = seed;
    this.broken = broken;
    for (Kind kind : Kind.values()) {
      reads.put(kind, new LongAdder());
    }
    rcu =
        Rcu.builder("torture-" + flavour)
            .flavour(flavour)
            .stallLimit(Duration.ofMillis(STALL_MILLIS))
            .onStall(report -> stalls.incrementAndGet())
            .defaultWorker(WorkerOptions.defaults().delay(Duration.ofMillis(1)))
            .build();
    for (int i = 0; i < REFERENCES; i++) {
      references.add(rcu.ref(newBlock()));
    }
    guarded = Guarded.of(rcu, newBlock(), block -> pool.free(block.address()));
  }

  /** What one run counted. */
  record Result(
      Map<Kind, Long> reads, long updates, long gracePeriods, long reclaimed, long stalls) {}

  Result run(long millis) throws InterruptedException {
    warmUp();
    startThreads();
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (failure == null && System.nanoTime() < until) {
      Thread.sleep(40);
      calm = !calm;
    }
    stop = true;
    boolean joined = true;
    for (Thread thread : threads) {
      joined &= thread.join(END_LIMIT);
      if (!joined && failure == null) {
        fail(new TortureFailure("thread " + thread.getName() + " hangs: " + stackOf(thread)));
      }
    }
    TortureFailure.throwIfAny(failure);
    return finish();
  }

  private Result finish() throws InterruptedException {
    for (RcuRef<Block> reference : references) {
      Block last = reference.getAcquire();
      rcu.retire(this::reclaim, last.address(), BlockPool.BLOCK_BYTES);
    }
    guarded.close();
    rcu.callbacks().resume();
    rcu.barrier();
    try {
      rcu.close(END_LIMIT);
    } catch (java.util.concurrent.TimeoutException late) {
      throw new TortureFailure(String.valueOf(late.getMessage()));
    }
    TortureFailure.throwIfAny(failure);
    RcuStatistics end = rcu.statistics();
    pool.close();
    if (end.pendingCallbacks() != 0 || end.pendingBlocks() != 0 || end.pendingBytes() != 0) {
      throw new TortureFailure("the gauges still count at the end: " + end);
    }
    if (end.openCountedSections() != 0) {
      throw new TortureFailure("counted sections are left open at the end: " + end);
    }
    Map<Kind, Long> totals = new EnumMap<>(Kind.class);
    for (Kind kind : kinds()) {
      long total = sum(kind);
      if (total == 0) {
        throw new TortureFailure("no reader of kind " + kind + " has read anything");
      }
      totals.put(kind, total);
    }
    return new Result(totals, updates.sum(), end.gracePeriods(), pool.freed(), stalls.get());
  }

  private long sum(Kind kind) {
    LongAdder adder = reads.get(kind);
    return adder == null ? 0 : adder.sum();
  }

  private List<Kind> kinds() {
    List<Kind> kinds = new ArrayList<>(List.of(Kind.values()));
    if (flavour == Rcu.Flavour.SLEEPABLE) {
      // A counted section has no owner: one that a thread leaks by a lack of stack stays open.
      kinds.remove(Kind.OVERFLOW);
    }
    return kinds;
  }

  private static String stackOf(Thread thread) {
    StringBuilder text = new StringBuilder();
    for (StackTraceElement frame : thread.getStackTrace()) {
      text.append(" at ").append(frame);
    }
    return text.toString();
  }

  private void fail(Throwable thrown) {
    synchronized (this) {
      if (failure == null) {
        failure = thrown;
      }
    }
    stop = true;
  }

  // ---- threads ----

  /** What would otherwise be initialised for the first time by a thread without stack. */
  private void warmUp() {
    for (int i = 0; i < 1_000; i++) {
      readNested(3, 0);
    }
  }

  private interface Body {
    void run(SplittableRandom random) throws Exception;
  }

  private Runnable guard(String name, Body body) {
    return () -> {
      try {
        body.run(new SplittableRandom(seed ^ name.hashCode()));
      } catch (Throwable thrown) {
        fail(thrown);
      }
    };
  }

  private void start(String name, Body body) {
    Thread thread = Thread.ofPlatform().daemon(true).name(name).unstarted(guard(name, body));
    threads.add(thread);
    thread.start();
  }

  private void startThreads() {
    start("implicit", this::implicit);
    start("explicit", this::explicit);
    start("online", this::online);
    for (int i = 0; i < 4; i++) {
      Thread thread =
          Thread.ofVirtual().name("virtual-" + i).unstarted(guard("virtual-" + i, this::virtual));
      threads.add(thread);
      thread.start();
    }
    start("brief", this::brief);
    if (kinds().contains(Kind.OVERFLOW)) {
      start("overflow", this::overflow);
    }
    startColliding();
    start("moving", this::moving);
    start("updater-0", this::update);
    start("updater-1", this::update);
    start("chaos", this::chaos);
    start("hammer", this::hammer);
  }

  private void startColliding() {
    List<Thread> same = new ArrayList<>();
    long slot = -1;
    while (same.size() < COLLIDERS) {
      String name = "colliding-" + same.size();
      Thread candidate =
          Thread.ofPlatform().daemon(true).name(name).unstarted(guard(name, this::colliding));
      if (slot < 0) {
        slot = candidate.threadId() & 2047;
      }
      if ((candidate.threadId() & 2047) == slot) {
        same.add(candidate);
      }
    }
    threads.addAll(same);
    same.forEach(Thread::start);
  }

  /** Between sections only. */
  private void breathe(SplittableRandom random) {
    if (calm && random.nextInt(16) == 0) {
      LockSupport.parkNanos(200_000);
    }
  }

  private void count(Kind kind) {
    LongAdder adder = reads.get(kind);
    if (adder != null) {
      adder.increment();
    }
  }

  private void checkOnce(Section section, int which) {
    Block block = references.get(which & (REFERENCES - 1)).get(section);
    pool.check(block);
    Thread.onSpinWait();
    pool.check(block);
  }

  private void readNested(int depth, int which) {
    try (Section section = rcu.read()) {
      Block before = references.get(which & (REFERENCES - 1)).get(section);
      if (depth > 0) {
        readNested(depth - 1, which + 1);
      }
      pool.check(before); // the inner section's end must not have ended ours
    }
  }

  private void readGuarded() {
    try (Guarded.Access<Block> access = guarded.read()) {
      pool.check(access.get());
      Thread.onSpinWait();
      pool.check(access.get());
    }
  }

  private void implicit(SplittableRandom random) {
    long stalled = System.nanoTime();
    do {
      int choice = random.nextInt(2_000);
      if (choice == 0 && random.nextInt(10) == 0) {
        boolean longEnough = System.nanoTime() - stalled > STALL_EVERY_NANOS;
        longRead(longEnough ? 2 * STALL_MILLIS : 2);
        stalled = longEnough ? System.nanoTime() : stalled;
      } else if (choice < 200) {
        readNested(random.nextInt(4), choice);
      } else if (choice < 400) {
        readGuarded();
      } else {
        try (Section section = rcu.read()) {
          checkOnce(section, choice);
        }
      }
      count(Kind.IMPLICIT);
      breathe(random);
    } while (!stop);
  }

  private void longRead(long millis) {
    try (Section section = rcu.read()) {
      Block block = references.get(0).get(section);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
      pool.check(block);
    }
  }

  private void explicit(SplittableRandom random) {
    Reader reader = rcu.reader();
    do {
      try (Section section = reader.read()) {
        checkOnce(section, random.nextInt());
        try (Section inner = reader.read()) {
          checkOnce(inner, random.nextInt());
        }
        checkOnce(section, random.nextInt());
      }
      count(Kind.EXPLICIT);
      breathe(random);
    } while (!stop);
  }

  private void online(SplittableRandom random) {
    Reader reader = rcu.reader();
    do {
      reader.online();
      int rounds = random.nextInt(1, calm ? 20 : 500);
      for (int i = 0; i < rounds && !(stop && i > 0); i++) {
        Block block = references.get(random.nextInt(REFERENCES)).get(reader);
        pool.check(block);
        if (random.nextInt(50) == 0) {
          // A callback, a section and an update of an online reader.
          try (Section section = rcu.read()) {
            checkOnce(section, i);
          }
        }
        if (random.nextInt(200) == 0) {
          pool.check(block);
          rcu.synchronize(); // a quiescent state: block is gone
        } else {
          pool.check(block);
        }
        reader.quiescentState();
        count(Kind.ONLINE);
      }
      reader.offline();
      breathe(random);
    } while (!stop);
  }

  private void virtual(SplittableRandom random) throws InterruptedException {
    do {
      try (Section section = rcu.read()) {
        Block block = references.get(random.nextInt(REFERENCES)).get(section);
        pool.check(block);
        switch (random.nextInt(40)) {
          case 0 -> Thread.sleep(1);
          case 1, 2, 3 -> Thread.yield();
          case 4 -> {
            synchronized (new Object()) { // JEP 491: may change carrier even here
              Thread.yield();
            }
          }
          case 5 -> readNested(2, 1);
          case 6 -> readGuarded();
          default -> Thread.onSpinWait();
        }
        pool.check(block);
      }
      count(Kind.VIRTUAL);
      breathe(random);
      if (random.nextInt(16) == 0) {
        Thread.yield();
      }
    } while (!stop);
  }

  private void brief(SplittableRandom random) throws InterruptedException {
    boolean mayDieInside = flavour != Rcu.Flavour.SLEEPABLE;
    do {
      boolean diesInside = mayDieInside && random.nextInt(3) == 0;
      boolean isVirtual = !diesInside && random.nextInt(3) == 0;
      Runnable life = guard("brief-life", ignored -> liveBriefly(diesInside));
      Thread thread =
          isVirtual
              ? Thread.startVirtualThread(life)
              : Thread.ofPlatform().daemon(true).start(life);
      if (!thread.join(END_LIMIT)) {
        throw new TortureFailure("a thread that reads once hangs: " + stackOf(thread));
      }
    } while (!stop);
  }

  private void liveBriefly(boolean diesInside) {
    readNested(1, 2);
    count(Kind.BRIEF);
    if (diesInside) {
      Section left = rcu.read();
      checkOnce(left, 3);
      dropped.increment();
    }
  }

  private void overflow(SplittableRandom random) throws InterruptedException {
    do {
      Thread thread =
          new Thread(
              null, guard("overflow-life", ignored -> overflowOnce()), "overflow", 256 << 10);
      thread.setDaemon(true);
      thread.start();
      if (!thread.join(END_LIMIT)) {
        throw new TortureFailure("a thread that overflows hangs: " + stackOf(thread));
      }
      LockSupport.parkNanos(random.nextInt(60_000_000));
    } while (!stop);
  }

  private void overflowOnce() {
    for (int i = 0; i < 2; i++) {
      try (Section section = rcu.read()) {
        Block block = references.get(i & (REFERENCES - 1)).get(section);
        try {
          endless(i);
        } catch (StackOverflowError expected) {
          count(Kind.OVERFLOW);
        }
        pool.check(block); // what inner sections lost must not have ended ours
      }
      if (rcu.isReading()) {
        throw new TortureFailure("a section leaked by a stack overflow outlives its outermost");
      }
    }
  }

  @SuppressWarnings("InfiniteRecursion") // on purpose
  private int endless(int depth) {
    try (Section section = rcu.read()) {
      checkOnce(section, depth);
      return endless(depth + 1) + 1;
    }
  }

  private void colliding(SplittableRandom random) {
    do {
      try (Section section = rcu.read()) {
        checkOnce(section, random.nextInt());
      }
      count(Kind.COLLIDING);
      breathe(random);
      if (random.nextInt(64) == 0) {
        Thread.yield();
      }
    } while (!stop);
  }

  private void moving(SplittableRandom random) {
    CpuSet all = CpuAffinity.isAvailable() ? CpuAffinity.get() : CpuSet.empty();
    int[] cpus = all.toArray();
    do {
      try (Section section = rcu.read()) {
        Block block = references.get(random.nextInt(REFERENCES)).get(section);
        pool.check(block);
        if (cpus.length > 0) {
          CpuAffinity.pinTo(cpus[random.nextInt(cpus.length)]);
        } else {
          Thread.yield();
        }
        pool.check(block);
      }
      count(Kind.MOVING);
      breathe(random);
    } while (!stop);
  }

  // ---- updaters ----

  private Block newBlock() {
    Block block = pool.allocate();
    if (block == null) {
      throw new IllegalStateException("the pool is empty at the start");
    }
    return block;
  }

  private void reclaim(long address, long bytes) {
    try {
      if (bytes != BlockPool.BLOCK_BYTES) {
        throw new TortureFailure("a block came back with " + bytes + " bytes");
      }
      pool.free(address);
    } catch (Throwable thrown) {
      fail(thrown);
    }
  }

  private void free(Block block) {
    reclaim(block.address(), BlockPool.BLOCK_BYTES);
  }

  private record Polled(long cookie, Block block) {}

  private void update(SplittableRandom random) {
    ArrayDeque<Polled> polled = new ArrayDeque<>();
    CallbackWorker mine = null;
    do {
      Block next = pool.allocate();
      if (next == null) {
        waitForBlocks(random, polled);
        continue;
      }
      int how = random.nextInt(broken ? 6 : 7);
      if (how == 6) {
        guarded.replace(next);
      } else {
        Block old = references.get(random.nextInt(REFERENCES)).getAndSet(next);
        dispose(old, broken ? -1 : how, random, polled);
      }
      updates.increment();
      freeElapsed(polled, false);
      if (random.nextInt(400) == 0) {
        mine = changeWorker(mine, random);
      }
    } while (!stop);
    freeElapsed(polled, true);
    if (mine != null) {
      rcu.callbacks().setThreadWorker(null);
      rcu.callbacks().free(mine);
    }
  }

  private void dispose(Block old, int how, SplittableRandom random, ArrayDeque<Polled> polled) {
    switch (how) {
      case -1 -> free(old); // the self-check: no grace period
      case 0, 1 -> rcu.retire(this::reclaim, old.address(), BlockPool.BLOCK_BYTES);
      case 2 -> rcu.call(() -> free(old));
      case 3 -> {
        if (random.nextBoolean()) {
          rcu.synchronize();
        } else {
          rcu.synchronizeExpedited();
        }
        free(old);
      }
      case 4 -> polled.add(new Polled(rcu.startGracePeriod(), old));
      default -> {
        // Deferred from inside a section, which must never wait for itself.
        try (Section section = rcu.read()) {
          checkOnce(section, how);
          rcu.retire(this::reclaim, old.address(), BlockPool.BLOCK_BYTES);
        }
      }
    }
  }

  private void freeElapsed(ArrayDeque<Polled> polled, boolean all) {
    while (!polled.isEmpty()) {
      Polled first = polled.element();
      if (all) {
        rcu.awaitGracePeriod(first.cookie());
      } else if (!rcu.isElapsed(first.cookie())) {
        return;
      }
      polled.remove();
      free(first.block());
    }
  }

  private void waitForBlocks(SplittableRandom random, ArrayDeque<Polled> polled) {
    freeElapsed(polled, false);
    if (random.nextInt(8) == 0) {
      rcu.barrier();
    } else {
      LockSupport.parkNanos(200_000);
    }
  }

  private CallbackWorker changeWorker(@Nullable CallbackWorker old, SplittableRandom random) {
    WakeUp[] ways = WakeUp.values();
    CallbackWorker next =
        rcu.callbacks()
            .newWorker(
                "mine",
                WorkerOptions.defaults()
                    .wakeUp(ways[random.nextInt(ways.length)])
                    .delay(Duration.ofMillis(random.nextInt(3))));
    if (old != null && random.nextBoolean()) {
      rcu.callbacks().free(old); // while it is still ours: what comes late is handed over
      dropToCurrent();
      rcu.callbacks().setThreadWorker(next);
    } else {
      rcu.callbacks().setThreadWorker(next);
      if (old != null) {
        rcu.callbacks().free(old);
      }
    }
    return next;
  }

  private void dropToCurrent() {
    for (int i = 0; i < 20; i++) {
      Block block = pool.allocate();
      if (block == null) {
        return;
      }
      rcu.retire(this::reclaim, block.address(), BlockPool.BLOCK_BYTES);
    }
  }

  // ---- chaos ----

  private void chaos(SplittableRandom random) throws InterruptedException {
    while (!stop) {
      switch (random.nextInt(8)) {
        case 0 -> {
          rcu.callbacks().pause();
          LockSupport.parkNanos(random.nextInt(3_000_000));
          rcu.callbacks().resume();
        }
        case 1, 2 -> checkBarrier();
        case 3 -> {
          rcu.callbacks().createPerCpuWorkers(WorkerOptions.defaults(), random.nextBoolean());
          Thread.sleep(random.nextInt(1, 20));
          freePerCpuWorkers();
        }
        case 4 -> rcu.synchronize();
        case 5 -> {
          if (random.nextInt(20) == 0) {
            System.gc();
          }
        }
        case 6 -> rcu.call(() -> throwOnPurpose());
        default -> Thread.sleep(random.nextInt(1, 10));
      }
    }
  }

  private static void throwOnPurpose() {
    throw new UnsupportedOperationException("a callback that throws, on purpose");
  }

  private void checkBarrier() {
    AtomicBoolean ran = new AtomicBoolean();
    rcu.call(() -> ran.set(true));
    rcu.barrier();
    if (!ran.get()) {
      throw new TortureFailure("barrier() returned before a callback queued before it had run");
    }
  }

  private void freePerCpuWorkers() {
    for (CallbackWorker worker : rcu.callbacks().workers()) {
      if (worker.name().startsWith("cpu")) {
        rcu.callbacks().free(worker);
      }
    }
  }

  private void hammer(SplittableRandom random) {
    if (!Membarrier.isRseqAvailable()) {
      return;
    }
    while (!stop) {
      for (int i = 0; i < 100; i++) {
        Membarrier.fenceRseq();
      }
      LockSupport.parkNanos(random.nextInt(2_000_000));
    }
  }
}
