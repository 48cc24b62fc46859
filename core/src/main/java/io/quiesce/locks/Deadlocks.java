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
 * for a condition is no wait for an owner. Looking is racy, so a cycle counts when it is seen
 * twice.
 */
public final class Deadlocks {
  private static final Map<Thread, ExclusiveLock> WAITING = new ConcurrentHashMap<>();

  private Deadlocks() {}

  /** A thread is about to park. */
  static void waits(Thread thread, ExclusiveLock lock) {
    try {
      WAITING.put(thread, lock);
    } catch (OutOfMemoryError unseen) {
      // It stands in the lock's queue already and must go on waiting, if without being reported.
    }
  }

  static void waitsNoMore(Thread thread) {
    WAITING.remove(thread);
  }

  /**
   * The cycles of threads in which each waits for a lock that the next one has.
   *
   * @return each as its threads in order; empty if there is none
   */
  public static List<List<Thread>> find() {
    List<List<Thread>> found = new ArrayList<>();
    for (Thread thread : WAITING.keySet()) {
      List<Thread> cycle = cycle(thread);
      if (cycle != null && cycle.equals(cycle(thread)) && !contains(found, thread)) {
        found.add(cycle);
      }
    }
    return found;
  }

  private static boolean contains(List<List<Thread>> cycles, Thread thread) {
    return cycles.stream().anyMatch(cycle -> cycle.contains(thread));
  }

  private static @Nullable List<Thread> cycle(Thread start) {
    List<Thread> path = new ArrayList<>();
    Thread at = start;
    while (true) {
      path.add(at);
      ExclusiveLock lock = WAITING.get(at);
      Thread owner = lock == null ? null : lock.owner();
      if (owner == null) {
        return null;
      }
      if (owner == start) {
        return path;
      }
      if (path.contains(owner)) {
        return null; // a cycle further on, which is found from its own threads
      }
      at = owner;
    }
  }

  /**
   * A text that names each thread of each cycle, its stack, and the lock that it waits for.
   *
   * @return empty if there is no deadlock
   */
  public static String report() {
    StringBuilder text = new StringBuilder();
    for (List<Thread> cycle : find()) {
      text.append("Threads that wait for each other:\n");
      for (Thread thread : cycle) {
        text.append("  ").append(thread).append(" waits for ").append(WAITING.get(thread));
        text.append('\n');
        for (StackTraceElement frame : thread.getStackTrace()) {
          text.append("      at ").append(frame).append('\n');
        }
      }
    }
    return text.toString();
  }
}
