package io.quiesce.trace.source;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import io.quiesce.trace.point.Points;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;

/**
 * Garbage collections, as the JVM's beans tell of them: {@code gc_pause} of those that stop the
 * program, {@code gc_cycle} of those that run beside it. To be loaded only where {@code
 * jdk.management} is readable.
 *
 * <p>Listens while one of the two is on. That begins and ends on a thread of its own: it loads a
 * good deal of the JDK, and whoever turns a tracepoint on has a lock.
 */
final class GcEvents {
  private static final List<String> STRINGS = List.of("name", "action", "cause");
  private static final List<String> LONGS =
      List.of("begin_ns", "duration_ns", "used_before", "used_after");
  private static final List<String> INTS = List.of("number");
  private static final Emitter PAUSE =
      Emitter.of("quiesce_jvm", "gc_pause", 6, STRINGS, LONGS, INTS);
  private static final Emitter CYCLE =
      Emitter.of("quiesce_jvm", "gc_cycle", 6, STRINGS, LONGS, INTS);
  private static final long NANOS_PER_MILLI = 1_000_000;

  private static final NotificationListener LISTENER = GcEvents::told;
  private static @Nullable Set<String> heapPools;
  private static boolean listening;

  private GcEvents() {}

  static void install() {
    Runnable changed =
        () -> Thread.ofPlatform().daemon().name("quiesce-trace-gc").start(GcEvents::reconcile);
    Points.watch(PAUSE.point(), changed);
    Points.watch(CYCLE.point(), changed);
  }

  /** Whether the beans have been asked to tell; for tests. */
  static synchronized boolean isListening() {
    return listening;
  }

  private static synchronized void reconcile() {
    boolean wanted = PAUSE.isOn() || CYCLE.isOn();
    if (wanted == listening) {
      return;
    }
    if (heapPools == null) {
      heapPools = heapPools();
    }
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (bean instanceof NotificationEmitter emitter) {
        if (wanted) {
          emitter.addNotificationListener(LISTENER, null, heapPools);
        } else {
          remove(emitter);
        }
      }
    }
    listening = wanted;
  }

  private static void remove(NotificationEmitter emitter) {
    try {
      emitter.removeNotificationListener(LISTENER);
    } catch (ListenerNotFoundException _) {
      // Which is what is wanted.
    }
  }

  private static Set<String> heapPools() {
    Set<String> names = new HashSet<>();
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getType() == MemoryType.HEAP) {
        names.add(pool.getName());
      }
    }
    return names;
  }

  private static void told(Notification notification, @Nullable Object pools) {
    if (notification
            .getType()
            .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)
        && notification.getUserData() instanceof CompositeData data
        && pools instanceof Set<?> heap) {
      emit(GarbageCollectionNotificationInfo.from(data), heap);
    }
  }

  private static void emit(GarbageCollectionNotificationInfo told, Set<?> heap) {
    GcInfo collection = told.getGcInfo();
    // The beans count milliseconds from the start of the JVM, and so does its uptime.
    long ago = ManagementFactory.getRuntimeMXBean().getUptime() - collection.getStartTime();
    long begun = System.nanoTime() - ago * NANOS_PER_MILLI;
    // Names such as "ZGC Minor Cycles" and "ZGC Minor Pauses" tell the two kinds apart.
    Emitter emitter = told.getGcName().endsWith("Cycles") ? CYCLE : PAUSE;
    emitter.emit(
        told.getGcName(),
        told.getGcAction(),
        told.getGcCause(),
        "",
        "",
        begun,
        collection.getDuration() * NANOS_PER_MILLI,
        used(collection.getMemoryUsageBeforeGc(), heap),
        used(collection.getMemoryUsageAfterGc(), heap),
        (int) collection.getId());
  }

  private static long used(Map<String, MemoryUsage> pools, Set<?> heap) {
    long bytes = 0;
    for (Map.Entry<String, MemoryUsage> pool : pools.entrySet()) {
      bytes += heap.contains(pool.getKey()) ? pool.getValue().getUsed() : 0;
    }
    return bytes;
  }
}
