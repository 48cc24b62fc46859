package io.quiesce.rcu;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which thread reads under which record: exactly one {@link Reader} per platform thread and domain.
 *
 * <pre>
 *   cache   [ . . R7 . R9 . . ]   indexed by the low bits of the thread id; a miss asks the map
 *   map     { 7 -> R7, 9 -> R9, 4105 -> R4105 }   the truth; never a second record for a thread
 *   roster  [ R7 R9 R4105 ]       what a grace period scans; append in place, copied to prune
 * </pre>
 *
 * The cache may forget and the map may not: evicting a slot costs its thread a slower look-up and
 * nothing else. Two live threads whose ids share a slot make the cache grow, up to a bound; beyond
 * it the newcomer lives on the map alone rather than wrestle for the slot.
 *
 * <p>Records hold their threads weakly. A record whose thread has ended is dropped by the grace
 * period that finds it in its way, and all such records whenever the roster is full.
 */
final class ReaderRegistry {
  private static final int FIRST_CACHE = 64;
  private static final int LARGEST_CACHE = 1 << 16;
  private static final int FIRST_ROSTER = 16;

  /** The records to scan: the first {@code size} of {@code slots}; slots are never reused. */
  static final class Roster {
    final Reader[] slots;
    volatile int size;

    Roster(Reader[] slots, int size) {
      this.slots = slots;
      this.size = size;
    }
  }

  private final Rcu rcu;
  private final boolean fenced;
  private final ReentrantLock lock = new ReentrantLock();
  private final ConcurrentHashMap<Long, Reader> map = new ConcurrentHashMap<>();

  /** Stands in every unused slot: its owner id matches no thread. */
  private final Reader nobody;

  private volatile Roster roster;

  ReaderRegistry(Rcu rcu, boolean fenced) {
    this.rcu = rcu;
    this.fenced = fenced;
    this.nobody = new Reader(rcu, 0, false, null);
    this.roster = new Roster(new Reader[FIRST_ROSTER], 0);
  }

  Reader nobody() {
    return nobody;
  }

  Reader[] newCache() {
    Reader[] cache = new Reader[FIRST_CACHE];
    Arrays.fill(cache, nobody);
    return cache;
  }

  Roster roster() {
    return roster;
  }

  @Nullable Reader find(Thread thread) {
    return map.get(thread.threadId());
  }

  /** The record of the calling platform thread, registered now if need be, and cached. */
  Reader findOrRegister(Thread thread) {
    Reader reader = map.get(thread.threadId());
    if (reader == null) {
      reader = register(thread);
    }
    cache(reader);
    return reader;
  }

  private Reader register(Thread thread) {
    Reader reader = new Reader(rcu, thread.threadId(), fenced, thread);
    lock.lock();
    try {
      Roster r = roster;
      if (r.size == r.slots.length) {
        r = prune(r);
      }
      int size = r.size; // only changed under the lock
      r.slots[size] = reader;
      r.size = size + 1; // volatile: publishes the slot
      map.put(reader.ownerId(), reader);
    } finally {
      lock.unlock();
    }
    // A.5: a grace period that scanned before this record was in the roster has its stores seen by
    // every section of this thread: full fences on both sides, roster between them.
    VarHandle.fullFence();
    return reader;
  }

  /** Drops the records of threads that have ended; leaves room for as many as remain. */
  private Roster prune(Roster old) {
    int size = old.size;
    Reader[] live = new Reader[size];
    int kept = 0;
    for (int i = 0; i < size; i++) {
      Reader reader = old.slots[i];
      if (reader.ownerIsGone()) {
        forget(reader);
      } else {
        live[kept++] = reader;
      }
    }
    Roster next = new Roster(Arrays.copyOf(live, Math.max(FIRST_ROSTER, kept * 2)), kept);
    roster = next;
    return next;
  }

  /** Drops one record whose thread has ended, and any others found on the way. */
  void dropDead() {
    lock.lock();
    try {
      prune(roster);
    } finally {
      lock.unlock();
    }
  }

  private void forget(Reader reader) {
    map.remove(reader.ownerId());
    Reader[] cache = rcu.cache();
    int slot = (int) reader.ownerId() & (cache.length - 1);
    if (cache[slot] == reader) {
      cache[slot] = nobody; // racy and harmless: the map decides
    }
  }

  private void cache(Reader reader) {
    Reader[] cache = rcu.cache();
    int slot = (int) reader.ownerId() & (cache.length - 1);
    Reader present = cache[slot];
    if (present == reader) {
      return;
    }
    if (present == nobody || present.ownerIsGone()) {
      cache[slot] = reader;
    } else if (cache.length < LARGEST_CACHE && cache.length < 64 * map.size()) {
      grow(cache);
    }
  }

  private void grow(Reader[] old) {
    lock.lock();
    try {
      if (rcu.cache() != old) {
        return;
      }
      Reader[] next = new Reader[old.length * 2];
      Arrays.fill(next, nobody);
      for (Reader reader : map.values()) {
        next[(int) reader.ownerId() & (next.length - 1)] = reader;
      }
      rcu.setCache(next);
    } finally {
      lock.unlock();
    }
  }

  /** How many threads are registered, dead ones that were not noticed yet included. */
  int size() {
    return roster.size;
  }
}
