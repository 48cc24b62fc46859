package io.quiesce.verify;

import io.quiesce.trace.reader.Event;
import io.quiesce.trace.reader.TraceFormatException;
import io.quiesce.trace.reader.TraceReader;
import io.quiesce.trace.reader.TraceStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads a trace of the torture and throws at the first thing that is not as it must be. For one
 * trace; not thread-safe.
 */
final class TraceCheck {
  /** Counters of two CPUs may differ by 2 us where they are trusted. */
  private static final long MARGIN_NANOS = 10_000;

  private final TraceEvents events;
  private final long[] emitted;
  private final long[] base;
  private final BitSet[] seen;
  private final long[] last;
  private final long[] firstSure;
  private final Map<Integer, Cpu> cpus = new HashMap<>();
  private long count;
  private long closing;

  /** What is known of a CPU's stream. */
  private static final class Cpu {
    private final long[] last;
    private final boolean fromTheBeginning;
    private final long firstTime;
    private long discarded;
    private long sequence = -1;

    Cpu(Event first, int producers) {
      this.last = new long[producers];
      java.util.Arrays.fill(last, -1);
      this.fromTheBeginning = first.packet().sequence() == 0;
      this.firstTime = first.timeNanos();
    }
  }

  /**
   * A check.
   *
   * @param emitted how many events of each producer had certainly been emitted, numbered from 0
   */
  TraceCheck(TraceEvents events, long[] emitted) {
    this.events = events;
    this.emitted = emitted.clone();
    this.base = new long[emitted.length];
    this.last = new long[emitted.length];
    this.firstSure = new long[emitted.length];
    this.seen = new BitSet[emitted.length];
    for (int i = 0; i < seen.length; i++) {
      seen[i] = new BitSet();
      base[i] = -1;
      last[i] = -1;
      firstSure[i] = -1;
    }
  }

  /** Events read, without the closing ones. */
  long count() {
    return count;
  }

  /** Closing events read. */
  long closing() {
    return closing;
  }

  /** The sum of what the CPUs' last packets say was lost. */
  long discarded() {
    return cpus.values().stream().mapToLong(cpu -> cpu.discarded).sum();
  }

  /** A trace that holds all that was not lost. */
  void whole(Path folder) throws IOException {
    try (TraceReader reader = TraceReader.open(folder)) {
      while (next(reader)) {
        add(reader.event());
      }
      for (TraceStream stream : reader.streams()) {
        if (stream.lostPackets() > 0) {
          throw new TortureFailure(
              stream.lostPackets() + " packets of CPU " + stream.cpu() + " are missing");
        }
      }
    }
    for (int i = 0; i < emitted.length; i++) {
      if (last[i] >= emitted[i]) {
        throw new TortureFailure("event " + last[i] + " of " + i + " was never emitted");
      }
    }
  }

  /**
   * A snapshot: from the moment from which all its streams reach back to the present, no event may
   * be missing, up to those that had been emitted before it was asked for.
   *
   * @return how many are missing nonetheless, or -1 if one stream was overtaken as a whole
   */
  long snapshot(Path folder) throws IOException {
    long since = Long.MIN_VALUE;
    boolean overtaken = false;
    // Once for the streams' beginnings, once for the rest.
    try (TraceReader reader = TraceReader.open(folder)) {
      while (next(reader)) {
        add(reader.event());
      }
      for (TraceStream stream : reader.streams()) {
        overtaken |= stream.events() == 0;
      }
    }
    for (Cpu cpu : cpus.values()) {
      since = cpu.fromTheBeginning ? since : Math.max(since, cpu.firstTime + MARGIN_NANOS);
    }
    if (overtaken) {
      return -1;
    }
    try (TraceReader reader = TraceReader.open(folder)) {
      while (next(reader)) {
        Event event = reader.event();
        int producer = (int) event.getLong("producer");
        long number = event.getLong("number");
        if (event.timeNanos() > since
            && (firstSure[producer] < 0 || number < firstSure[producer])) {
          firstSure[producer] = number;
        }
      }
    }
    long missing = 0;
    for (int i = 0; i < seen.length; i++) {
      missing += firstSure[i] < 0 ? 0 : missing(i);
    }
    return missing;
  }

  private long missing(int producer) {
    long missing = 0;
    long end = Math.max(last[producer] + 1, emitted[producer]);
    for (long n = firstSure[producer]; n < end; n++) {
      if (!seen[producer].get(index(producer, n)) && !events.isTooLarge(producer, n)) {
        missing++;
      }
    }
    return missing;
  }

  private static boolean next(TraceReader reader) throws IOException {
    try {
      return reader.next();
    } catch (TraceFormatException damage) {
      throw new TortureFailure("the trace is damaged: " + damage.getMessage());
    }
  }

  /** Where a number is in the set: numbers of a snapshot are large and close together. */
  private int index(int producer, long number) {
    if (base[producer] < 0) {
      base[producer] = number & -Long.SIZE;
    }
    if (number < base[producer]) {
      BitSet moved = new BitSet();
      long from = number & -Long.SIZE;
      int shift = Math.toIntExact(base[producer] - from);
      seen[producer].stream().forEach(i -> moved.set(i + shift));
      seen[producer] = moved;
      base[producer] = from;
    }
    return Math.toIntExact(number - base[producer]);
  }

  private void add(Event event) {
    Cpu cpu = cpus.computeIfAbsent(event.cpu(), _ -> new Cpu(event, emitted.length));
    if (event.packet().sequence() != cpu.sequence) {
      cpu.sequence = event.packet().sequence();
      if (event.packet().discarded() < cpu.discarded) {
        throw new TortureFailure(
            "the losses of CPU " + event.cpu() + " go back, to " + event.packet().discarded());
      }
      cpu.discarded = event.packet().discarded();
    }
    events.check(event);
    int producer = (int) event.getLong("producer");
    if (producer < 0) {
      closing++;
      return;
    }
    if (producer >= emitted.length) {
      throw new TortureFailure("an event of nobody: " + event);
    }
    long number = event.getLong("number");
    if (number <= cpu.last[producer]) {
      throw new TortureFailure(
          "event "
              + number
              + " of producer "
              + producer
              + " stands behind "
              + cpu.last[producer]
              + " on CPU "
              + event.cpu());
    }
    cpu.last[producer] = number;
    int at = index(producer, number);
    if (seen[producer].get(at)) {
      throw new TortureFailure(
          "event " + number + " of producer " + producer + " is in the trace twice");
    }
    seen[producer].set(at);
    last[producer] = Math.max(last[producer], number);
    count++;
  }
}
