package io.quiesce.rcu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who holds counted sections, kept only under {@code -Dquiesce.rcu.trackVirtual=true}: the counts
 * themselves are anonymous. Costs a map update at each end of a section.
 */
final class VirtualTracker {
  static final boolean ENABLED = Boolean.getBoolean("quiesce.rcu.trackVirtual");

  record Entry(Thread thread, long since) {
    long ageNanos() {
      return System.nanoTime() - since;
    }
  }

  private final ConcurrentHashMap<Section, Entry> open = new ConcurrentHashMap<>();

  void opened(Section section) {
    open.put(section, new Entry(Thread.currentThread(), System.nanoTime()));
  }

  void closed(Section section) {
    open.remove(section);
  }

  boolean holds(Thread thread) {
    return open.values().stream().anyMatch(entry -> entry.thread() == thread);
  }

  List<Entry> open() {
    return new ArrayList<>(open.values());
  }
}
