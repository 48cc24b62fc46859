package io.quiesce.verify;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.Membarrier;
import io.quiesce.linux.OffHeap;
import io.quiesce.memory.AllocatorStatistics;
import io.quiesce.memory.PerCpuAllocator;
import io.quiesce.percpu.PerCpuOps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A per-CPU allocator under torture: platform and virtual threads allocate blocks of every kind,
 * fill them with a pattern of their address and a number of their own, put them on a shelf where
 * any other thread finds them, checks the pattern and frees them. Meanwhile restartable sequences
 * are aborted, threads change their CPU, caches are drained, pages given back, and threads born. At
 * the end nothing may be live, and the process no larger than after the first tenth of the time.
 * The broken form frees blocks that somebody else still uses, so that they are handed out twice.
 */
final class AllocTorture {
  private static final int SHELF = 2_048;
  private static final int WORKERS = 4;
  private static final int VIRTUALS = 4;
  private static final long LIMIT = 512L << 20;
  private static final long LARGEST_SMALL = 32 * 1024;
  private static final long LARGEST_SPAN = 1 << 20;
  private static final long LARGEST_HUGE = 3 << 20;
  private static final long CHECKED_WHOLE = 4_096;
  private static final long STEP = 33 * 8; // through larger blocks; comes by every place in a line
  private static final long SLACK = 32L << 20; // compiled code, stacks, the collector's own
  private static final Duration END_LIMIT = Duration.ofSeconds(60);

  private final long seed;
  private final boolean broken;
  private final PerCpuAllocator allocator =
      PerCpuAllocator.builder().name("torture").limit(LIMIT).build();
  private final AtomicReferenceArray<@Nullable Block> shelf = new AtomicReferenceArray<>(SHELF);
  private final LongAdder allocations = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder births = new LongAdder();
  private final AtomicLong trims = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;

  AllocTorture(long seed, boolean broken) {
    this.seed = seed;
    this.broken = broken;
  }

  /** What one run counted; resident memory in bytes, after the first tenth and at the end. */
  record Result(
      long allocations,
      long bytes,
      long births,
      long trims,
      long residentEarly,
      long residentEnd) {}

  /** A block that is live. */
  private record Block(long address, long size, long nonce) {}

  Result run(long millis) throws InterruptedException, IOException {
    start();
    long begun = System.nanoTime();
    long tenth = begun + TimeUnit.MILLISECONDS.toNanos(millis / 10);
    long until = begun + TimeUnit.MILLISECONDS.toNanos(millis);
    long early = 0;
    while (failure == null && System.nanoTime() < until) {
      Thread.sleep(20);
      if (early == 0 && System.nanoTime() > tenth) {
        early = resident();
      }
    }
    stop = true;
    for (Thread thread : threads) {
      if (!thread.join(END_LIMIT)) {
        throw new TortureFailure("thread " + thread.getName() + " hangs");
      }
    }
    TortureFailure.throwIfAny(failure);
    within("while blocks are live", early, resident());
    clear();
    long end = resident();
    within("when everything is freed", early, end);
    allocator.close();
    return new Result(allocations.sum(), bytes.sum(), births.sum(), trims.get(), early, end);
  }

  /** Memory of the process that is there; 0 if nothing tells. */
  private static long resident() throws IOException {
    Path statm = Path.of("/proc/self/statm");
    if (!Files.isReadable(statm)) {
      return 0;
    }
    String[] words = Files.readString(statm).split(" ", -1);
    return Long.parseLong(words[1]) * 4_096;
  }

  private static void within(String when, long early, long now) {
    if (early != 0 && now > early + early / 10 + SLACK) {
      throw new TortureFailure(
          "resident memory went from " + early + " to " + now + " bytes, " + when);
    }
  }

  // ---- threads ----

  private interface Body {
    void run(SplittableRandom random) throws Exception;
  }

  private Runnable guard(int number, Body body) {
    return () -> {
      try {
        body.run(new SplittableRandom(seed ^ number));
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
    for (int i = 0; i < WORKERS; i++) {
      threads.add(platform(number++, this::work));
    }
    for (int i = 0; i < VIRTUALS; i++) {
      threads.add(Thread.ofVirtual().unstarted(guard(number++, this::work)));
    }
    threads.add(platform(number++, this::bear));
    threads.add(platform(number++, this::hammer));
    threads.add(platform(number++, this::trim));
    threads.add(platform(number++, this::openAndClose));
    if (broken) {
      threads.add(platform(number, this::steal));
    }
    threads.forEach(Thread::start);
  }

  private Thread platform(int number, Body body) {
    return Thread.ofPlatform().daemon().unstarted(guard(number, body));
  }

  private void work(SplittableRandom random) throws InterruptedException {
    boolean virtual = Thread.currentThread().isVirtual();
    int[] cpus = virtual || !CpuAffinity.isAvailable() ? new int[0] : CpuAffinity.get().toArray();
    while (!stop) {
      step(random);
      int dice = random.nextInt(4_000);
      if (dice == 0) {
        Thread.sleep(0, random.nextInt(300_000));
      } else if (dice < 20) {
        Thread.yield();
      } else if (dice < 25 && cpus.length > 0) {
        CpuAffinity.pinTo(cpus[random.nextInt(cpus.length)]);
      }
    }
  }

  /** Threads of both kinds that are born, allocate and free a little, and die. */
  private void bear(SplittableRandom random) throws InterruptedException {
    while (!stop) {
      List<Thread> brood = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        int number = random.nextInt();
        Runnable life =
            guard(
                number,
                mine -> {
                  for (int k = 0; k < 20; k++) {
                    step(mine);
                  }
                });
        brood.add(
            i < 4 ? Thread.ofPlatform().daemon().start(life) : Thread.startVirtualThread(life));
      }
      for (Thread thread : brood) {
        thread.join();
      }
      births.add(brood.size());
    }
  }

  /** Restarts every sequence, and runs the collector now and then. */
  private void hammer(SplittableRandom random) throws InterruptedException {
    while (!stop) {
      if (Membarrier.isRseqAvailable()) {
        Membarrier.fenceRseq();
        if (random.nextInt(64) == 0) {
          Thread.yield();
        }
      } else {
        Thread.sleep(1);
      }
      if (random.nextInt(100_000) == 0) {
        System.gc();
      }
    }
  }

  /** Drains every cache and gives idle pages back; looks at the figures. */
  private void trim(SplittableRandom random) throws InterruptedException {
    while (!stop) {
      allocator.trim();
      trims.incrementAndGet();
      AllocatorStatistics s = allocator.statistics();
      if (s.idleBytes() < 0 || s.backedBytes() < 0 || s.backedBytes() > LIMIT) {
        throw new TortureFailure(
            s.backedBytes() + " bytes are backed and " + s.idleBytes() + " idle, limit " + LIMIT);
      }
      Thread.sleep(random.nextInt(4));
    }
  }

  /** Allocators come and go beside it; what is closed says so. */
  private void openAndClose(SplittableRandom random) throws InterruptedException {
    while (!stop) {
      PerCpuAllocator brief = PerCpuAllocator.create("brief");
      for (int i = 0; i < 200; i++) {
        long size = size(random);
        long block = brief.allocateRaw(size);
        OffHeap.fill(block, size, (byte) i);
        if (random.nextBoolean()) {
          brief.freeRaw(block);
        }
      }
      brief.close();
      try {
        brief.allocateRaw(8);
        throw new TortureFailure("a closed allocator gave a block");
      } catch (IllegalStateException expected) {
        Thread.sleep(random.nextInt(20));
      }
    }
  }

  /** The broken form: frees what is still on the shelf, as if drained rows were not closed. */
  private void steal(SplittableRandom random) {
    while (!stop) {
      Block block = shelf.get(random.nextInt(SHELF));
      if (block != null && block.size <= LARGEST_SMALL) {
        try {
          allocator.freeRaw(block.address);
        } catch (IllegalArgumentException itIsGone) {
          Thread.yield();
        }
      }
      Thread.yield();
    }
  }

  // ---- one step ----

  private static long size(SplittableRandom random) {
    int dice = random.nextInt(2_000);
    if (dice == 0) {
      return LARGEST_SPAN + random.nextLong(LARGEST_HUGE - LARGEST_SPAN);
    }
    if (dice < 10) {
      return LARGEST_SMALL + random.nextLong(LARGEST_SPAN - LARGEST_SMALL);
    }
    // As many of each doubling.
    return random.nextLong(Math.min(LARGEST_SMALL, 2L << random.nextInt(15)) + 1);
  }

  private void step(SplittableRandom random) {
    int dice = random.nextInt(100);
    if (dice < 2) {
      burst(random);
      return;
    }
    int slot = random.nextInt(SHELF);
    if (dice < 15) {
      Block old = shelf.getAndSet(slot, null);
      if (old != null) {
        shelve(slot, reallocate(old, random));
      }
      return;
    }
    shelve(slot, allocate(size(random), random));
  }

  private void shelve(int slot, Block block) {
    Block old = shelf.getAndSet(slot, block);
    if (old != null) {
      check(old, old.size);
      allocator.freeRaw(old.address);
    }
  }

  /** Many of a size, which empties caches, and all of them back, which fills them. */
  private void burst(SplittableRandom random) {
    Block[] blocks = new Block[random.nextInt(200)];
    long size = random.nextLong(2_000);
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = allocate(size, random);
    }
    for (Block block : blocks) {
      check(block, block.size);
      allocator.freeRaw(block.address);
    }
  }

  private Block allocate(long size, SplittableRandom random) {
    allocations.increment();
    bytes.add(size);
    long alignment = random.nextInt(8) == 0 ? 1L << random.nextInt(17) : PerCpuAllocator.ALIGNMENT;
    boolean zeroed = random.nextInt(8) == 0;
    long address =
        zeroed
            ? allocator.allocateRawZeroed(size, alignment)
            : allocator.allocateRaw(size, alignment);
    if ((address & (Math.max(alignment, PerCpuAllocator.ALIGNMENT) - 1)) != 0) {
      throw new TortureFailure(
          "a block at 0x" + Long.toHexString(address) + " is not aligned to " + alignment);
    }
    if (zeroed) {
      checkZeros(address, size);
    }
    if (random.nextInt(16) == 0 && allocator.usableSize(address) < size) {
      throw new TortureFailure("a block of " + size + " bytes is smaller than that");
    }
    return fill(address, size, random.nextLong());
  }

  private Block reallocate(Block old, SplittableRandom random) {
    check(old, old.size);
    long size = size(random);
    allocations.increment();
    bytes.add(size);
    long address = allocator.reallocateRaw(old.address, size);
    // The pattern is of the old address; compare what was kept.
    compare(new Block(address, old.size, old.nonce), old.address, Math.min(old.size, size));
    return fill(address, size, random.nextLong());
  }

  // ---- patterns ----

  private static long word(long address, long offset, long nonce) {
    long x = (address + offset) * 0x9e37_79b9_7f4a_7c15L ^ nonce;
    return x ^ x >>> 29;
  }

  private static long step(long size) {
    return size <= CHECKED_WHOLE ? Long.BYTES : STEP;
  }

  private static Block fill(long address, long size, long nonce) {
    long words = size & -Long.BYTES;
    for (long i = 0; i < words; i += step(size)) {
      OffHeap.putLong(address + i, word(address, i, nonce));
    }
    for (long i = words; i < size; i++) {
      OffHeap.putByte(address + i, (byte) word(address, i, nonce));
    }
    return new Block(address, size, nonce);
  }

  private static void check(Block block, long upTo) {
    compare(block, block.address, upTo);
  }

  private static void compare(Block block, long filledAt, long upTo) {
    long words = block.size & -Long.BYTES;
    for (long i = 0; i < words && i + Long.BYTES <= upTo; i += step(block.size)) {
      if (OffHeap.getLong(block.address + i) != word(filledAt, i, block.nonce)) {
        throw changed(block, i);
      }
    }
    for (long i = words; i < upTo; i++) {
      if (OffHeap.getByte(block.address + i) != (byte) word(filledAt, i, block.nonce)) {
        throw changed(block, i);
      }
    }
  }

  private static TortureFailure changed(Block block, long offset) {
    return new TortureFailure(
        "a block of "
            + block.size
            + " bytes at 0x"
            + Long.toHexString(block.address)
            + " was changed at offset "
            + offset
            + " while it was live");
  }

  private static void checkZeros(long address, long size) {
    for (long i = 0; i + Long.BYTES <= size; i += Long.BYTES) {
      if (OffHeap.getLong(address + i) != 0) {
        throw new TortureFailure("a zeroed block of " + size + " bytes is not zero at " + i);
      }
    }
    for (long i = size & -Long.BYTES; i < size; i++) {
      if (OffHeap.getByte(address + i) != 0) {
        throw new TortureFailure("a zeroed block of " + size + " bytes is not zero at " + i);
      }
    }
  }

  // ---- the end ----

  private void clear() {
    for (int slot = 0; slot < SHELF; slot++) {
      Block block = shelf.getAndSet(slot, null);
      if (block != null) {
        check(block, block.size);
        allocator.freeRaw(block.address);
      }
    }
    allocator.trim();
    AllocatorStatistics s = allocator.statistics();
    none("bytes in use", s.inUseBytes());
    none("large blocks", s.largeBlocks());
    none("huge blocks", s.hugeBlocks());
    none("corrupt frees", s.corruptFrees());
    none("allocations without memory", s.outOfMemory());
    if (PerCpuOps.canFence()) {
      none("bytes in caches", s.cachedBytes());
      none("bytes from the kernel", s.backedBytes());
    }
  }

  private static void none(String what, long found) {
    if (found != 0) {
      throw new TortureFailure("at the end there are " + found + " " + what);
    }
  }
}
