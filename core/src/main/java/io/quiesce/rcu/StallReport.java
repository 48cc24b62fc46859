package io.quiesce.rcu;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Says whom a grace period waits for, with stacks, when it lasts longer than the domain's stall
 * limit: once at the limit and once per doubling.
 */
final class StallReport {
  private static final System.Logger LOG = System.getLogger("io.quiesce.rcu");

  private final Rcu rcu;
  private final long limitNanos;
  private final Consumer<String> listener;
  private volatile long reports;

  StallReport(Rcu rcu, Duration limit, Consumer<String> listener) {
    this.listener = listener;
    this.rcu = rcu;
    this.limitNanos = Rcu.nanos(limit);
  }

  long limitNanos() {
    return limitNanos;
  }

  long count() {
    return reports;
  }

  /** Logs one report. By the leader of the grace period only. */
  void report(
      ReaderRegistry.@Nullable Roster roster, long target, SleepableCounts counts, long elapsed) {
    StringBuilder text = new StringBuilder(512);
    text.append("RCU stall in domain ")
        .append(rcu.name())
        .append(": a grace period has waited ")
        .append(elapsed / 1_000_000)
        .append(" ms for");
    List<Thread> blockers = roster == null ? List.of() : blockers(roster, target);
    if (blockers.isEmpty()) {
      text.append(' ').append(counts.open()).append(" section(s) counted without owner");
      appendTracked(text);
    }
    for (Thread thread : blockers) {
      appendStack(text.append("\n  reader "), thread);
    }
    String report = text.toString();
    long made = reports;
    reports = made + 1; // whoever sees the count may end the stall: it is described already
    LOG.log(Level.WARNING, report);
    RcuEvents.stall(rcu.name(), elapsed, report);
    try {
      listener.accept(report);
    } catch (Throwable failure) { // it must not end the wait, nor the worker that waits
      LOG.log(Level.WARNING, "the stall listener threw", failure);
    }
  }

  private void appendTracked(StringBuilder text) {
    VirtualTracker tracker = rcu.tracker();
    if (tracker == null) {
      text.append(
          " (virtual threads, or any thread of a sleepable domain);"
              + " start with -Dquiesce.rcu.trackVirtual=true to see whose");
      return;
    }
    for (VirtualTracker.Entry entry : tracker.open()) {
      text.append("\n  section open for ").append(entry.ageNanos() / 1_000_000).append(" ms, ");
      appendStack(text, entry.thread());
    }
  }

  private static void appendStack(StringBuilder text, Thread thread) {
    text.append(thread.getName().isEmpty() ? "#" + thread.threadId() : thread.getName())
        .append(" (")
        .append(thread.getState())
        .append(')');
    for (StackTraceElement frame : thread.getStackTrace()) {
      text.append("\n      at ").append(frame);
    }
  }

  /** Who is reading now, in words. */
  String describeReaders(ReaderRegistry.Roster roster, SleepableCounts counts) {
    StringJoiner names = new StringJoiner(", ");
    for (Thread thread : blockers(roster, Long.MAX_VALUE)) {
      names.add("thread " + thread.getName());
    }
    VirtualTracker tracker = rcu.tracker();
    long open = counts.open();
    if (tracker != null) {
      tracker.open().forEach(entry -> names.add("thread " + entry.thread()));
    } else if (open > 0) {
      names.add(open + " section(s) of virtual threads");
    }
    return names.length() == 0
        ? "no reader that can be named (its callbacks may be waiting for others)"
        : names.toString();
  }

  /** The live threads for which a grace period with this target would wait. */
  static List<Thread> blockers(ReaderRegistry.Roster roster, long target) {
    List<Thread> threads = new ArrayList<>();
    int size = roster.size;
    for (int i = 0; i < size; i++) {
      Reader reader = roster.slots[i];
      Thread owner = reader.ownerThread();
      if (owner != null && reader.blocks(target)) {
        threads.add(owner);
      }
    }
    return threads;
  }
}
