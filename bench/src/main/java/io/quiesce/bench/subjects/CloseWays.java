package io.quiesce.bench.subjects;

import io.quiesce.linux.OffHeap;
import io.quiesce.rcu.Guarded;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.Reclaimer;
import io.quiesce.rcu.Section;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The ways of closing. All but the arena get their block from and return it to the same heap. */
final class CloseWays {
  private CloseWays() {}

  static CloseWay of(String name) {
    return switch (name) {
      case "guarded" -> new GuardedWay(false);
      case "guarded-wait" -> new GuardedWay(true);
      case "retire" -> new RetireWay();
      case "arena" -> new ArenaWay();
      case "rwlock" -> new LockWay();
      case "refcount" -> new CountWay();
      default -> throw new IllegalArgumentException("no way to close is called '" + name + "'");
    };
  }

  /** A block by address. */
  private static final class Raw extends CloseWay.Block {
    final long address = OffHeap.allocate(CloseWay.BYTES, 64);

    /** References, for {@link CountWay}: the owner's and one for each reader. */
    final AtomicLong count = new AtomicLong(1);

    Raw() {
      OffHeap.fill(address, CloseWay.BYTES, (byte) 1);
    }

    void free() {
      OffHeap.free(address);
      freedAt = System.nanoTime();
    }

    long sum(int accesses) {
      long sum = 0;
      for (int i = 0; i < accesses; i++) {
        sum += OffHeap.getLong(address + 8L * (i & (CloseWay.WORDS - 1)));
      }
      return sum;
    }
  }

  /** Before set-up. */
  static final class Unset implements CloseWay {
    @Override
    public Block make() {
      throw new IllegalStateException("not set up");
    }

    @Override
    public Block current() {
      throw new IllegalStateException("not set up");
    }

    @Override
    public void replace(Block next) {}

    @Override
    public long read(int accesses) {
      return 0;
    }

    @Override
    public void settle() {}
  }

  /** What those with a raw block share. */
  private abstract static class RawWay implements CloseWay {
    @Override
    public Block make() {
      return new Raw();
    }
  }

  /** {@code Guarded.replace}; optionally the whole fence at once, for who waits. */
  private static final class GuardedWay extends RawWay {
    private final Rcu rcu = Rcu.create("close");
    private final Guarded<Raw> guarded = Guarded.of(rcu, new Raw(), Raw::free);
    private final boolean waits;
    private Raw current = new Raw();

    GuardedWay(boolean waits) {
      this.waits = waits;
    }

    @Override
    public Block current() {
      return current;
    }

    @Override
    public void replace(Block next) {
      current = (Raw) next;
      guarded.replace(current);
      if (waits) {
        rcu.barrier();
      }
    }

    @Override
    public long read(int accesses) {
      try (Guarded.Access<Raw> access = guarded.read()) {
        return access.get().sum(accesses);
      }
    }

    @Override
    public void settle() {
      rcu.barrier();
    }
  }

  /** A reference and {@code Rcu.retire}: no object per closed block. */
  private static final class RetireWay extends RawWay {
    private final Rcu rcu = Rcu.create("close");
    private final RcuRef<Raw> ref = rcu.ref(new Raw());
    private final Reclaimer reclaimer = (address, bytes) -> OffHeap.free(address);

    @Override
    public Block current() {
      return ref.getAcquire();
    }

    @Override
    public void replace(Block next) {
      Raw old = ref.getAndSet((Raw) next);
      rcu.retire(reclaimer, old.address, BYTES);
    }

    @Override
    public long awaitFreed(Block block) {
      rcu.barrier();
      return System.nanoTime();
    }

    @Override
    public long read(int accesses) {
      try (Section section = rcu.read()) {
        return ref.get(section).sum(accesses);
      }
    }

    @Override
    public void settle() {
      rcu.barrier();
    }
  }

  /** A block in a shared arena, whose close stops the other threads for a moment. */
  private static final class Shared extends CloseWay.Block {
    final Arena arena = Arena.ofShared();
    final MemorySegment segment = arena.allocate(CloseWay.BYTES, 64).fill((byte) 1);
  }

  /**
   * {@code Arena.ofShared().close()}: readers who lose the race get an exception and look again.
   */
  private static final class ArenaWay implements CloseWay {
    private volatile Shared current = new Shared();

    @Override
    public Block make() {
      return new Shared();
    }

    @Override
    public Block current() {
      return current;
    }

    @Override
    public void replace(Block next) {
      Shared old = current;
      current = (Shared) next;
      old.arena.close();
      old.freedAt = System.nanoTime();
    }

    @Override
    public long read(int accesses) {
      while (true) {
        Shared block = current;
        try {
          long sum = 0;
          for (int i = 0; i < accesses; i++) {
            sum += block.segment.get(ValueLayout.JAVA_LONG, 8L * (i & (WORDS - 1)));
          }
          return sum;
        } catch (IllegalStateException closed) {
          if (block == current) {
            throw closed;
          }
        }
      }
    }

    @Override
    public void settle() {}
  }

  /** A read-write lock around every read. */
  private static final class LockWay extends RawWay {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private Raw current = new Raw();

    @Override
    public Block current() {
      return current;
    }

    @Override
    public void replace(Block next) {
      Raw old;
      lock.writeLock().lock();
      try {
        old = current;
        current = (Raw) next;
      } finally {
        lock.writeLock().unlock();
      }
      old.free(); // whoever saw it held the lock
    }

    @Override
    public long read(int accesses) {
      lock.readLock().lock();
      try {
        return current.sum(accesses);
      } finally {
        lock.readLock().unlock();
      }
    }

    @Override
    public void settle() {}
  }

  /** A count of users in each block; whoever takes it to zero frees. */
  private static final class CountWay extends RawWay {
    private volatile Raw current = new Raw();

    @Override
    public Block current() {
      return current;
    }

    @Override
    public void replace(Block next) {
      Raw old = current;
      current = (Raw) next;
      release(old);
    }

    private static void release(Raw block) {
      if (block.count.decrementAndGet() == 0) {
        block.free();
      }
    }

    @Override
    public long read(int accesses) {
      while (true) {
        Raw block = current;
        long users = block.count.get();
        if (users > 0 && block.count.compareAndSet(users, users + 1)) {
          try {
            return block.sum(accesses);
          } finally {
            release(block);
          }
        }
      }
    }

    @Override
    public void settle() {}
  }
}
