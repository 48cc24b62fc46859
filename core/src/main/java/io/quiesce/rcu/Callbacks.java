package io.quiesce.rcu;

import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.Rseq;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The callback workers of a domain, and which of them a callback goes to: the one that the calling
 * thread chose, else the one of the CPU it runs on, else the default worker, which starts with the
 * first callback. All methods are safe from any thread.
 *
 * <pre>{@code
 * rcu.callbacks().createPerCpuWorkers(WorkerOptions.defaults());   // each pinned to its CPU
 * CallbackWorker mine = rcu.callbacks().newWorker("flush", WorkerOptions.defaults().realTime(true));
 * rcu.callbacks().setThreadWorker(mine);                           // for this thread's callbacks
 * }</pre>
 */
public final class Callbacks {
  /** Barriers that a shutdown runs at once; between later ones it rests. */
  private static final int BARRIERS_AT_ONCE = 64;

  private static final long REST_NANOS = 200_000;

  private final Rcu rcu;
  private final CopyOnWriteArrayList<CallbackWorker> workers = new CopyOnWriteArrayList<>();
  private final Object lock = new Object();
  private volatile @Nullable CallbackWorker defaultWorker;
  private volatile @Nullable AtomicReferenceArray<@Nullable CallbackWorker> perCpu;
  private volatile boolean threadWorkersUsed;
  private WorkerOptions defaultOptions;
  private int made;
  private boolean paused;

  Callbacks(Rcu rcu, WorkerOptions defaultOptions) {
    this.rcu = rcu;
    this.defaultOptions = defaultOptions;
  }

  Rcu rcu() {
    return rcu;
  }

  /**
   * The default worker, started now if there is none.
   *
   * @return the worker that takes what no other does
   */
  public CallbackWorker defaultWorker() {
    CallbackWorker worker = defaultWorker;
    return worker != null && !worker.isStopped() ? worker : startDefault();
  }

  private CallbackWorker startDefault() {
    synchronized (lock) {
      CallbackWorker worker = defaultWorker;
      if (worker == null || worker.isStopped()) {
        worker = start("default", defaultOptions);
        defaultWorker = worker;
      }
      return worker;
    }
  }

  /** Who takes what a freed worker leaves. */
  CallbackWorker heir() {
    return defaultWorker();
  }

  /**
   * Starts a worker that only threads which choose it use.
   *
   * @param name how it is called in reports
   * @param options how it works
   * @return the running worker; free it with {@link #free}
   * @throws IllegalStateException if the domain is closed
   */
  public CallbackWorker newWorker(String name, WorkerOptions options) {
    rcu.checkOpen();
    synchronized (lock) {
      return start(name + "-" + made++, options);
    }
  }

  private CallbackWorker start(String name, WorkerOptions options) {
    CallbackWorker worker = new CallbackWorker(this, name, options);
    workers.add(worker);
    worker.pause(paused);
    boolean started = false;
    try {
      worker.start();
      started = true;
    } finally {
      if (!started) {
        workers.remove(worker); // no thread to be had: nobody may wait for it
      }
    }
    return worker;
  }

  /**
   * Starts one worker for every online CPU that has none, pinned to it, and sends the callbacks of
   * threads on a CPU to its worker. Without a way to tell the CPU (see {@link Rseq#cpu()}) the
   * default worker goes on taking them.
   *
   * @param options how they work; their CPU number is overridden
   * @throws IllegalStateException if the domain is closed
   */
  public void createPerCpuWorkers(WorkerOptions options) {
    createPerCpuWorkers(options, true);
  }

  /**
   * As {@link #createPerCpuWorkers(WorkerOptions)}, pinned or not.
   *
   * @param options how they work; their CPU number is overridden
   * @param pinned whether each pins itself to its CPU
   * @throws IllegalStateException if the domain is closed
   */
  public void createPerCpuWorkers(WorkerOptions options, boolean pinned) {
    rcu.checkOpen();
    synchronized (lock) {
      AtomicReferenceArray<@Nullable CallbackWorker> table = table();
      for (int cpu : CpuTopology.online().toArray()) {
        if (table.get(cpu) == null) {
          table.set(cpu, start("cpu" + cpu + "-" + made++, options.cpu(pinned ? cpu : -1)));
        }
      }
    }
  }

  private AtomicReferenceArray<@Nullable CallbackWorker> table() {
    AtomicReferenceArray<@Nullable CallbackWorker> table = perCpu;
    if (table == null) {
      table = new AtomicReferenceArray<>(CpuTopology.tableSize());
      perCpu = table;
    }
    return table;
  }

  /**
   * The worker of a CPU.
   *
   * @param cpu a CPU number
   * @return its worker, or null if it has none
   */
  public @Nullable CallbackWorker forCpu(int cpu) {
    AtomicReferenceArray<@Nullable CallbackWorker> table = perCpu;
    return table == null || cpu < 0 || cpu >= table.length() ? null : table.get(cpu);
  }

  /**
   * Gives a CPU a worker, or takes it away. The worker is not freed: free it afterwards.
   *
   * @param cpu a CPU number
   * @param worker the worker, or null to take the present one away
   * @throws IllegalStateException if the CPU has a worker that was not taken away before
   * @throws IllegalArgumentException if there can be no such CPU, or the worker is another domain's
   */
  public void setCpuWorker(int cpu, @Nullable CallbackWorker worker) {
    checkMine(worker);
    synchronized (lock) {
      AtomicReferenceArray<@Nullable CallbackWorker> table = table();
      if (cpu < 0 || cpu >= table.length()) {
        throw new IllegalArgumentException(
            "CPU " + cpu + " is not one of the " + table.length() + " this machine can have");
      }
      if (worker != null && table.get(cpu) != null) {
        throw new IllegalStateException(
            "CPU " + cpu + " has a worker; take it away with setCpuWorker(" + cpu + ", null)");
      }
      table.set(cpu, worker);
    }
  }

  /**
   * Chooses the worker for the callbacks that the calling thread will queue.
   *
   * @param worker the worker, or null for no choice
   * @throws IllegalArgumentException if the worker is another domain's
   * @throws UnsupportedOperationException on a virtual thread, which has no record to keep it in
   */
  public void setThreadWorker(@Nullable CallbackWorker worker) {
    checkMine(worker);
    if (worker != null) {
      threadWorkersUsed = true;
    }
    rcu.reader().worker = worker;
  }

  /**
   * The worker that the calling thread chose.
   *
   * @return the worker, or null if it chose none
   */
  public @Nullable CallbackWorker threadWorker() {
    Reader reader = threadWorkersUsed ? rcu.findReader() : null;
    return reader == null ? null : reader.worker;
  }

  private void checkMine(@Nullable CallbackWorker worker) {
    if (worker != null && worker.rcu() != rcu) {
      throw new IllegalArgumentException(worker + " does not belong to domain " + rcu.name());
    }
  }

  /**
   * The worker to which a callback that the calling thread queues now would go.
   *
   * @return the thread's, else the CPU's, else the default worker
   */
  public CallbackWorker current() {
    if (threadWorkersUsed) {
      CallbackWorker chosen = threadWorker();
      if (chosen != null) {
        return chosen;
      }
    }
    if (perCpu != null) {
      CallbackWorker cpus = forCpu(Rseq.cpu());
      if (cpus != null) {
        return cpus;
      }
    }
    CallbackWorker worker = defaultWorker;
    return worker != null ? worker : startDefault();
  }

  /**
   * All workers that run now.
   *
   * @return a snapshot
   */
  public List<CallbackWorker> workers() {
    return List.copyOf(workers);
  }

  /**
   * Ends a worker. What it has queued it runs first; what arrives too late the default worker runs.
   * A worker of CPUs is taken away from them; threads that had chosen it go on through the default
   * worker.
   *
   * @param worker the worker; freeing one twice does nothing
   * @throws IllegalArgumentException if it is the default worker or another domain's
   */
  public void free(CallbackWorker worker) {
    checkMine(worker);
    synchronized (lock) {
      if (worker == defaultWorker) {
        throw new IllegalArgumentException(
            "the default worker ends with its domain; close the domain instead");
      }
      AtomicReferenceArray<@Nullable CallbackWorker> table = perCpu;
      for (int cpu = 0; table != null && cpu < table.length(); cpu++) {
        table.compareAndSet(cpu, worker, null);
      }
    }
    worker.stop();
  }

  /**
   * Holds all workers between two batches, and those that start later, until {@link #resume()}:
   * nothing runs, everything queues, nobody is blocked by back-pressure. Returns when they rest, or
   * early when interrupted. For checkpoints and for tests.
   *
   * @throws IllegalStateException inside a section of this domain or from a callback, which would
   *     wait for itself
   */
  public void pause() {
    rcu.checkMayWaitForCallbacks("pause()");
    Reader reader = rcu.goOffline();
    try {
      pauseAndWait();
    } finally {
      Rcu.backOnline(reader);
    }
  }

  private void pauseAndWait() {
    synchronized (lock) {
      paused = true;
      workers.forEach(worker -> worker.pause(true));
    }
    for (CallbackWorker worker : workers) {
      while (!worker.isResting() && worker.isPaused()) {
        LockSupport.parkNanos(this, 100_000);
        if (Thread.interrupted()) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }

  /** Lets paused workers go on. */
  public void resume() {
    synchronized (lock) {
      paused = false;
      workers.forEach(worker -> worker.pause(false));
    }
  }

  boolean isWorker() {
    for (CallbackWorker worker : workers) {
      if (worker.isCurrentThread()) {
        return true;
      }
    }
    return false;
  }

  boolean mayNotBlock() {
    return CallbackWorker.isAnyWorker() || rcu.mayBeReading();
  }

  void left(CallbackWorker worker) {
    workers.remove(worker);
  }

  /** Counts the workers that passed; every callback queued before it has then run. */
  private static final class Marker extends Callback {
    private final CountDownLatch passed;

    Marker(CountDownLatch passed) {
      this.passed = passed;
    }

    @Override
    public void run() {
      passed.countDown();
    }
  }

  CountDownLatch startBarrier() {
    // The workers that are listed now hold every callback queued before now (see CallbackWorker).
    CallbackWorker[] all = workers.toArray(CallbackWorker[]::new);
    List<CallbackWorker> busy = new ArrayList<>();
    boolean moving = false;
    for (CallbackWorker worker : all) {
      if (!worker.isDone()) { // C.4: an idle worker has nothing that we could wait for
        busy.add(worker);
      }
      moving |= worker.isStopping(); // read after isDone: what it moved may be in one seen before
    }
    if (moving) {
      busy = List.of(all);
    }
    CountDownLatch passed = new CountDownLatch(busy.size());
    for (CallbackWorker worker : busy) {
      worker.enqueue(new Marker(passed));
      worker.hurry();
    }
    return passed;
  }

  void hurry() {
    workers.forEach(CallbackWorker::hurry);
  }

  boolean isEmpty() {
    for (CallbackWorker worker : workers) {
      if (worker.pending() > 0 || worker.retired().pendingBlocks() > 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Runs everything that is queued, what those callbacks queue in turn included, and ends. Only the
   * time bounds how often it looks: a caller that was preempted between being counted and having
   * queued keeps a domain from being empty for as long as that lasts.
   */
  void shutDown(Duration limit) throws InterruptedException, TimeoutException {
    long until = System.nanoTime() + Rcu.nanos(limit);
    resume();
    for (int level = 1; ; level++) {
      boolean passed = startBarrier().await(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (passed && isEmpty()) {
        break;
      }
      if (!passed || until - System.nanoTime() <= 0) {
        throw new TimeoutException(
            "domain "
                + rcu.name()
                + " still has "
                + rcu.statistics().pendingCallbacks()
                + " callbacks and "
                + rcu.statistics().pendingBlocks()
                + " blocks to run after "
                + limit
                + "; they go on running");
      }
      if (level >= BARRIERS_AT_ONCE) {
        LockSupport.parkNanos(this, REST_NANOS);
      }
    }
    for (CallbackWorker worker : workers()) {
      worker.stop();
      if (!worker.isCurrentThread()) {
        worker.thread().join(Duration.ofNanos(Math.max(1, until - System.nanoTime())));
      }
    }
  }
}
