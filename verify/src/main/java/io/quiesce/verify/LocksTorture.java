package io.quiesce.verify;

import io.quiesce.locks.ClhLock;
import io.quiesce.locks.Deadlocks;
import io.quiesce.locks.McsLock;
import io.quiesce.locks.NodelessMcsLock;
import io.quiesce.locks.PerCpuReadWriteLock;
import io.quiesce.locks.SpinLock;
import io.quiesce.locks.TicketLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One lock under torture: platform and virtual threads take it in every form, give up after random
 * times, are interrupted at random, are born to wait and die, and hand items to each other through
 * conditions. Checked: one writer at a time and nobody beside it; what the section stored is seen
 * by the next; nobody waits longer than the bound; every item arrives. The broken form enters a
 * section without the lock now and then.
 */
@SuppressWarnings({"LockNotBeforeTry", "WaitNotInLoop", "ThreadPriorityCheck"})
final class LocksTorture {
  /** What is tortured, one after another. */
  enum Part {
    NODELESS,
    MCS,
    CLH,
    TICKET,
    SPIN,
    READ_WRITE
  }

  /** Nobody may wait longer, on a machine however busy. */
  private static final long WAIT_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final Duration END_LIMIT = Duration.ofSeconds(30);
  private static final int WORKERS = 4;
  private static final int VIRTUALS = 4;
  private static final int PASSERS = 2; // of each kind
  private static final int ROOM = 4;
  private static final int SLOTS = 64;

  private final long seed;
  private final boolean broken;
  private final Lock lock;
  private final @Nullable Lock readLock;
  private final Condition notEmpty;
  private final Condition notFull;
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicLongArray waitingSince = new AtomicLongArray(SLOTS);
  private final LongAdder operations = new LongAdder();
  private final LongAdder givenUp = new LongAdder();
  private final LongAdder interrupts = new LongAdder();
  private final List<Thread> workers = new ArrayList<>();
  private final List<Thread> producers = new ArrayList<>();
  private final List<Thread> consumers = new ArrayList<>();
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;

  // Plain, guarded by the lock.
  private long one;
  private long two;
  private int items;
  private long produced;
  private long consumed;
  private boolean ended;

  LocksTorture(Part part, long seed, boolean broken) {
    this.seed = seed;
    this.broken = broken;
    String name = part.name();
    PerCpuReadWriteLock both = new PerCpuReadWriteLock(name);
    this.readLock = part == Part.READ_WRITE ? both.readLock() : null;
    this.lock =
        switch (part) {
          case NODELESS -> new NodelessMcsLock(name);
          case MCS -> new McsLock(name);
          case CLH -> new ClhLock(name);
          case TICKET -> new TicketLock(name);
          case SPIN -> new SpinLock(name);
          case READ_WRITE -> both.writeLock();
        };
    this.notEmpty = lock.newCondition();
    this.notFull = lock.newCondition();
  }

  /** What one run counted. */
  record Result(long operations, long givenUp, long interrupts, long items) {}

  Result run(long millis) throws InterruptedException {
    start();
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    SplittableRandom random = new SplittableRandom(seed);
    while (failure == null && System.nanoTime() < until) {
      Thread.sleep(0, random.nextInt(1, 900_000));
      List<Thread> group = random.nextBoolean() ? workers : consumers;
      group.get(random.nextInt(group.size())).interrupt();
      checkProgress();
    }
    stop = true;
    join(workers, "");
    join(producers, "no room was signalled to it: ");
    if (failure == null) {
      lock.lock();
      ended = true;
      notEmpty.signalAll();
      lock.unlock();
      join(consumers, "the end was not signalled to it: ");
    }
    TortureFailure.throwIfAny(failure);
    if (produced != consumed || items != 0) {
      throw new TortureFailure(produced + " items went in and " + consumed + " came out");
    }
    if (!lock.tryLock()) {
      throw new TortureFailure("the lock is not free at the end: " + lock);
    }
    lock.unlock();
    return new Result(operations.sum(), givenUp.sum(), interrupts.sum(), consumed);
  }

  private void checkProgress() {
    long now = System.nanoTime();
    for (int slot = 0; slot < SLOTS; slot++) {
      long since = waitingSince.get(slot);
      if (since != 0 && now - since > WAIT_LIMIT_NANOS) {
        throw new TortureFailure(
            "thread " + slot + " waits for more than 20 s; " + lock + " " + Deadlocks.report());
      }
    }
  }

  private void join(List<Thread> threads, String why) throws InterruptedException {
    for (Thread thread : threads) {
      if (failure != null) {
        return; // they are daemons, and this JVM ends
      }
      if (!thread.join(END_LIMIT)) {
        throw new TortureFailure("thread " + thread.getName() + " hangs: " + why + lock);
      }
    }
  }

  // ---- threads ----

  private interface Body {
    void run(int number, SplittableRandom random) throws Exception;
  }

  private Thread thread(boolean virtual, int number, Body body) {
    Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
    return builder
        .name("torture-" + number)
        .unstarted(
            () -> {
              try {
                body.run(number, new SplittableRandom(seed ^ number));
              } catch (Throwable thrown) {
                synchronized (this) {
                  failure = failure == null ? thrown : failure;
                }
                stop = true;
              }
            });
  }

  private void start() {
    int number = 1;
    for (int i = 0; i < WORKERS + VIRTUALS; i++) {
      workers.add(thread(i >= WORKERS, number++, this::work));
    }
    workers.add(thread(false, number++, this::brief));
    for (int i = 0; i < PASSERS; i++) {
      producers.add(thread(i == 1, number++, this::produce));
      consumers.add(thread(i == 0, number++, this::consume));
    }
    workers.forEach(Thread::start);
    producers.forEach(Thread::start);
    consumers.forEach(Thread::start);
  }

  private void work(int number, SplittableRandom random) {
    while (!stop) {
      step(number, random);
      int dice = random.nextInt(2_000);
      if (dice == 0) {
        sleep(random.nextInt(300_000));
      } else if (Thread.currentThread().isVirtual()) {
        // Not yield(): virtual threads that only yield keep those that slept from running.
        LockSupport.parkNanos(1_000);
      } else if (dice < 200) {
        Thread.yield();
      }
    }
  }

  /** Threads that are born to wait, are interrupted, and die. */
  private void brief(int number, SplittableRandom random) throws Exception {
    while (!stop) {
      Thread brief =
          thread(
              random.nextBoolean(),
              number + 20,
              (slot, ignored) -> {
                try {
                  begin(slot);
                  lock.lockInterruptibly();
                  section(slot, random);
                  lock.unlock();
                } catch (InterruptedException expected) {
                  interrupts.increment();
                } finally {
                  end(slot);
                }
              });
      brief.start();
      sleep(random.nextInt(200_000));
      brief.interrupt();
      while (brief.isAlive()) {
        sleep(10_000); // this one is interrupted too
      }
    }
  }

  private void sleep(int nanos) {
    try {
      Thread.sleep(0, Math.max(1, nanos));
    } catch (InterruptedException expected) {
      interrupts.increment();
    }
  }

  private void begin(int slot) {
    waitingSince.set(slot, System.nanoTime() | 1);
  }

  private void end(int slot) {
    waitingSince.set(slot, 0);
  }

  private void step(int number, SplittableRandom random) {
    operations.increment();
    Lock reading = readLock;
    boolean read = reading != null && random.nextInt(4) != 0;
    Lock chosen = read && reading != null ? reading : lock;
    if (broken && random.nextInt(8) == 0) {
      section(number, random);
      return;
    }
    begin(number);
    boolean taken = take(chosen, random);
    end(number);
    if (!taken) {
      givenUp.increment();
      return;
    }
    if (read) {
      look();
    } else {
      section(number, random);
    }
    chosen.unlock();
  }

  private boolean take(Lock chosen, SplittableRandom random) {
    try {
      switch (random.nextInt(8)) {
        case 0 -> {
          return chosen.tryLock();
        }
        case 1, 2, 3 -> {
          return chosen.tryLock(random.nextInt(-1, 200), TimeUnit.MICROSECONDS);
        }
        case 4, 5 -> chosen.lockInterruptibly();
        default -> chosen.lock();
      }
      return true;
    } catch (InterruptedException expected) {
      interrupts.increment();
      return false;
    }
  }

  private void section(int number, SplittableRandom random) {
    int other = inside.getAndSet(number);
    if (other != 0) {
      throw new TortureFailure(number + " has the lock while " + other + " has it");
    }
    long before = one;
    if (two != before) {
      throw new TortureFailure("a section sees half of another: " + before + ", " + two);
    }
    one = before + 1;
    int dice = random.nextInt(256);
    if (broken && dice < 128) {
      LockSupport.parkNanos(50_000); // so that somebody comes meanwhile
    } else if (dice == 0) {
      Thread.yield();
    } else {
      for (int i = 0; i < dice; i++) {
        Thread.onSpinWait();
      }
    }
    two = before + 1;
    inside.set(0);
  }

  private void look() {
    long seen = one;
    Thread.onSpinWait();
    if (inside.get() != 0 || two != seen) {
      throw new TortureFailure("a reader sees a writer at work");
    }
  }

  // ---- conditions ----

  private void produce(int number, SplittableRandom random) {
    while (!stop) {
      lock.lock();
      while (items == ROOM) {
        begin(number);
        notFull.awaitUninterruptibly();
        end(number);
      }
      section(number, random);
      items++;
      produced++;
      notEmpty.signal();
      lock.unlock();
      if (random.nextInt(32) == 0) {
        sleep(random.nextInt(100_000));
      }
    }
  }

  private void consume(int number, SplittableRandom random) {
    while (true) {
      lock.lock();
      try {
        while (items == 0 && !ended) {
          begin(number);
          pause(random);
          end(number);
        }
        section(number, random);
        if (items == 0) {
          return;
        }
        items--;
        consumed++;
        notFull.signal();
      } finally {
        lock.unlock();
      }
    }
  }

  private void pause(SplittableRandom random) {
    try {
      if (random.nextInt(3) == 0) {
        long left = notEmpty.awaitNanos(random.nextInt(100_000));
        if (left <= 0) {
          givenUp.increment();
        }
      } else {
        notEmpty.await();
      }
    } catch (InterruptedException expected) {
      interrupts.increment();
    }
  }
}
