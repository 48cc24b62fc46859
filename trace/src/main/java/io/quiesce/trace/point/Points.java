package io.quiesce.trace.point;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ring.RingBuffers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All tracepoints of the process. Two with the same name, level and fields are one, whoever made
 * them: so a provider that is loaded twice gives one event type.
 *
 * <p>Thread-safe. One lock for all changes; the hot path takes none.
 */
public final class Points {
  private record Key(String provider, String name, int level, List<Field> fields) {}

  private static final ReentrantLock LOCK = new ReentrantLock();
  private static final Map<Key, Point> ALL = new HashMap<>();
  private static final List<Consumer<Point>> LISTENERS = new ArrayList<>();

  private Points() {}

  /**
   * The tracepoint of that name and shape; made if there is none, and told to the sessions then.
   *
   * @param provider what comes before the colon
   * @param name what comes after it
   * @param level LTTng's scale, 0 to 14
   * @param fields in the order in which they are stored
   */
  public static Point of(String provider, String name, int level, List<Field> fields) {
    LOCK.lock();
    try {
      Key key = new Key(provider, name, level, List.copyOf(fields));
      Point point = ALL.get(key);
      if (point == null) {
        point = new Point(provider, name, level, fields);
        ALL.put(key, point);
        for (Consumer<Point> listener : LISTENERS) {
          listener.accept(point);
        }
      }
      return point;
    } finally {
      LOCK.unlock();
    }
  }

  /** Calls a session for each tracepoint there is, and for each that comes; under the lock. */
  public static void listen(Consumer<Point> listener) {
    LOCK.lock();
    try {
      ALL.values().forEach(listener);
      LISTENERS.add(listener);
    } finally {
      LOCK.unlock();
    }
  }

  /** Forgets a session. */
  public static void unlisten(Consumer<Point> listener, Object session) {
    LOCK.lock();
    try {
      LISTENERS.remove(listener);
      ALL.values().forEach(point -> detach(point, session));
    } finally {
      LOCK.unlock();
    }
  }

  /** Runs something under the lock. */
  public static void locked(Runnable action) {
    LOCK.lock();
    try {
      action.run();
    } finally {
      LOCK.unlock();
    }
  }

  /** Runs something under the lock, for each tracepoint. */
  public static void forEach(Consumer<Point> action) {
    LOCK.lock();
    try {
      new ArrayList<>(ALL.values()).forEach(action);
    } finally {
      LOCK.unlock();
    }
  }

  /** Sends a tracepoint's events to a session from here on; replaces what it had for it. */
  public static void attach(
      Point point,
      Object session,
      RingBuffers ring,
      int id,
      EventFilter filter,
      EventContext context) {
    LOCK.lock();
    try {
      Target others = without(point.target(), session);
      point.setTarget(new Target(session, ring, id, filter, context, others));
    } finally {
      LOCK.unlock();
    }
  }

  /** No longer. An event that is on its way may still arrive. */
  public static void detach(Point point, Object session) {
    LOCK.lock();
    try {
      point.setTarget(without(point.target(), session));
    } finally {
      LOCK.unlock();
    }
  }

  /** Whether a session gets a tracepoint's events. */
  public static boolean isAttached(Point point, Object session) {
    for (Target target = point.target(); target != null; target = target.next()) {
      if (target.session() == session) {
        return true;
      }
    }
    return false;
  }

  /**
   * Has somebody told whenever a tracepoint is turned on that was off, or off that was on; at once
   * if it is on. For sources that cost something while they listen.
   *
   * @param watcher called under the lock, so it must be short; the last one counts
   */
  public static void watch(Point point, Runnable watcher) {
    LOCK.lock();
    try {
      point.setWatcher(watcher);
      if (point.target() != null) {
        watcher.run();
      }
    } finally {
      LOCK.unlock();
    }
  }

  private static @Nullable Target without(@Nullable Target first, Object session) {
    if (first == null) {
      return null;
    }
    Target rest = without(first.next(), session);
    return first.session() == session ? rest : first.with(rest);
  }
}
