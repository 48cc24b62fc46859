package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import io.quiesce.memory.HardenedBlock.Damage;
import io.quiesce.memory.HardenedBlock.State;
import io.quiesce.memory.MemoryFaultException.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The hardening mode of one allocator: every block that its users hold, or gave back lately, with
 * where it was allocated and freed.
 *
 * <pre>
 *   allocate --&gt; LIVE --free--&gt; QUARANTINED, in a FIFO of so many bytes --oldest--&gt; GONE, to the heap
 *                 | red zones checked      | poisoned                    | poison checked
 * </pre>
 *
 * <p>A block's memory is touched under its monitor and only in the first two states, so that
 * neither a walk nor a late free meets memory that is unmapped. No other lock is taken under a
 * monitor, nor a monitor under the queue's lock.
 */
final class Hardening {
  private static final long MOST_LOGGED = 100;
  private static final int MOST_SUPPRESSED = 20;

  /** How far the block below may be to be named with an underflow. */
  private static final long NEAR = 1L << 16;

  private final Heap heap;
  private final long secret = ThreadLocalRandom.current().nextLong();
  private final Traces traces = new Traces(Traces.MOST);
  private final ConcurrentSkipListMap<Long, HardenedBlock> blocks = new ConcurrentSkipListMap<>();
  private final AtomicLong faults = new AtomicLong();
  private final AtomicLong logged = new AtomicLong();
  private volatile Traces.@Nullable Where closer;

  private final long quarantineBytes;
  private final ReentrantLock lock = new ReentrantLock(); // for the three below
  // Linked through the blocks: a collection that has to grow would lose them when the heap is full.
  private @Nullable HardenedBlock oldest;
  private @Nullable HardenedBlock newest;
  private long quarantined;

  Hardening(Heap heap, long quarantineBytes) {
    this.heap = heap;
    this.quarantineBytes = quarantineBytes;
  }

  long allocate(long bytes, long alignment, boolean zero) {
    Traces.Where where = traces.here();
    long zone = HardenedBlock.zone(bytes);
    long aligned = Math.max(alignment, PerCpuAllocator.ALIGNMENT);
    long more = 2 * zone + (aligned > PerCpuAllocator.ALIGNMENT ? aligned : 0);
    long footprint = bytes > Long.MAX_VALUE - more ? Long.MAX_VALUE : bytes + more;
    long base = heap.allocateBlock(footprint);
    long address = (base + zone + aligned - 1) & -aligned;
    boolean made = false;
    try {
      make(new HardenedBlock(base, address, bytes, footprint, secret, where), zero);
      made = true;
    } finally {
      if (!made && !heap.closed) {
        heap.freeBlock(base); // an error in between, such as a full heap
      }
    }
    return address;
  }

  private void make(HardenedBlock block, boolean zero) {
    boolean made = false;
    synchronized (block) {
      try {
        // Either we see here that the heap is closed, or the closer sees the block and waits for
        // us.
        blocks.put(block.address, block);
        if (heap.closed) {
          throw closed();
        }
        block.paintZones();
        if (!zero) {
          block.fill(HardenedBlock.FRESH);
        } else if (heap.region.contains(block.base)) {
          block.fill((byte) 0); // a mapping of its own is zero
        }
        made = true;
      } finally {
        if (!made) { // half painted, it would be found damaged
          block.state = State.GONE;
          blocks.remove(block.address, block);
        }
      }
    }
  }

  /** Whatever is wrong with a block: it is free afterwards. */
  void free(long address) {
    if (heap.closed) {
      throw closed();
    }
    HardenedBlock block = blocks.get(address);
    Traces.Where where = traces.here();
    if (block == null) {
      throw count(notABlock(address, "freed", where));
    }
    MemoryFaultException fault;
    boolean reported;
    boolean twice;
    synchronized (block) {
      twice = block.state != State.LIVE;
      reported = !twice && block.reported;
      if (heap.closed) {
        throw closed();
      }
      if (twice) {
        fault = doubleFree(block, where);
      } else {
        fault = inspect(block, "freed", where);
        if (fault != null) {
          block.paintZones(); // or it would be found again
        }
        block.fill(HardenedBlock.FREED);
        block.freed = where; // last: an error before leaves it live
        block.reported = false;
        block.state = State.QUARANTINED;
      }
    }
    if (!twice) {
      toQuarantine(block);
    }
    if (fault != null) {
      throw reported ? fault : count(fault);
    }
  }

  /** Always another block, so that the old address is wrong at once. */
  long reallocate(long address, long bytes) {
    Traces.Where where = traces.here();
    HardenedBlock block = live(address, "reallocated", where);
    synchronized (block) {
      MemoryFaultException fault =
          block.state == State.LIVE && !heap.closed ? inspect(block, "reallocated", where) : null;
      if (fault != null) {
        boolean reported = block.reported;
        block.reported = true;
        throw reported ? fault : count(fault);
      }
    }
    long moved = allocate(bytes, PerCpuAllocator.ALIGNMENT, false);
    boolean done = false;
    try {
      copyLive(block, moved, Math.min(block.bytes, bytes));
      free(address);
      done = true;
    } finally {
      if (!done && !heap.closed) {
        free(moved);
      }
    }
    return moved;
  }

  /** Unless somebody has freed it meanwhile; then its memory may be gone, and the free tells. */
  private void copyLive(HardenedBlock block, long to, long bytes) {
    synchronized (block) {
      if (block.state == State.LIVE) {
        OffHeap.copy(block.address, to, bytes);
      }
    }
  }

  long usableSize(long address) {
    return live(address, "asked about", null).bytes;
  }

  private HardenedBlock live(long address, String what, Traces.@Nullable Where known) {
    if (heap.closed) {
      throw closed();
    }
    HardenedBlock block = blocks.get(address);
    if (block == null) {
      throw count(notABlock(address, what, known == null ? traces.here() : known));
    }
    synchronized (block) {
      if (block.state != State.LIVE && !heap.closed) {
        throw count(
            new FaultReport(Kind.USE_AFTER_FREE, heap.name, address)
                .block(block, "is free and was " + what)
                .by("allocated", block.allocated)
                .by("freed", block.freed)
                .by(what, known == null ? traces.here() : known)
                .exception());
      }
    }
    return block;
  }

  private void toQuarantine(HardenedBlock block) {
    HardenedBlock out = block;
    if (block.footprint <= quarantineBytes) { // else it would push out all the others
      lock.lock();
      try {
        if (newest == null) {
          oldest = block;
        } else {
          newest.next = block;
        }
        newest = block;
        quarantined += block.footprint;
        out = takeDownTo(quarantineBytes);
      } finally {
        lock.unlock();
      }
    }
    releaseAll(out);
  }

  /** Takes the oldest out, linked; the lock is held. */
  private @Nullable HardenedBlock takeDownTo(long bytes) {
    HardenedBlock first = quarantined > bytes ? oldest : null;
    HardenedBlock last = null;
    while (quarantined > bytes && oldest != null) {
      last = oldest;
      oldest = last.next;
      quarantined -= last.footprint;
    }
    if (last != null) {
      last.next = null;
    }
    if (oldest == null) {
      newest = null;
    }
    return first;
  }

  /** Empties the quarantine, for the memory. */
  void flush() {
    HardenedBlock out;
    lock.lock();
    try {
      out = takeDownTo(0);
    } finally {
      lock.unlock();
    }
    releaseAll(out);
  }

  private void releaseAll(@Nullable HardenedBlock first) {
    HardenedBlock block = first;
    while (block != null) {
      HardenedBlock next = block.next;
      block.next = null;
      release(block);
      block = next;
    }
  }

  private void release(HardenedBlock block) {
    MemoryFaultException fault;
    synchronized (block) {
      if (block.state != State.QUARANTINED || heap.closed) {
        return;
      }
      fault = block.reported ? null : inspect(block, "", null);
      block.state = State.GONE;
      blocks.remove(block.address, block); // before somebody gets the memory
    }
    if (fault != null) {
      tell(fault);
    }
    heap.freeBlock(block.base);
  }

  /**
   * Looks at every block.
   *
   * @return how many there were
   */
  long check() {
    if (heap.closed) {
      throw closed();
    }
    long count = 0;
    MemoryFaultException first = null;
    int others = 0;
    for (HardenedBlock block : blocks.values()) {
      MemoryFaultException fault;
      boolean reported;
      synchronized (block) {
        if (heap.closed || block.state == State.GONE) {
          continue;
        }
        fault = inspect(block, "", null);
        reported = block.reported;
        block.reported |= fault != null;
      }
      count++;
      if (fault == null) {
        continue;
      }
      if (!reported) {
        tell(fault);
      }
      if (first == null) {
        first = fault;
      } else if (others++ < MOST_SUPPRESSED) {
        first.addSuppressed(fault);
      }
    }
    if (first != null) {
      throw first;
    }
    return count;
  }

  /** After the heap said that it is closed and before its memory goes; again does nothing. */
  void close() {
    if (closer == null) {
      closer = traces.here();
    }
    for (HardenedBlock block : blocks.values()) {
      MemoryFaultException fault = null;
      synchronized (block) {
        if (block.state == State.LIVE || block.state == State.QUARANTINED) {
          fault = block.reported ? null : inspect(block, "", null);
          block.state = block.state == State.LIVE ? State.LEFT : State.GONE;
        }
      }
      if (fault != null) {
        tell(fault);
      }
    }
    lock.lock();
    try {
      oldest = null;
      newest = null;
      quarantined = 0;
    } finally {
      lock.unlock();
    }
  }

  List<AllocatorLeak> leaks() {
    IdentityHashMap<List<StackTraceElement>, long[]> sums = new IdentityHashMap<>();
    for (HardenedBlock block : blocks.values()) {
      synchronized (block) {
        if (block.state == State.LIVE || block.state == State.LEFT) {
          long[] sum = sums.computeIfAbsent(block.allocated.stack(), stack -> new long[2]);
          sum[0]++;
          sum[1] += block.bytes;
        }
      }
    }
    List<AllocatorLeak> leaks = new ArrayList<>();
    sums.forEach((stack, sum) -> leaks.add(new AllocatorLeak(sum[0], sum[1], stack)));
    leaks.sort(Comparator.comparingLong(AllocatorLeak::bytes).reversed());
    return List.copyOf(leaks);
  }

  long faults() {
    return faults.get();
  }

  long quarantined() {
    lock.lock();
    try {
      return quarantined;
    } finally {
      lock.unlock();
    }
  }

  /** What is wrong with a live or quarantined block, if anything; its monitor is held. */
  private @Nullable MemoryFaultException inspect(
      HardenedBlock block, String what, Traces.@Nullable Where where) {
    Damage before = block.damageBefore();
    Damage behind = before == null ? block.damageBehind() : null;
    if (block.state == State.QUARANTINED) {
      Damage inside = block.damageInside();
      Damage any = inside != null ? inside : before != null ? before : behind;
      return any == null
          ? null
          : new FaultReport(Kind.USE_AFTER_FREE, heap.name, block.address)
              .block(block, "was written to after it was freed")
              .damage(block, any)
              .by("allocated", block.allocated)
              .by("freed", block.freed)
              .exception();
    }
    if (before != null) {
      FaultReport report =
          new FaultReport(Kind.UNDERFLOW, heap.name, block.address)
              .block(block, "was written to before its start")
              .damage(block, before)
              .by("allocated", block.allocated)
              .by(what, where);
      Map.Entry<Long, HardenedBlock> below = blocks.lowerEntry(block.address);
      if (below != null && block.base - (below.getKey() + below.getValue().bytes) < NEAR) {
        report
            .say(
                "  or it is the block below, of "
                    + below.getValue().bytes
                    + " bytes, that overflowed")
            .by("that one was allocated", below.getValue().allocated);
      }
      return report.exception();
    }
    if (behind != null) {
      return new FaultReport(Kind.OVERFLOW, heap.name, block.address)
          .block(block, "was written to behind its end")
          .damage(block, behind)
          .by("allocated", block.allocated)
          .by(what, where)
          .exception();
    }
    return null;
  }

  private MemoryFaultException doubleFree(HardenedBlock block, Traces.Where where) {
    return new FaultReport(Kind.DOUBLE_FREE, heap.name, block.address)
        .block(block, "was freed twice")
        .by("allocated", block.allocated)
        .by("freed", block.freed)
        .by("freed again", where)
        .exception();
  }

  private MemoryFaultException notABlock(long address, String what, Traces.Where where) {
    Map.Entry<Long, HardenedBlock> entry = blocks.floorEntry(address);
    if (entry == null || !entry.getValue().isNear(address)) {
      entry = blocks.higherEntry(address); // it may be in the zone before a block
    }
    if (entry == null || !entry.getValue().isNear(address)) {
      return new FaultReport(Kind.FOREIGN_POINTER, heap.name, address)
          .say(
              FaultReport.hex(address)
                  + " is no block of this allocator; it was allocated elsewhere, or freed so long"
                  + " ago that it has left the quarantine")
          .by(what, where)
          .exception();
    }
    HardenedBlock block = entry.getValue();
    synchronized (block) {
      return new FaultReport(Kind.INTERIOR_POINTER, heap.name, address)
          .say(
              FaultReport.hex(address)
                  + " is no block of this allocator; it lies at offset "
                  + (address - block.address)
                  + " of the block of "
                  + block.bytes
                  + " bytes at "
                  + FaultReport.hex(block.address))
          .by("allocated", block.allocated)
          .by("freed", block.freed)
          .by(what, where)
          .exception();
    }
  }

  private IllegalStateException closed() {
    StringBuilder text = new StringBuilder("the allocator '" + heap.name + "' is closed");
    Traces.Where by = closer;
    if (by != null) {
      text.append("; it was closed by thread '").append(by.thread()).append("'\n");
      FaultReport.stack(text, by.stack());
    }
    return new IllegalStateException(text.toString());
  }

  private MemoryFaultException count(MemoryFaultException fault) {
    faults.getAndIncrement();
    AllocatorEvents.corruption(
        heap.name, fault.kind().name(), fault.address(), fault.bytes(), fault.report());
    return fault;
  }

  /** For faults whose culprit is not the one who runs now. */
  private void tell(MemoryFaultException fault) {
    count(fault);
    long before = logged.getAndIncrement();
    if (before < MOST_LOGGED) {
      System.getLogger("io.quiesce").log(System.Logger.Level.ERROR, fault.report());
    } else if (before == MOST_LOGGED) {
      System.getLogger("io.quiesce")
          .log(
              System.Logger.Level.ERROR,
              "the allocator ''{0}'' has more faults; they are counted, and no longer logged",
              heap.name);
    }
  }
}
