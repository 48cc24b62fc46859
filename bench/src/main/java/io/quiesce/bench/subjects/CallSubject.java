package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import io.quiesce.rcu.Callback;
import io.quiesce.rcu.CallbackWorker;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.WakeUp;
import io.quiesce.rcu.WorkerOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code rcu.call}: what deferring a callback costs, how many run per second, how long a lone one
 * waits, how long a barrier with nothing queued takes; for one configuration of workers. The same
 * steps as in the native peer, {@code bench/native/urcu.c}.
 */
public final class CallSubject implements Subject {

  /** Like the peer's {@code rcu_head}: allocated before, queued again and again. */
  private static final class Deferred extends Callback {
    long runs;

    @Override
    public void run() {
      runs++;
    }
  }

  private final Samples samples = new Samples(1 << 16);
  private final Semaphore idleDone = new Semaphore(0);
  private volatile long idleRan;
  private Rcu rcu = Rcu.shared();
  private String measure = "enqueue";
  private String worker = "default";
  private boolean asRunnable;
  private Deferred[] deferred = new Deferred[0];
  private Runnable[] runnables = new Runnable[0];
  private long batchesRun;
  private int settleState = 0x2463534;

  /** For the host. */
  public CallSubject() {}

  @Override
  public void setUp(Params params) {
    measure = params.get("measure", "enqueue");
    worker = params.get("worker", "default");
    asRunnable = params.get("form", "callback").equals("runnable");
    boolean batches = measure.equals("enqueue") || measure.equals("throughput");
    int size = params.get("batch", batches ? 1_000_000 : 1);
    WorkerOptions options = options();
    rcu = Rcu.builder("call").defaultWorker(options).build();
    rcu.reader(); // the caller is registered, as in the native peer
    deferred = new Deferred[size];
    runnables = new Runnable[asRunnable ? size : 0];
    for (int i = 0; i < size; i++) {
      Deferred one = new Deferred();
      deferred[i] = one;
      if (asRunnable) {
        runnables[i] = () -> one.runs++;
      }
    }
    rcu.callbacks().defaultWorker();
    if (perCpu() && !polls()) {
      createWorkers();
    }
  }

  private WorkerOptions options() {
    WorkerOptions defaults = WorkerOptions.defaults();
    return switch (worker) {
      case "default", "percpu", "percpu-pinned", "rt", "rt-pinned" -> defaults;
      case "no-delay" -> defaults.delay(Duration.ZERO);
      case "monitor" -> defaults.wakeUp(WakeUp.MONITOR);
      case "park" -> defaults.wakeUp(WakeUp.PARK);
      default -> throw new IllegalArgumentException("no worker is called '" + worker + "'");
    };
  }

  private boolean polls() {
    return worker.startsWith("rt");
  }

  private boolean perCpu() {
    return polls() || worker.startsWith("percpu");
  }

  private void createWorkers() {
    rcu.callbacks()
        .createPerCpuWorkers(WorkerOptions.defaults().realTime(polls()), worker.endsWith("pinned"));
  }

  private void freeWorkers() {
    CallbackWorker heir = rcu.callbacks().defaultWorker();
    for (CallbackWorker one : rcu.callbacks().workers()) {
      if (one != heir) {
        rcu.callbacks().free(one);
      }
    }
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    samples.clear();
    if (polls()) {
      createWorkers(); // they never sleep, so they live within a round only
    }
    switch (measure) {
      case "enqueue", "throughput" -> batches(time);
      case "idle-latency", "idle-barrier" -> idle(time);
      default -> throw new IllegalArgumentException("no measure is called '" + measure + "'");
    }
    rcu.barrier();
    if (polls()) {
      freeWorkers();
    }
    samples.sort();
    double median = samples.at(0.5);
    Map<String, Double> result = new LinkedHashMap<>();
    switch (measure) {
      case "enqueue" -> result.put("ns", median / deferred.length);
      case "throughput" -> result.put("rate", deferred.length * 1e9 / median);
      default -> result.put("ns", median);
    }
    result.put("samples", (double) samples.count());
    return result;
  }

  private void batches(Duration time) {
    long until = System.nanoTime() + time.toNanos();
    do {
      long from = System.nanoTime();
      if (asRunnable) {
        enqueueRunnables();
      } else {
        enqueueCallbacks();
      }
      long enqueued = System.nanoTime();
      rcu.barrier();
      long ran = System.nanoTime();
      samples.add((measure.equals("enqueue") ? enqueued : ran) - from);
      check();
    } while (System.nanoTime() < until);
  }

  private void enqueueCallbacks() {
    for (Deferred one : deferred) {
      rcu.call(one);
    }
  }

  private void enqueueRunnables() {
    for (Runnable one : runnables) {
      rcu.call(one);
    }
  }

  private void check() {
    batchesRun++;
    for (Deferred one : deferred) {
      if (one.runs != batchesRun) {
        throw new IllegalStateException("a callback ran " + one.runs + " times, not " + batchesRun);
      }
    }
  }

  /** Work now and then: whoever serves it sleeps in between. */
  private void idle(Duration time) throws InterruptedException {
    long until = System.nanoTime() + time.toNanos();
    do {
      settle();
      long from = System.nanoTime();
      if (measure.equals("idle-latency")) {
        rcu.call(
            () -> {
              idleRan = System.nanoTime();
              idleDone.release();
            });
        idleDone.acquire();
        samples.add(idleRan - from);
      } else {
        rcu.barrier();
        samples.add(System.nanoTime() - from);
      }
    } while (System.nanoTime() < until || samples.count() < 5);
  }

  /** 30 to 40 ms, spread so as not to fall into step with a worker that polls every 10 ms. */
  private void settle() {
    settleState ^= settleState << 13;
    settleState ^= settleState >>> 17;
    settleState ^= settleState << 5;
    long until =
        System.nanoTime() + 30_000_000 + Integer.remainderUnsigned(settleState, 10_000_000);
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
