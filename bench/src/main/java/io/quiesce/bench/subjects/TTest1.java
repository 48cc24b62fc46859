package io.quiesce.bench.subjects;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * t-test1, the allocator test that Wolfram Gloger wrote for ptmalloc, in Java.
 *
 * <p>So many threads are alive at a time. Each has bins and fills each of them with a probability
 * of one half with a block of 1 to {@code size} bytes. Then, until it has counted {@code loops}
 * actions: up to 29 times it frees a random bin, which does nothing if that is empty, and up to 29
 * times it allocates into a random bin, freeing what is there. Of 1,024 allocations 4 are aligned
 * (to 4, 8, 16, 32), 16 zeroed, 80 reallocations if the block there is smaller than 2,000 bytes,
 * the rest plain. In the end it frees everything, bears the next one, dies and is joined. Each
 * block is freed by the thread that allocated it. Nothing touches the blocks but what zeroes and
 * copies.
 *
 * <p>Threads are born until the time is over, instead of up to a number. {@code checked} is {@code
 * TEST=1}: one byte in 2,047 and the last are written after an allocation and checked before a
 * free.
 */
final class TTest1 {
  private static final int ACTIONS_MAX = 30;
  private static final int REALLOC_MAX = 2000;
  private static final int STEP = 2047;
  private static final int BLOCK_MEMORY = 8_000_000;

  /**
   * The arguments of the program.
   *
   * @param threads alive at a time
   * @param loops actions of a thread's life
   * @param size the largest block
   * @param bins of each thread
   * @param checked whether contents are written and checked
   */
  record Shape(int threads, int loops, int size, int bins, boolean checked) {
    static Shape of(int threads, int loops, boolean checked) {
      int size = 10_000;
      int bins = (int) Math.max(4, BLOCK_MEMORY / ((long) size * threads));
      return new Shape(threads, loops, size, bins, checked);
    }
  }

  private final Shape shape;
  private final Bins.Heap heap;
  private final ThreadFactory threads;
  private final BlockingQueue<Life> ended = new LinkedBlockingQueue<>();
  private final AtomicLong born = new AtomicLong();
  private long until; // written before the first birth

  TTest1(Shape shape, Bins.Heap heap, ThreadFactory threads) {
    this.shape = shape;
    this.heap = heap;
    this.threads = threads;
  }

  /**
   * Keeps that many threads alive for a time, and then waits for the last.
   *
   * @return calls of the allocator: allocations, reallocations and frees
   */
  long run(Duration time) throws InterruptedException {
    until = System.nanoTime() + time.toNanos();
    for (int i = 0; i < shape.threads(); i++) {
      bear();
    }
    long calls = 0;
    Throwable failure = null;
    for (int lines = shape.threads(); lines > 0; ) {
      Life life = ended.take();
      life.thread.join();
      calls += life.calls;
      failure = life.failure == null ? failure : life.failure;
      lines -= life.last ? 1 : 0;
    }
    if (failure != null) {
      throw new IllegalStateException("a thread of t-test1 failed: " + failure, failure);
    }
    return calls;
  }

  private void bear() {
    new Life(born.incrementAndGet()).thread.start();
  }

  /** A thread from birth to death. */
  private final class Life implements Runnable {
    final Thread thread;
    private final Bins blocks = heap.newBins(shape.bins());
    private final int[] sizes = new int[shape.bins()];
    private long random;
    long calls;
    boolean last;
    @Nullable Throwable failure;

    Life(long seed) {
      random = (seed * 0x9e3779b97f4a7c15L) | 1;
      thread = threads.newThread(this);
    }

    @Override
    public void run() {
      try {
        live();
        last = System.nanoTime() - until >= 0;
        if (!last) {
          bear();
        }
      } catch (Throwable t) { // an Error too: somebody waits
        failure = t;
        last = true;
      }
      ended.add(this);
    }

    /** From 0 to less than {@code bound}. */
    private int random(int bound) {
      long x = random;
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
      random = x;
      return (int) (((x >>> 32) * bound) >>> 32);
    }

    private void live() {
      int bins = sizes.length;
      for (int bin = 0; bin < bins; bin++) {
        if (random(2) == 0) {
          allocate(bin);
        }
      }
      for (int i = 0; i <= shape.loops(); ) {
        int frees = random(ACTIONS_MAX);
        for (int j = 0; j < frees; j++) {
          free(random(bins));
        }
        int allocations = random(ACTIONS_MAX);
        for (int j = 0; j < allocations; j++) {
          allocate(random(bins));
        }
        i += frees + allocations;
      }
      for (int bin = 0; bin < bins; bin++) {
        free(bin);
      }
    }

    private void free(int bin) {
      if (sizes[bin] > 0) {
        if (shape.checked()) {
          check(bin, sizes[bin]);
        }
        blocks.free(bin);
        calls++;
        sizes[bin] = 0;
      }
    }

    private void allocate(int bin) {
      int bytes = random(shape.size()) + 1;
      int which = random(1024);
      int old = sizes[bin];
      if (which >= 20 && which < 100 && old > 0 && old < REALLOC_MAX) {
        reallocate(bin, old, bytes);
      } else {
        free(bin);
        if (which < 4) {
          blocks.allocateAligned(bin, bytes, Integer.BYTES << which);
        } else if (which < 20) {
          blocks.allocateZeroed(bin, bytes);
          if (shape.checked()) {
            checkZero(bin, bytes);
          }
        } else {
          blocks.allocate(bin, bytes); // a reallocation of nothing, too
        }
      }
      calls++;
      sizes[bin] = bytes;
      if (shape.checked()) {
        write(bin, bytes);
      }
    }

    private void reallocate(int bin, int old, int bytes) {
      if (shape.checked()) {
        check(bin, old);
      }
      blocks.reallocate(bin, bytes);
      if (shape.checked()) {
        for (int i = 0; i < Math.min(old, bytes); i += STEP) {
          expect(bin, i, old, mark(bin, i));
        }
      }
    }

    private byte mark(int bin, int index) {
      int mixed = System.identityHashCode(this) ^ (bin * 31 + index);
      return (byte) (mixed ^ (mixed >>> 8));
    }

    private void write(int bin, int bytes) {
      for (int i = 0; i < bytes; i += STEP) {
        blocks.put(bin, i, mark(bin, i));
      }
      blocks.put(bin, bytes - 1, mark(bin, bytes - 1));
    }

    private void check(int bin, int bytes) {
      for (int i = 0; i < bytes; i += STEP) {
        expect(bin, i, bytes, mark(bin, i));
      }
      expect(bin, bytes - 1, bytes, mark(bin, bytes - 1));
    }

    private void checkZero(int bin, int bytes) {
      for (int i = 0; i < bytes; i += STEP) {
        expect(bin, i, bytes, (byte) 0);
      }
      expect(bin, bytes - 1, bytes, (byte) 0);
    }

    private void expect(int bin, int index, int bytes, byte value) {
      byte found = blocks.get(bin, index);
      if (found != value) {
        throw new IllegalStateException(
            "byte %d of a block of %d is %d instead of %d".formatted(index, bytes, found, value));
      }
    }
  }
}
