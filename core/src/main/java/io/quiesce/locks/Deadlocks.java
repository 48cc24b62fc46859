package io.quiesce.locks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds threads that wait for each other, virtual ones included.
 *
 * <p>The JVM's own detection (jstack, {@link
 * java.lang.management.ThreadMXBean#findDeadlockedThreads}) sees parked platform threads and the
 * owners of these locks, and nothing of virtual threads. This one knows every thread that has
 * parked for a lock of this package without a time limit; a wait with one ends by itself, and one
 * for a condition is no wait for an owner. Looking is racy, so a cycle counts when it is seen twice
 * with the very same waits: then all of them were under way at once in between, and a thread that
 * waits gives up no lock.
 */
public final class Deadlocks {
  private static final Map<Thread, Wait> WAITING = new ConcurrentHashMap<>();

  /** One wait of a thread. */
  static final class Wait {
    private final Thread thread;
    private volatile @Nullable ExclusiveLock lock;

    private Wait(Thread thread, ExclusiveLock lock) {
      this.thread = thread;
      this.lock = lock;
    }

    /** The wait is over. Throws nothing: the lock may be held already, and its owner not known. */
    void over() {
      lock = null;
      try {
        WAITING.remove(thread, this);
      } catch (StackOverflowError kept) {
        // Until the thread's next wait, or until somebody looks for deadlocks.
      }
    }
  }

  private Deadlocks() {}

  /**
   * A thread is about to park.
   *
   * @return to be told when the wait is over; null if there was no memory for it
   */
  static @Nullable Wait waits(Thread thread, ExclusiveLock lock) {
    try {
      Wait wait = new Wait(thread, lock);
      WAITING.put(thread, wait);
      return wait;
    } catch (OutOfMemoryError unseen) {
      // It stands in the lock's queue already and must go on waiting, if without being reported.
      return null;
    }
  }

  /**
   * The cycles of threads in which each waits for a lock that the next one has.
   *
   * @return each as its threads in order; empty if there is none
   */
  public static List<List<Thread>> find() {
    return cycles().stream()
        .map(cycle -> cycle.stream().map(wait -> wait.thread).toList())
        .toList();
  }

  private static List<List<Wait>> cycles() {
    WAITING.values().removeIf(wait -> wait.lock == null); // had no stack to do so itself
    List<List<Wait>> found = new ArrayList<>();
    for (Wait wait : WAITING.values()) {
      List<Wait> cycle = cycle(wait);
      if (cycle != null && cycle.equals(cycle(wait)) && !contains(found, wait)) {
        found.add(cycle);
      }
    }
    return found;
  }

  private static boolean contains(List<List<Wait>> cycles, Wait wait) {
    return cycles.stream().anyMatch(cycle -> cycle.contains(wait));
  }

  private static @Nullable List<Wait> cycle(Wait start) {
    List<Wait> path = new ArrayList<>();
    Wait at = start;
    while (true) {
      path.add(at);
      ExclusiveLock lock = at.lock;
      Thread owner = lock == null ? null : lock.owner();
      Wait next = owner == null ? null : WAITING.get(owner);
      if (next == null) {
        return null;
      }
      if (next == start) {
        return path;
      }
      if (path.contains(next)) {
        return null; // a cycle further on, which is found from its own threads
      }
      at = next;
    }
  }

  /**
   * A text that names each thread of each cycle, its stack, and the lock that it waits for.
   *
   * @return empty if there is no deadlock
   */
  public static String report() {
    StringBuilder text = new StringBuilder();
    for (List<Wait> cycle : cycles()) {
      text.append("Threads that wait for each other:\n");
      for (Wait wait : cycle) {
        text.append("  ").append(wait.thread).append(" waits for ").append(wait.lock);
        text.append('\n');
        for (StackTraceElement frame : wait.thread.getStackTrace()) {
          text.append("      at ").append(frame).append('\n');
        }
      }
    }
    return text.toString();
  }
}
