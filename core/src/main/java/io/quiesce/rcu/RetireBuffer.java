package io.quiesce.rcu;

import io.quiesce.percpu.WaitFreeQueue;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Where retired off-heap blocks wait for the worker: striped chunks of address and size, so that
 * {@link Rcu#retire} allocates nothing and takes no lock that it could wait for.
 *
 * <p>A stripe is guarded by a flag that is only ever <em>tried</em>: a caller that finds every
 * stripe taken queues its block alone. So retiring inside a section can never wait for a worker
 * that waits for that section. Chunks stay with their stripe, full ones behind the newest, until
 * the worker fetches them all; the first block in a stripe wakes it. Nothing is kept per thread:
 * threads that come and go leave no garbage behind.
 *
 * <p>Blocks never travel through the worker's queue, since a barrier's marker could overtake a
 * chunk between its stripe and the queue. The worker takes its queue first and the stripes after
 * (C.3): what was retired before a marker was queued is then in the same batch, and runs before it.
 */
final class RetireBuffer {
  static final int CHUNK = 512;

  private static final VarHandle BUSY;

  static {
    try {
      BUSY = MethodHandles.lookup().findVarHandle(Stripe.class, "busy", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** Blocks that are freed together after one grace period. */
  static final class Chunk extends Callback {
    private final long[] addresses;
    private final long[] sizes;
    private final Reclaimer[] reclaimers;
    private final CallbackWorker origin;
    private int count;
    private long bytes;

    /** The next chunk of the stripe, or of what {@link RetireBuffer#drain} returned. */
    private @Nullable Chunk next;

    Chunk(CallbackWorker origin, int capacity) {
      this.origin = origin;
      addresses = new long[capacity];
      sizes = new long[capacity];
      reclaimers = new Reclaimer[capacity];
    }

    /** Cuts the chunk off the list that it leads; returns the rest. */
    @Nullable Chunk cut() {
      Chunk rest = next;
      next = null;
      return rest;
    }

    int count() {
      return count;
    }

    private boolean isFull() {
      return count == addresses.length || bytes >= CHUNK_BYTES;
    }

    private void add(Reclaimer reclaimer, long address, long size) {
      addresses[count] = address;
      sizes[count] = size;
      reclaimers[count] = reclaimer;
      bytes += size;
      count++;
    }

    @Override
    public void run() {
      int blocks = count;
      long size = bytes;
      for (int i = 0; i < blocks; i++) {
        Reclaimer reclaimer = reclaimers[i];
        reclaimers[i] = NONE;
        try {
          reclaimer.reclaim(addresses[i], sizes[i]);
        } catch (Throwable failure) {
          CallbackWorker.logFailure("reclaimer of a retired block", failure);
        }
      }
      count = 0;
      bytes = 0;
      origin.retired().recycle(this, blocks, size);
    }
  }

  private static final Reclaimer NONE = (address, bytes) -> {};

  /** A full chunk in bytes: few huge blocks must not wait for many to fill it. */
  private static final long CHUNK_BYTES = 16L << 20;

  private static final class Full extends WaitFreeQueue.Node {}

  private static final WaitFreeQueue.Node WOULD_BLOCK = new Full();

  /** One flag and what it guards, on lines of its own. */
  @SuppressWarnings("UnusedVariable") // the padding behind
  private static final class Stripe extends Padding {
    /** Given back by a field store, which needs no stack: no overflow can leave it set. */
    volatile boolean busy;

    @Nullable Chunk chunk;
    long blocks; // ever retired through this stripe
    long bytes;
    long q00, q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, q11, q12, q13, q14, q15;
  }

  private final CallbackWorker worker;
  private final Stripe[] stripes;
  private final WaitFreeQueue spares = new WaitFreeQueue(); // consumer: under sparesBusy
  private final Stripe sparesBusy = new Stripe();
  private final AtomicInteger spareCount = new AtomicInteger();
  private final LongAdder aloneBlocks = new LongAdder();
  private final LongAdder aloneBytes = new LongAdder();
  private final LongAdder reclaimedBlocks = new LongAdder();
  private final LongAdder reclaimedBytes = new LongAdder();

  RetireBuffer(CallbackWorker worker) {
    this.worker = worker;
    int count = Integer.highestOneBit(Runtime.getRuntime().availableProcessors() * 2);
    stripes = new Stripe[Math.min(Math.max(count, 1), 64)];
    for (int i = 0; i < stripes.length; i++) {
      stripes[i] = new Stripe();
    }
  }

  /** Takes a block. Never waits; allocates only when a spare chunk is not at hand. */
  void add(Reclaimer reclaimer, long address, long bytes) {
    int first = (int) Thread.currentThread().threadId();
    for (int i = 0; i < stripes.length; i++) {
      Stripe stripe = stripes[(first + i) & (stripes.length - 1)];
      if (tryLock(stripe)) {
        int todo;
        try {
          todo = put(stripe, reclaimer, address, bytes);
        } finally {
          stripe.busy = false; // W.2: volatile, before the wake-up word is read
        }
        afterwards(todo);
        return;
      }
    }
    Chunk alone = new Chunk(worker, 1);
    alone.add(reclaimer, address, bytes);
    aloneBlocks.increment();
    aloneBytes.add(bytes);
    worker.enqueue(alone);
    worker.hurryIfHeavy();
  }

  private static final int FIRST = 1;
  private static final int FULL = 2;
  private static final int ENDED = 4;

  /** Under the flag; returns what is to be done when it is given back. */
  private int put(Stripe stripe, Reclaimer reclaimer, long address, long bytes) {
    int todo = 0;
    Chunk chunk = stripe.chunk;
    if (chunk == null || chunk.isFull()) {
      Chunk fresh = spare();
      fresh.next = chunk;
      todo = chunk == null ? FIRST : 0;
      chunk = fresh;
      stripe.chunk = chunk;
    }
    chunk.add(reclaimer, address, bytes);
    stripe.blocks++;
    stripe.bytes += bytes;
    if (chunk.isFull()) {
      todo |= FULL;
    }
    if (worker.isStopped()) { // C.1: under the flag that the worker takes for its last move
      todo |= ENDED;
    }
    return todo;
  }

  private void afterwards(int todo) {
    if ((todo & ENDED) != 0) {
      worker.move();
    } else if ((todo & FIRST) != 0) {
      worker.wakeForRetired();
    }
    if ((todo & FULL) != 0) {
      worker.hurryIfHeavy();
    }
  }

  private Chunk spare() {
    if (tryLock(sparesBusy)) {
      try {
        if (spares.dequeueNonBlocking(WOULD_BLOCK) instanceof Chunk chunk) {
          spareCount.getAndDecrement();
          return chunk;
        }
      } finally {
        sparesBusy.busy = false;
      }
    }
    return new Chunk(worker, CHUNK);
  }

  private void recycle(Chunk chunk, int blocks, long bytes) {
    reclaimedBlocks.add(blocks);
    reclaimedBytes.add(bytes);
    if (chunk.addresses.length == CHUNK && spareCount.get() < stripes.length * 4) {
      spareCount.getAndIncrement();
      spares.enqueue(chunk);
    }
  }

  /** Blocks retired and not yet reclaimed; racy, never negative. */
  long pendingBlocks() {
    long done = reclaimedBlocks.sum();
    long all = aloneBlocks.sum();
    for (Stripe stripe : stripes) {
      all += stripe.blocks;
    }
    return Math.max(0, all - done);
  }

  /** Bytes retired and not yet reclaimed; racy, never negative. */
  long pendingBytes() {
    long done = reclaimedBytes.sum();
    long all = aloneBytes.sum();
    for (Stripe stripe : stripes) {
      all += stripe.bytes;
    }
    return Math.max(0, all - done);
  }

  /** By the worker: takes every chunk that has blocks; see {@link Chunk#cut}. */
  @Nullable Chunk drain() {
    Chunk all = null;
    for (Stripe stripe : stripes) {
      while (!tryLock(stripe)) {
        Thread.yield(); // its holder has a few stores to go
      }
      Chunk chunk;
      try {
        chunk = stripe.chunk;
        stripe.chunk = null;
      } finally {
        stripe.busy = false;
      }
      while (chunk != null) {
        Chunk rest = chunk.next;
        chunk.next = all;
        all = chunk;
        chunk = rest;
      }
    }
    return all;
  }

  /** By the worker, its word lowered: whether anything is here. */
  boolean isEmpty() {
    for (Stripe stripe : stripes) {
      if ((boolean) BUSY.getVolatile(stripe) || stripe.chunk != null) {
        return false;
      }
    }
    return true;
  }

  private static boolean tryLock(Stripe stripe) {
    return BUSY.compareAndSet(stripe, false, true);
  }
}
