package io.quiesce.trace.reader;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How many events of what, where and when, and how many were lost. Immutable.
 *
 * @param events how many were read
 * @param first the first one's time in nanoseconds since 1970; 0 without events
 * @param last the last one's time
 * @param packets how many were read
 * @param lostEvents how many were lost between the first and the last packet of their streams
 * @param lostBefore how many the first packets say were lost, in them and before them; these belong
 *     to the trace if it has its streams' beginnings
 * @param lostPackets how many packets are missing
 * @param types by the number of events, most first
 * @param threads by the number of events, most first; empty if the trace does not tell
 * @param cpus by number, of all traces together; those of streams that do not tell are CPU -1
 */
public record TraceStatistics(
    long events,
    long first,
    long last,
    long packets,
    long lostEvents,
    long lostBefore,
    long lostPackets,
    List<TypeCount> types,
    List<ThreadCount> threads,
    List<CpuCount> cpus) {
  private static final double NANOS = 1e9;

  /**
   * The events of one name.
   *
   * @param name such as {@code provider:name}
   * @param events how many
   */
  public record TypeCount(String name, long events) {}

  /**
   * The events of one thread.
   *
   * @param vtid the thread's number
   * @param name the context field {@code procname} of its first event, or empty
   * @param events how many
   */
  public record ThreadCount(long vtid, String name, long events) {}

  /**
   * The events of one CPU.
   *
   * @param cpu its number
   * @param events how many
   * @param lostEvents as {@link TraceStatistics#lostEvents}
   * @param lostBefore as {@link TraceStatistics#lostBefore}
   * @param lostPackets as {@link TraceStatistics#lostPackets}
   */
  public record CpuCount(
      int cpu, long events, long lostEvents, long lostBefore, long lostPackets) {}

  public TraceStatistics {
    types = List.copyOf(types);
    threads = List.copyOf(threads);
    cpus = List.copyOf(cpus);
  }

  /** The nanoseconds from the first event to the last one. */
  public long duration() {
    return last - first;
  }

  /** Events per second; 0 if they have one time. */
  public double rate() {
    return duration() == 0 ? 0 : events * NANOS / duration();
  }

  /**
   * Reads all events that are left.
   *
   * @throws TraceFormatException at damage, if the reader is not lenient
   * @throws IOException if a file cannot be read
   */
  public static TraceStatistics of(TraceReader reader) throws IOException {
    Counter counter = new Counter();
    while (reader.next()) {
      counter.add(reader.event());
    }
    return counter.result(reader.streams());
  }

  /** Counts events; for those who do more with them than to count. Not thread-safe. */
  public static final class Counter {
    /** A count that changes without garbage. */
    private static final class Count {
      private final String name;
      private long events;

      Count(String name) {
        this.name = name;
      }
    }

    private final IdentityHashMap<EventClass, Count> types = new IdentityHashMap<>();
    private final Map<Long, Count> threads = new HashMap<>();
    private long events;
    private long first;
    private long last;
    private @Nullable EventClass lastType;
    private @Nullable Count typeCount;
    private long lastThread;
    private @Nullable Count threadCount;

    /** A counter that has counted nothing. */
    public Counter() {}

    /** Counts an event; in the order of time. */
    public void add(Event event) {
      if (events++ == 0) {
        first = event.timeNanos();
      }
      last = event.timeNanos();
      EventClass type = event.type();
      if (typeCount == null || type != lastType) {
        lastType = type;
        typeCount = types.computeIfAbsent(type, key -> new Count(key.name()));
      }
      typeCount.events++;
      long thread = event.vtid();
      if (thread != Event.UNKNOWN) {
        if (threadCount == null || thread != lastThread) {
          lastThread = thread;
          threadCount = threads.computeIfAbsent(thread, _ -> new Count(nameOf(event)));
        }
        threadCount.events++;
      }
    }

    private static String nameOf(Event event) {
      Value name = event.streamContext().field("procname");
      return name == null || !name.isText() ? "" : name.asText();
    }

    /** The statistics so far; the losses and packets are those that the streams have seen. */
    public TraceStatistics result(List<TraceStream> streams) {
      Map<String, Long> byName = new TreeMap<>();
      types.forEach((_, count) -> byName.merge(count.name, count.events, Long::sum));
      List<TypeCount> typeCounts = new ArrayList<>();
      byName.forEach((name, count) -> typeCounts.add(new TypeCount(name, count)));
      typeCounts.sort(Comparator.comparingLong(TypeCount::events).reversed());
      List<ThreadCount> threadCounts = new ArrayList<>();
      new TreeMap<>(threads)
          .forEach(
              (thread, count) ->
                  threadCounts.add(new ThreadCount(thread, count.name, count.events)));
      threadCounts.sort(Comparator.comparingLong(ThreadCount::events).reversed());
      Map<Integer, CpuCount> cpuCounts = new TreeMap<>();
      long packets = 0;
      CpuCount all = new CpuCount(0, 0, 0, 0, 0);
      for (TraceStream stream : streams) {
        packets += stream.packets();
        CpuCount own =
            new CpuCount(
                stream.cpu(),
                stream.events(),
                stream.lostEvents(),
                stream.lostBefore(),
                stream.lostPackets());
        if (stream.packets() > 0) {
          cpuCounts.merge(own.cpu, own, Counter::sum);
        }
        all = sum(all, own);
      }
      return new TraceStatistics(
          events,
          first,
          last,
          packets,
          all.lostEvents,
          all.lostBefore,
          all.lostPackets,
          typeCounts,
          threadCounts,
          List.copyOf(cpuCounts.values()));
    }

    private static CpuCount sum(CpuCount a, CpuCount b) {
      return new CpuCount(
          a.cpu,
          a.events + b.events,
          a.lostEvents + b.lostEvents,
          a.lostBefore + b.lostBefore,
          a.lostPackets + b.lostPackets);
    }
  }
}
