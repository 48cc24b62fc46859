package io.quiesce.rcu;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.percpu.WaitFreeQueue;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that runs callbacks after a grace period: the {@code call_rcu} worker.
 *
 * <h2>Algorithm</h2>
 *
 * <pre>
 *   loop:
 *     take everything that is queued, then everything that is retired  (C.3)
 *     one grace period for all of it
 *     run the batch
 *     nothing queued: lower the wake-up word, look once more, sleep   (see {@link WakeWord})
 *     wait until the batching delay since the last batch's beginning is over, or somebody hurries
 * </pre>
 *
 * <p>The delay comes <em>before</em> a batch and counts from the beginning of the one before. A
 * worker that was idle therefore serves its first callback at once, where liburcu's sleeps out its
 * 10 ms; under load, batches begin one delay apart. Whoever waits for a callback hurries the worker
 * out of the delay.
 *
 * <h2>Nothing is lost</h2>
 *
 * A worker that is freed hands what is left to the domain's default worker. A caller may have
 * chosen it just before and queue just after: it queues, then reads {@code handedOver} (full
 * barrier between, C.1), and moves the queue itself if it must. Moves hold {@code moving}, and the
 * worker leaves the domain's list only after its own move, so that a {@link Rcu#barrier()} always
 * finds a callback either before its marker or still in a queue that gets a marker.
 */
public final class CallbackWorker {
  private static final System.Logger LOG = System.getLogger("io.quiesce.rcu");
  private static final VarHandle QUEUED;
  private static final long LEAST_POLL_NANOS = 50_000;

  /** Retired bytes that make the worker hurry. */
  private static final long HURRY_BYTES = 64L << 20;

  /** How often a pinned worker makes sure that it still is: CPU sets change. */
  private static final long REPIN_NANOS = 1_000_000_000L;

  static {
    try {
      QUEUED = MethodHandles.lookup().findVarHandle(CallbackWorker.class, "queued", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final Callbacks owner;
  private final String name;
  private final WorkerOptions options;
  private final long delayNanos;
  private final WakeWord word;
  private final WaitFreeQueue queue = new WaitFreeQueue();
  private final RetireBuffer retired;
  private final Object moving = new Object();
  private final Thread thread;

  @SuppressWarnings("UnusedVariable") // through QUEUED
  private volatile long queued;

  private final AtomicLong run = new AtomicLong();
  private volatile boolean hurry;
  private volatile boolean stopping;
  private volatile boolean handedOver;
  private volatile boolean paused;
  private volatile boolean resting;
  private boolean pinRefused;
  private long pinned;

  /** When the last batch began. The worker's alone. */
  private long begun;

  /** When everything that is pending now was certainly not queued yet; for the age gauge. */
  private volatile long oldest = System.nanoTime();

  CallbackWorker(Callbacks owner, String name, WorkerOptions options) {
    this.owner = owner;
    this.name = name;
    this.options = options;
    this.delayNanos = options.delay().toNanos();
    this.word = WakeWord.create(options.wakeUp(), Math.max(delayNanos, LEAST_POLL_NANOS));
    this.retired = new RetireBuffer(this);
    this.thread = new WorkerThread(this::work, "quiesce-" + owner.rcu().name() + "-" + name);
  }

  /** Inherits nothing of whoever happens to queue first: no locals, no class loader. */
  private static final class WorkerThread extends Thread {
    WorkerThread(Runnable work, String name) {
      super(null, work, name, 0, false);
      setDaemon(true);
      setContextClassLoader(null);
    }
  }

  /** Whether the calling thread runs callbacks, of whatever domain. */
  static boolean isAnyWorker() {
    return Thread.currentThread() instanceof WorkerThread;
  }

  void start() {
    thread.start();
  }

  /**
   * The worker's name within its domain.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  /**
   * How it was made.
   *
   * @return its options
   */
  public WorkerOptions options() {
    return options;
  }

  /**
   * The thread that runs the callbacks.
   *
   * @return a daemon platform thread
   */
  public Thread thread() {
    return thread;
  }

  /**
   * Callbacks queued and not yet run, retired blocks not counted; racy, never negative.
   *
   * @return the number
   */
  public long pending() {
    long done = run.get();
    return Math.max(0, (long) QUEUED.getOpaque(this) - done);
  }

  /**
   * Whether everything that was handed over before the call has run (C.4). What has run is read
   * first, so an error is towards false.
   */
  boolean isDone() {
    long done = run.get();
    return retired.pendingBlocks() == 0 && (long) QUEUED.getVolatile(this) == done;
  }

  RetireBuffer retired() {
    return retired;
  }

  Rcu rcu() {
    return owner.rcu();
  }

  boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  /** Queues. Wait-free but for a wake-up when the worker sleeps. */
  void enqueue(Callback callback) {
    if (append(callback) - run.get() >= options.hurryAbove() && !hurry) {
      hurry();
    }
  }

  /** Queues, and blocks where back-pressure asks for it and the caller can afford it. */
  void enqueueOrWait(Callback callback) {
    enqueue(callback);
    if (options.blockAbove() != Long.MAX_VALUE && pending() > options.blockAbove()) {
      relieve();
    }
  }

  private long append(Callback callback) {
    long before = (long) QUEUED.getAndAdd(this, 1L);
    queue.enqueue(callback); // Q.1: full barrier
    word.wake(); // W.1
    if (handedOver) { // C.1
      move();
    }
    return before;
  }

  private void relieve() {
    if (owner.mayNotBlock()) {
      return;
    }
    boolean interrupted = false;
    while (pending() > options.blockAbove() / 2 && !handedOver && !paused) {
      hurry();
      LockSupport.parkNanos(this, 1_000_000);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** By {@link RetireBuffer}, after the volatile store that gives its flag back (W.2). */
  void wakeForRetired() {
    word.wake();
  }

  /** By {@link RetireBuffer}, when a chunk is full: bounds what waits for the delay. */
  void hurryIfHeavy() {
    if (!hurry && retired.pendingBytes() > HURRY_BYTES) {
      hurry();
    }
  }

  /** Ends the delay, now or before the next batch. */
  void hurry() {
    hurry = true; // volatile; the worker clears it before it takes a batch (C.2)
    word.wake();
    LockSupport.unpark(thread);
  }

  void pause(boolean pause) {
    paused = pause;
    if (pause) {
      hurry();
    } else {
      LockSupport.unpark(thread);
    }
  }

  boolean isPaused() {
    return paused;
  }

  /** Whether a paused worker has come to rest. */
  boolean isResting() {
    return resting || !thread.isAlive();
  }

  /** Asks the thread to run what is queued and end. */
  void stop() {
    stopping = true;
    hurry();
  }

  boolean isStopping() {
    return stopping;
  }

  boolean isStopped() {
    return handedOver;
  }

  private void work() {
    begun = System.nanoTime() - delayNanos;
    boolean more = true;
    while (more) {
      try {
        more = turn();
      } catch (Throwable failure) { // out of memory, most likely; nothing taken is held here
        recover(failure);
      }
    }
    handedOver = true; // C.1
    while (true) {
      try {
        synchronized (moving) {
          move();
          owner.left(this);
          return;
        }
      } catch (Throwable failure) {
        recover(failure);
      }
    }
  }

  private void recover(Throwable failure) {
    try {
      word.raise();
      logFailure("worker (it goes on)", failure);
      LockSupport.parkNanos(100_000_000);
    } catch (Throwable again) {
      // The next turn tries again.
    }
  }

  /**
   * One batch and the wait for the next; false when there is nothing left and the end is wanted.
   */
  private boolean turn() {
    if (options.cpu() >= 0 && (pinned == 0 || System.nanoTime() - pinned > REPIN_NANOS)) {
      pin();
    }
    while (paused && !stopping) {
      rest();
    }
    boolean hurried = hurry;
    hurry = false; // C.2: what is queued before somebody hurries is in the batch taken below
    WaitFreeQueue.Batch batch = queue.splice();
    RetireBuffer.Chunk blocks = retired.drain(); // C.3: after the queue, and run before it
    if (!batch.isEmpty() || blocks != null) {
      begun = System.nanoTime();
      runBatch(batch, blocks, hurried);
    } else if (stopping) {
      return false;
    }
    waitForWork();
    delay();
    return true;
  }

  private void runBatch(
      WaitFreeQueue.Batch batch, RetireBuffer.@Nullable Chunk blocks, boolean expedited) {
    long from = System.nanoTime();
    long bytes = retired.pendingBytes();
    GracePeriod gracePeriod = rcu().gracePeriod();
    awaitGracePeriod(gracePeriod, expedited);
    long blockCount = 0;
    for (RetireBuffer.Chunk chunk = blocks; chunk != null; ) {
      RetireBuffer.Chunk rest = chunk.cut();
      blockCount += chunk.count();
      try {
        chunk.run();
      } catch (Throwable failure) {
        logFailure("retired blocks", failure);
      }
      chunk = rest;
    }
    long count = 0;
    for (Callback callback = (Callback) batch.poll();
        callback != null;
        callback = (Callback) batch.poll()) {
      Thread.interrupted(); // what one callback leaves is not the next one's
      try {
        callback.run();
      } catch (Throwable failure) {
        logFailure("callback", failure);
      }
      count++;
      if ((count & 1023) == 0) {
        run.lazySet(run.get() + 1024);
      }
    }
    run.set(run.get() + (count & 1023));
    oldest = from;
    try {
      long freed = Math.max(0, bytes - retired.pendingBytes());
      RcuEvents.batch(rcu().name(), name, count + blockCount, freed, from);
    } catch (Throwable failure) {
      logFailure("event of a batch", failure);
    }
  }

  /** A failing barrier must not cost callbacks: say so, wait, try again. */
  private void awaitGracePeriod(GracePeriod gracePeriod, boolean expedited) {
    while (true) {
      try {
        gracePeriod.await(gracePeriod.snapshot(), expedited);
        return;
      } catch (Throwable failure) {
        logFailure("grace period (its callbacks wait for the next try)", failure);
        LockSupport.parkNanos(100_000_000);
      }
    }
  }

  private void waitForWork() {
    while (queue.isEmpty() && !hurry) {
      oldest = System.nanoTime();
      word.lower();
      if (!queue.isEmpty() || !retired.isEmpty() || hurry || stopping || paused) {
        word.raise();
        return;
      }
      word.sleep();
      if (!retired.isEmpty() || stopping || paused) {
        return;
      }
    }
  }

  private void delay() {
    long until = begun + delayNanos;
    while (!hurry && !stopping && !paused && pending() < options.hurryAbove()) {
      long left = until - System.nanoTime();
      if (left <= 0) {
        return;
      }
      LockSupport.parkNanos(this, left);
      Thread.interrupted(); // a callback may have left the flag set
    }
  }

  private void rest() {
    resting = true;
    while (paused && !stopping) {
      LockSupport.park(this);
      Thread.interrupted();
    }
    resting = false;
  }

  /** Moves what is left to the domain's default worker, in order, blocks first (C.3). */
  void move() {
    synchronized (moving) {
      if (queue.isEmpty() && retired.isEmpty()) {
        return;
      }
      CallbackWorker heir = owner.heir(); // may start a thread: before anything is taken
      WaitFreeQueue.Batch batch = queue.splice();
      for (RetireBuffer.Chunk chunk = retired.drain(); chunk != null; ) {
        RetireBuffer.Chunk rest = chunk.cut();
        heir.append(chunk);
        chunk = rest;
      }
      for (Callback callback = (Callback) batch.poll();
          callback != null;
          callback = (Callback) batch.poll()) {
        heir.append(callback);
        run.getAndIncrement(); // C.4: never done while the callback is in neither
      }
    }
  }

  private void pin() {
    int cpu = options.cpu();
    pinned = System.nanoTime();
    if (cpu < 0 || pinRefused) {
      return;
    }
    try {
      CpuAffinity.pinTo(cpu);
    } catch (RuntimeException refused) {
      String why = String.valueOf(refused.getMessage());
      pinRefused = true;
      LOG.log(
          Level.WARNING, "worker {0} of domain {1} runs unpinned: {2}", name, rcu().name(), why);
    }
  }

  long oldestNanos() {
    return pending() == 0 && retired.pendingBlocks() == 0 ? 0 : System.nanoTime() - oldest;
  }

  static void logFailure(String what, Throwable failure) {
    try {
      LOG.log(Level.WARNING, "RCU " + what + " threw", failure);
    } catch (Throwable nothingMoreToDo) {
      // A logger that fails must not stop the worker either.
    }
  }

  @Override
  public String toString() {
    return "CallbackWorker[" + name + " of " + rcu().name() + ", " + pending() + " pending]";
  }
}
