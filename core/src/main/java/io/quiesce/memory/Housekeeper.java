package io.quiesce.memory;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * One daemon thread for all allocators: once a second it lets each give back what it does not need.
 * It exists while there is an allocator, and keeps none alive.
 */
final class Housekeeper {
  private static final long PERIOD_MILLIS = 1_000;

  private record Entry(WeakReference<PerCpuAllocator> owner, Heap heap) {}

  private static final List<Entry> ENTRIES = new ArrayList<>();
  private static boolean running;

  private Housekeeper() {}

  static void add(PerCpuAllocator owner, Heap heap) {
    enter(owner, heap);
    AllocatorEvents.watch(); // not under the lock: JFR has its own, and asks for the allocators
  }

  private static synchronized void enter(PerCpuAllocator owner, Heap heap) {
    ENTRIES.add(new Entry(new WeakReference<>(owner), heap));
    if (!running) {
      Thread.ofPlatform().daemon().name("quiesce-housekeeper").start(Housekeeper::run);
      running = true;
    }
  }

  static synchronized void remove(Heap heap) {
    ENTRIES.removeIf(entry -> entry.heap == heap);
  }

  /** Those that are reachable and open. */
  static synchronized List<PerCpuAllocator> allocators() {
    List<PerCpuAllocator> live = new ArrayList<>();
    for (Entry entry : ENTRIES) {
      PerCpuAllocator owner = entry.owner.get();
      if (owner != null) {
        live.add(owner);
      }
    }
    return live;
  }

  /** The heaps whose owners are reachable; the thread ends when there are none. */
  private static synchronized List<PerCpuAllocator> live() {
    List<PerCpuAllocator> live = new ArrayList<>();
    for (Iterator<Entry> it = ENTRIES.iterator(); it.hasNext(); ) {
      PerCpuAllocator owner = it.next().owner.get();
      if (owner == null) {
        it.remove();
      } else {
        live.add(owner);
      }
    }
    running = !live.isEmpty();
    return live;
  }

  private static void run() {
    while (true) {
      try {
        Thread.sleep(PERIOD_MILLIS);
        List<PerCpuAllocator> live = live();
        if (live.isEmpty()) {
          return;
        }
        AllocatorEvents.watch();
        for (PerCpuAllocator allocator : live) {
          tick(allocator);
        }
      } catch (InterruptedException e) {
        // Nobody has a reason to; the thread goes on, since it may not leave the list unattended.
      } catch (RuntimeException | OutOfMemoryError e) {
        failed(e);
      }
    }
  }

  /** One that fails does not keep the others from their turn. */
  private static void tick(PerCpuAllocator allocator) {
    try {
      allocator.tick();
    } catch (RuntimeException | OutOfMemoryError e) {
      failed(e);
    }
  }

  private static void failed(Throwable e) {
    try {
      System.getLogger("io.quiesce")
          .log(System.Logger.Level.WARNING, "housekeeping of an allocator failed", e);
    } catch (RuntimeException | OutOfMemoryError untold) {
      // The heap is full, or the user's logger fails: the thread must go on all the same.
    }
  }
}
