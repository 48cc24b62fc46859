package io.quiesce.trace;

import io.quiesce.trace.point.Contexts;
import io.quiesce.trace.point.EventContext;
import io.quiesce.trace.ring.BufferFolder;
import io.quiesce.trace.ring.HotPathKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link TraceSession} is to be like. Not thread-safe; for one session.
 *
 * <p>Buffers: one ring for each CPU that the machine may have, cut into sub-buffers, all within one
 * budget. A ring takes up memory from its CPU's first event on.
 */
public final class TraceSessionBuilder {
  static final int ALL_LEVELS = 14;
  private static final long DEFAULT_BUDGET = 32L << 20;
  private static final int DEFAULT_SUB_BUFFERS = 8;
  private static final long DEFAULT_SUB_BYTES = 1L << 20;
  private static final int LEAST_SUB_BUFFERS = 4;
  private static final String HOT_PATH = "quiesce.trace.hotpath";

  private final Path folder;
  private final boolean overwrite;
  private final List<TraceRule> rules = new ArrayList<>();
  private String name = "trace";
  private long budget = DEFAULT_BUDGET;
  private int subBuffers = DEFAULT_SUB_BUFFERS;
  private long subBytes = DEFAULT_SUB_BYTES;
  private @Nullable Path buffers;
  private boolean eager;
  private Duration flush = Duration.ofSeconds(1);
  private EventContext context = EventContext.NONE;
  private boolean closedAtExit = true;
  private TraceFormat format = TraceFormat.CTF_1_8;

  TraceSessionBuilder(Path folder, boolean overwrite) {
    this.folder = folder;
    this.overwrite = overwrite;
  }

  /**
   * Names the session, in its thread and in the trace.
   *
   * @param text any
   * @return this
   */
  public TraceSessionBuilder name(String text) {
    this.name = text;
    return this;
  }

  /**
   * Bounds the memory of all buffers together.
   *
   * @param bytes 32 MiB by default; at least 16 KiB for each CPU that the machine may have
   * @return this
   */
  public TraceSessionBuilder bufferBudget(long bytes) {
    this.budget = bytes;
    return this;
  }

  /**
   * Cuts each ring. More sub-buffers lose less when threads are suspended in the middle of an
   * event, and a flight recorder gives up less at a time.
   *
   * @param count a power of two, at least 4; 8 by default
   * @param mostBytes the largest sub-buffer, a power of two from 4,096; 1 MiB by default. It also
   *     bounds a single event
   * @return this
   * @throws IllegalArgumentException for numbers out of range
   */
  public TraceSessionBuilder subBuffers(int count, long mostBytes) {
    if (count < LEAST_SUB_BUFFERS || Integer.bitCount(count) != 1) {
      throw new IllegalArgumentException(
          "A ring has a power of two of sub-buffers, at least 4, not " + count);
    }
    if (mostBytes < 4096 || Long.bitCount(mostBytes) != 1) {
      throw new IllegalArgumentException(
          "A sub-buffer has a power of two of bytes, at least 4096, not " + mostBytes);
    }
    this.subBuffers = count;
    this.subBytes = mostBytes;
    return this;
  }

  /**
   * Chooses the folder of the buffers' file: on a memory file system, since stores to a file on a
   * disk stall when it is written back.
   *
   * @param directory one that exists; by default the property {@code quiesce.trace.buffers}, then
   *     {@code /dev/shm}, then the folder for temporary files
   * @return this
   */
  public TraceSessionBuilder buffersIn(Path directory) {
    this.buffers = directory;
    return this;
  }

  /**
   * Reserves the rings of all CPUs that this process may run on at the start, within the budget:
   * then no traced thread pays for a ring at its CPU's first event, which takes a millisecond for
   * each few MiB, nor for the first touch of its pages. By default a CPU's ring is made when it is
   * needed.
   *
   * @return this
   */
  public TraceSessionBuilder reserveAtStart() {
    this.eager = true;
    return this;
  }

  /**
   * Says how long events may stay in sub-buffers that do not fill. A flight recorder does not care.
   *
   * @param interval 1 s by default
   * @return this
   * @throws IllegalArgumentException for less than a millisecond
   */
  public TraceSessionBuilder flushEvery(Duration interval) {
    if (interval.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException("A flush takes its time: at least 1 ms, not " + interval);
    }
    this.flush = interval;
    return this;
  }

  /**
   * Adds fields to every event. None by default: a reader knows the CPU and the time of each event,
   * which is enough to join it with a kernel trace.
   *
   * @param fields in the order wanted
   * @return this
   */
  public TraceSessionBuilder context(ContextField... fields) {
    this.context = Contexts.of(List.of(fields));
    return this;
  }

  /**
   * Turns tracepoints on: those that exist, and those that come.
   *
   * @param pattern of {@code provider:name}, with {@code *} for any characters
   * @return this
   */
  public TraceSessionBuilder enable(String pattern) {
    return enable(pattern, ALL_LEVELS, "");
  }

  /**
   * Turns tracepoints on up to a level, or events that pass a filter; see {@link
   * TraceSession#enable(String, int, String)}.
   *
   * @param pattern of {@code provider:name}, with {@code *} for any characters
   * @param level the highest wanted, 0 to 14
   * @param filter an expression on fields; empty for all events
   * @return this
   */
  public TraceSessionBuilder enable(String pattern, int level, String filter) {
    rules.add(TraceRule.enable(pattern, level, filter));
    return this;
  }

  /**
   * Turns tracepoints off that an earlier pattern turned on.
   *
   * @param pattern of {@code provider:name}, with {@code *} for any characters
   * @return this
   */
  public TraceSessionBuilder disable(String pattern) {
    rules.add(TraceRule.disable(pattern));
    return this;
  }

  /**
   * Says whether a shutdown hook closes the session when the JVM ends. Who says no closes it in a
   * hook of his own, such as after a last snapshot.
   *
   * @param wanted true by default
   * @return this
   */
  public TraceSessionBuilder closeAtExit(boolean wanted) {
    this.closedAtExit = wanted;
    return this;
  }

  /**
   * Chooses the format in which the trace is described; snapshots and what recovery finishes have
   * it too.
   *
   * @param version {@link TraceFormat#CTF_1_8} by default, which more tools read
   * @return this
   */
  public TraceSessionBuilder format(TraceFormat version) {
    this.format = Objects.requireNonNull(version, "version");
    return this;
  }

  /**
   * Starts it.
   *
   * @return the session, to be closed
   * @throws IOException in one sentence if the folder or the buffers cannot be made
   * @throws IllegalArgumentException if the budget is too small for this machine's CPUs
   */
  public TraceSession start() throws IOException {
    return new TraceSession(this).start();
  }

  Path folder() {
    return folder;
  }

  boolean isOverwrite() {
    return overwrite;
  }

  List<TraceRule> rules() {
    return rules;
  }

  String name() {
    return name;
  }

  long budget() {
    return budget;
  }

  int subBuffers() {
    return subBuffers;
  }

  long subBufferBytes() {
    return subBytes;
  }

  boolean isEager() {
    return eager;
  }

  Duration flush() {
    return flush;
  }

  boolean isClosedAtExit() {
    return closedAtExit;
  }

  TraceFormat format() {
    return format;
  }

  EventContext context() {
    return context;
  }

  Path buffersFile(UUID trace) {
    return directory().resolve("quiesce-" + ProcessHandle.current().pid() + "-" + trace + ".ring");
  }

  private Path directory() {
    return buffers == null ? BufferFolder.usual() : buffers;
  }

  HotPathKind hotPath() {
    String choice = System.getProperty(HOT_PATH, "auto");
    HotPathKind kind =
        switch (choice) {
          case "auto" -> HotPathKind.best();
          case "sequence" -> HotPathKind.SEQUENCE;
          case "cas" -> HotPathKind.COMPARE_AND_SWAP;
          case "lock" -> HotPathKind.LOCK;
          default ->
              throw new IllegalArgumentException(
                  "-D"
                      + HOT_PATH
                      + "="
                      + choice.toLowerCase(Locale.ROOT)
                      + " is none of auto, sequence, cas, lock");
        };
    if (!kind.isAvailable()) {
      throw new IllegalArgumentException(
          "-D"
              + HOT_PATH
              + "=sequence needs restartable sequences and a trusted time stamp"
              + " counter; see 'quiesce doctor', or set auto");
    }
    return kind;
  }
}
