package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one class that are in no CPU's cache: a small array through which batches pass from
 * one cache to another, and behind it the spans.
 *
 * <pre>
 *   cache of row 0  &lt;-- batch --&gt;  +----------------+
 *   cache of row 1  &lt;-- batch --&gt;  | transfer array | &lt;-- block by block --&gt; spans, fullest first
 *                                  +----------------+
 * </pre>
 *
 * <p>All under one lock a class. The restartable copy between a cache and the array is made while
 * the lock is held, straight from or to the array, so that nothing is copied twice and a batch
 * needs no memory of its own.
 *
 * <p>Blocks come from the fullest span, so that others become empty and their pages free.
 */
final class CentralList {
  private static final int BUCKETS = 4;

  private final String allocator;
  private final int sizeClass;
  private final int batch;
  private final PageHeap pages;
  private final RowCaches caches;
  private final ReentrantLock lock;
  private final int capacity;
  private final long transfer;
  private int count;
  private int leastCount; // since the last look of the housekeeper
  private final @Nullable Span[] partial = new Span[BUCKETS];
  private long spans;
  private long freeInSpans;
  private long corrupt;
  private long refills;
  private long overflows;
  private boolean closed;

  CentralList(String allocator, int sizeClass, long transfer, PageHeap pages, RowCaches caches) {
    this(allocator, sizeClass, transfer, pages, caches, new ReentrantLock());
  }

  /** With a lock from elsewhere: tests show that without one they would notice. */
  CentralList(
      String allocator,
      int sizeClass,
      long transfer,
      PageHeap pages,
      RowCaches caches,
      ReentrantLock lock) {
    this.lock = lock;
    this.allocator = allocator;
    this.sizeClass = sizeClass;
    this.batch = SizeClasses.batch(sizeClass);
    this.capacity = capacity(sizeClass);
    this.transfer = transfer;
    this.pages = pages;
    this.caches = caches;
  }

  /** Blocks that the transfer array can hold: a batch comes, one goes, and there is some slack. */
  static int capacity(int sizeClass) {
    return 4 * SizeClasses.batch(sizeClass) + 1;
  }

  private long slot(int index) {
    return transfer + (long) index * Long.BYTES;
  }

  /** A block for the caller, and as much of a batch as fits for the cache of its row. */
  long refill() {
    lock.lock();
    try {
      check();
      refills++;
      if (count < batch) {
        fetch(batch - count);
      }
      long block = OffHeap.getLong(slot(--count));
      int n = Math.min(batch - 1, count);
      if (n > 0) {
        int first = count - n;
        // Counted off before they are given away: an error in between (a stack overflow) may lose
        // blocks, and must not leave one in two places.
        count = first;
        int pushed = Math.max(0, caches.pushMany(sizeClass, slot(first), n));
        if (pushed < n) {
          OffHeap.copy(slot(first + pushed), slot(first), (long) (n - pushed) * Long.BYTES);
          count = first + n - pushed;
        }
      }
      leastCount = Math.min(leastCount, count);
      return block;
    } finally {
      lock.unlock();
    }
  }

  /** Takes a block that its row's cache had no room for, and a batch of that cache with it. */
  void overflow(long block) {
    lock.lock();
    try {
      check();
      overflows++;
      if (count + batch + 1 > capacity) {
        giveBack(Math.max(batch, count + batch + 1 - capacity));
      }
      int popped = caches.popMany(sizeClass, slot(count), batch);
      count += Math.max(0, popped);
      OffHeap.putLong(slot(count++), block);
    } finally {
      lock.unlock();
    }
  }

  /** Takes up to {@code surplus} blocks out of the cache of the current row. */
  void absorb(int surplus) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      for (int left = surplus; left > 0; left -= batch) {
        if (count + batch > capacity) {
          giveBack(batch);
        }
        count += Math.max(0, caches.popMany(sizeClass, slot(count), Math.min(batch, left)));
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes blocks from anywhere, {@code n} of them at an address. */
  void put(long from, int n) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      for (int i = 0; i < n; i++) {
        toSpan(OffHeap.getLong(from + (long) i * Long.BYTES));
      }
    } finally {
      lock.unlock();
    }
  }

  private void check() {
    if (closed) {
      throw new IllegalStateException("the allocator is closed");
    }
  }

  /** At least one block into the array, {@code wanted} if there is memory for them. */
  private void fetch(int wanted) {
    for (int left = wanted; left > 0; ) {
      Span span = fullest();
      if (span == null) {
        if (count > 0) {
          return; // some is enough; a new span for the rest would stay nearly empty
        }
        span = pages.allocate(SizeClasses.pages(sizeClass), 1, sizeClass);
        spans++;
        freeInSpans += span.blocks();
        link(span);
      }
      while (left > 0 && span.free() > 0) {
        OffHeap.putLong(slot(count++), span.take());
        freeInSpans--;
        left--;
      }
      relink(span);
    }
  }

  /** The coldest blocks, at the bottom of the array, go to their spans. */
  private void giveBack(int wanted) {
    int all = count;
    int n = Math.min(wanted, all);
    count = 0; // as in refill: lost at worst, never twice
    for (int i = 0; i < n; i++) {
      toSpan(OffHeap.getLong(slot(i)));
    }
    OffHeap.copy(slot(n), slot(0), (long) (all - n) * Long.BYTES);
    count = all - n;
    leastCount = Math.min(leastCount, count);
  }

  private void toSpan(long block) {
    Span span = pages.spanOf(block);
    if (span == null || span.sizeClass != sizeClass || !span.put(block)) {
      corrupt(block);
      return;
    }
    freeInSpans++;
    if (span.isWhole()) {
      unlink(span);
      spans--;
      freeInSpans -= span.blocks();
      pages.free(span);
    } else {
      relink(span);
    }
  }

  /** Whoever frees now is innocent: the block came through a cache. So it is told, not thrown. */
  private void corrupt(long block) {
    String report =
        "A block at 0x"
            + Long.toHexString(block)
            + " of the allocator '"
            + allocator
            + "' was freed twice, or is the middle of a block; build the allocator with"
            + " hardening(true) to find out where.";
    if (corrupt++ == 0) {
      System.getLogger("io.quiesce").log(System.Logger.Level.ERROR, report);
    }
    AllocatorEvents.corruption(
        allocator, "CORRUPT_FREE", block, SizeClasses.bytes(sizeClass), report);
  }

  private @Nullable Span fullest() {
    for (int bucket = BUCKETS - 1; bucket >= 0; bucket--) {
      Span span = partial[bucket];
      if (span != null) {
        return span;
      }
    }
    return null;
  }

  private void relink(Span span) {
    int bucket = bucket(span);
    if (bucket != span.bucket) {
      unlink(span);
      link(span);
    }
  }

  /** -1 for a span that has nothing. */
  private static int bucket(Span span) {
    return span.free() == 0 ? -1 : (span.blocks() - span.free()) * BUCKETS / span.blocks();
  }

  private void link(Span span) {
    int bucket = bucket(span);
    span.bucket = bucket;
    if (bucket < 0) {
      return;
    }
    Span head = partial[bucket];
    span.previous = null;
    span.next = head;
    if (head != null) {
      head.previous = span;
    }
    partial[bucket] = span;
  }

  private void unlink(Span span) {
    if (span.bucket < 0) {
      return;
    }
    Span previous = span.previous;
    Span next = span.next;
    if (next != null) {
      next.previous = previous;
    }
    if (previous != null) {
      previous.next = next;
    } else {
      partial[span.bucket] = next;
    }
    span.previous = null;
    span.next = null;
    span.bucket = -1;
  }

  /** What the array has not needed since the last call goes to the spans. */
  void trim() {
    lock.lock();
    try {
      if (!closed) {
        giveBack(leastCount);
        leastCount = count;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Everything goes to the spans. */
  void flush() {
    lock.lock();
    try {
      if (!closed) {
        giveBack(count);
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      count = 0;
      java.util.Arrays.fill(partial, null);
      spans = 0;
      freeInSpans = 0;
    } finally {
      lock.unlock();
    }
  }

  /** A moment's figures; those of blocks are 0 once the allocator is closed. */
  record Figures(
      long spans, long freeInSpans, long inTransfer, long corrupt, long refills, long overflows) {}

  Figures figures() {
    lock.lock();
    try {
      return new Figures(spans, freeInSpans, count, corrupt, refills, overflows);
    } finally {
      lock.unlock();
    }
  }

  /** Bytes of all transfer arrays together, for the classes up to {@link SizeClasses#COUNT}. */
  static long transferBytes() {
    long bytes = 0;
    for (int c = 1; c < SizeClasses.COUNT; c++) {
      bytes += (long) capacity(c) * Long.BYTES;
    }
    return (bytes + VirtualMemory.PAGE_BYTES - 1) & -VirtualMemory.PAGE_BYTES;
  }
}
