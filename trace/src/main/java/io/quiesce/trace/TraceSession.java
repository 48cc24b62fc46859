package io.quiesce.trace;

import io.quiesce.trace.control.ControlServer;
import io.quiesce.trace.control.Controlled;
import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.Metadata;
import io.quiesce.trace.ctf.TraceDescription;
import io.quiesce.trace.point.EventContext;
import io.quiesce.trace.point.EventFilter;
import io.quiesce.trace.point.Point;
import io.quiesce.trace.point.Points;
import io.quiesce.trace.ring.RingSession;
import io.quiesce.trace.ring.RingStatistics;
import io.quiesce.trace.source.Sources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A trace that is being recorded: which tracepoints are on, and where their events go.
 *
 * <p>{@link #record} writes everything to a folder as it happens; when the disk cannot follow, new
 * events are lost and counted. {@link #flightRecorder} keeps the newest events in memory, and
 * writes them when {@link #snapshot} asks for it. The folder is a trace in the Common Trace Format
 * 1.8, which babeltrace2 and Trace Compass read, or 2 if asked for ({@link
 * TraceSessionBuilder#format}); no tool needs to know Quiesce.
 *
 * <pre>{@code
 * try (var session = TraceSession.record(Path.of("trace")).enable("shop:*").start()) {
 *   shop.orderPlaced(4711, 3, "QSC");
 * }
 * }</pre>
 *
 * <p>A program that is killed loses nothing that was committed: its events are in a mapped file,
 * and {@code quiesce trace recover trace} finishes the trace. On a normal exit of the JVM sessions
 * are closed by a shutdown hook.
 *
 * <p>Thread-safe. Several sessions at a time may record the same tracepoints. A traced thread never
 * waits for a session: neither for its file, nor for one that starts, changes or ends.
 *
 * <p>Sources: LTTng's tracing sessions (2009); docs/trace.md has the design.
 */
public final class TraceSession implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("io.quiesce.trace");
  private static final long LEAST_PAUSE_NANOS = 1_000_000;
  private static final long MOST_PAUSE_NANOS = 20_000_000;
  private static final long STOP_MILLIS = 10_000;

  /** How long others wait for whoever closes the session; it may wait for them, as in an exit. */
  private static final long CLOSING_NANOS = 60_000_000_000L;

  private final Path folder;
  private final TraceDescription description;
  private final Metadata metadata;
  private final RingSession rings;
  private final EventContext context;
  private final SessionFile marker;
  private final boolean overwrite;
  private final long flushNanos;
  private final Thread thread;
  private final @Nullable Thread hook;
  private final Controlled control;
  private final Consumer<Point> listener = this::apply;

  // Under the lock of Points.
  private final Map<Point, EventType> types = new HashMap<>();
  private final List<TraceRule> rules;

  /** Set under the lock of Points, before all are detached: nothing is attached from then on. */
  private volatile boolean stopping;

  private volatile @Nullable IOException undescribed;
  private final CountDownLatch ended = new CountDownLatch(1);
  private @Nullable Thread closer;
  private boolean failing;

  TraceSession(TraceSessionBuilder builder) throws IOException {
    Sources.install();
    this.folder = builder.folder();
    this.overwrite = builder.isOverwrite();
    this.context = builder.context();
    this.rules = new ArrayList<>(builder.rules());
    this.flushNanos = builder.flush().toNanos();
    this.description =
        TraceDescription.ofThisProcess(builder.name(), context.fields()).in(builder.format());
    boolean isNew = !Files.exists(folder);
    this.metadata = Metadata.create(folder, description);
    RingSession made = null;
    try {
      Path file = builder.buffersFile(description.uuid());
      made =
          RingSession.create(
              file,
              builder.budget(),
              builder.subBuffers(),
              builder.subBufferBytes(),
              overwrite,
              builder.hotPath(),
              folder,
              description,
              id -> true);
      if (builder.isEager()) {
        made.reserveAll();
      }
      this.rings = made;
      this.marker = SessionFile.create(folder, file, description.uuid());
    } catch (IOException | RuntimeException e) {
      undo(made, isNew, e);
      throw e;
    }
    this.thread =
        Thread.ofPlatform().daemon().name("quiesce-trace-" + builder.name()).unstarted(this::run);
    this.hook =
        builder.isClosedAtExit() ? new Thread(this::closeAtExit, "quiesce-trace-exit") : null;
    this.control = new SessionControl(this, builder.name(), overwrite);
  }

  /** Leaves nothing behind of what could not begin; the metadata would refuse another try. */
  private void undo(@Nullable RingSession made, boolean isNew, Exception reason) {
    try (metadata;
        made) {
      SessionFile.delete(folder);
      Files.deleteIfExists(folder.resolve("metadata"));
      if (isNew) {
        Files.deleteIfExists(folder);
      }
    } catch (IOException e) {
      reason.addSuppressed(e);
    }
  }

  /** Begins; once, by the builder. */
  TraceSession start() {
    Points.listen(listener);
    rings.wakes(thread);
    thread.start();
    if (hook != null) {
      try {
        Runtime.getRuntime().addShutdownHook(hook);
      } catch (IllegalStateException _) {
        // The JVM ends already; whoever started this now closes it.
      }
    }
    ControlServer.register(control);
    return this;
  }

  /**
   * A session that writes all events to a folder.
   *
   * @param folder of the trace; made if it does not exist, and must not hold a trace
   * @return to be configured and started
   */
  public static TraceSessionBuilder record(Path folder) {
    return new TraceSessionBuilder(folder, false);
  }

  /**
   * A session that keeps the newest events in memory, for {@link #snapshot}.
   *
   * @param folder where snapshots and what recovery finds go; as for {@link #record}
   * @return to be configured and started
   */
  public static TraceSessionBuilder flightRecorder(Path folder) {
    return new TraceSessionBuilder(folder, true);
  }

  /**
   * Turns tracepoints on: those that exist, and those that come.
   *
   * @param pattern of {@code provider:name}, with {@code *} for any characters
   * @throws IllegalArgumentException for an empty pattern
   */
  public void enable(String pattern) {
    enable(pattern, TraceSessionBuilder.ALL_LEVELS, "");
  }

  /**
   * Turns tracepoints on up to a level, or events that pass a filter.
   *
   * @param pattern of {@code provider:name}, with {@code *} for any characters
   * @param level the highest wanted, on LTTng's scale: 0 emergency to 14 debug
   * @param filter an expression on fields such as {@code qty > 10 && symbol == 'Q*'}; empty for
   *     all. A tracepoint that has not all its fields is not turned on
   * @throws IllegalArgumentException if one of them makes no sense
   */
  public void enable(String pattern, int level, String filter) {
    change(TraceRule.enable(pattern, level, filter));
  }

  /**
   * Turns tracepoints off. Events that are on their way may still arrive.
   *
   * @param pattern of {@code provider:name}, with {@code *} for any characters
   */
  public void disable(String pattern) {
    change(TraceRule.disable(pattern));
  }

  private void change(TraceRule rule) {
    Points.locked(
        () -> {
          if (!stopping) {
            check(rule);
            rules.add(rule);
            Points.forEach(this::apply);
          }
        });
  }

  /** A filter that suits none of the tracepoints it is meant for is a mistake. */
  private void check(TraceRule rule) {
    List<IllegalArgumentException> failures = new ArrayList<>();
    int[] suited = new int[1];
    Points.forEach(
        point -> {
          if (rule.matches(point)) {
            try {
              rule.filter(point);
              suited[0]++;
            } catch (IllegalArgumentException e) {
              failures.add(e);
            }
          }
        });
    if (suited[0] == 0 && !failures.isEmpty()) {
      throw failures.getFirst();
    }
  }

  /**
   * Attaches a tracepoint or detaches it, as the last rule that names it says; no longer once the
   * session ends. Under the lock of Points.
   */
  void apply(Point point) {
    if (stopping) {
      return;
    }
    TraceRule last = null;
    for (TraceRule rule : rules) {
      if (rule.matches(point)) {
        last = rule;
      }
    }
    EventFilter filter = last == null ? null : filter(last, point);
    if (filter == null) {
      Points.detach(point, this);
      return;
    }
    EventType type = types.get(point);
    if (type == null && types.size() <= EventType.MAX_ID) {
      type =
          new EventType(
              types.size(), point.provider(), point.name(), point.level(), point.fields());
    }
    if (type != null && described(type)) {
      types.put(point, type);
      Points.attach(point, this, rings.buffers(), type.id(), filter, context);
    }
  }

  /** What passes, or null if nothing does: a filter on fields that the tracepoint does not have. */
  private static @Nullable EventFilter filter(TraceRule rule, Point point) {
    try {
      return rule.isEnabling() ? rule.filter(point) : null;
    } catch (IllegalArgumentException _) {
      return null;
    }
  }

  /** Metadata goes before the events that need it. */
  private boolean described(EventType type) {
    try {
      metadata.add(type);
      return true;
    } catch (IOException e) {
      undescribed = e; // not logged here: who logs may wait for whoever waits for this lock
      return false;
    }
  }

  /**
   * Writes what a flight recorder holds, as a trace in a new folder, while events go on.
   *
   * @param name of the folder within this session's
   * @return the folder
   * @throws IOException in one sentence if it cannot be written, or is there already
   * @throws IllegalStateException if the session has ended, or is no flight recorder
   */
  public Path snapshot(String name) throws IOException {
    Path target = folder.resolve(name);
    snapshot(target);
    return target;
  }

  /**
   * As {@link #snapshot(String)}, to a folder anywhere.
   *
   * @param target a folder that holds no trace
   * @return how many events were written
   * @throws IOException in one sentence if it cannot be written
   * @throws IllegalStateException if the session has ended, or is no flight recorder
   */
  public long snapshot(Path target) throws IOException {
    if (!overwrite) {
      throw new IllegalStateException(
          "Only a flight recorder takes snapshots; this session writes to " + folder);
    }
    List<EventType> known = new ArrayList<>();
    Points.locked(() -> known.addAll(types.values()));
    return rings.snapshot(target, description, file -> file.addAll(known));
  }

  /**
   * What became of the events so far.
   *
   * @return counts; events that are still in the buffers are in none of them
   */
  public TraceCounts counts() {
    RingStatistics s = rings.statistics();
    return new TraceCounts(s.events(), s.full(), s.wrap(), s.big(), s.other(), s.failures());
  }

  /**
   * Where the trace is.
   *
   * @return the folder
   */
  public Path folder() {
    return folder;
  }

  private void run() {
    long pause = LEAST_PAUSE_NANOS;
    long flushed = System.nanoTime();
    while (!stopping) {
      int packets = 0;
      try {
        long now = System.nanoTime();
        boolean flush = !overwrite && now - flushed >= flushNanos;
        if (flush) {
          flushed = now;
        }
        packets = rings.pass(flush);
        IOException failure = rings.takeFailure();
        IOException missing = undescribed;
        if (missing != null) {
          undescribed = null;
          Points.forEach(this::apply);
          failure = failure == null ? missing : failure;
        }
        if (failure != null) {
          report(failure);
          pause = MOST_PAUSE_NANOS;
        } else {
          failing &= packets == 0;
          pause = packets > 0 ? LEAST_PAUSE_NANOS : Math.min(pause * 2, MOST_PAUSE_NANOS);
        }
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.ERROR, "The consumer of the trace " + folder + " failed", e);
        pause = MOST_PAUSE_NANOS;
      }
      if (packets == 0) {
        LockSupport.parkNanos(this, pause);
      }
    }
  }

  /** Once, until it works again. */
  private void report(IOException e) {
    if (!failing) {
      failing = true;
      LOG.log(
          System.Logger.Level.WARNING,
          e.getMessage() + ". It is tried again and again; meanwhile losses are counted.");
    }
  }

  private void closeAtExit() {
    try {
      close();
    } catch (IOException e) {
      System.err.println("quiesce: " + e.getMessage());
    }
  }

  /**
   * Turns everything off, writes what is in the buffers (a flight recorder's are given up), and
   * takes the buffers' file away. Again does nothing, but wait until the first caller has finished:
   * so an exit of the JVM does not cut it short.
   *
   * @throws IOException if not everything could be written; the buffers' file stays then, for
   *     {@code quiesce trace recover}, unless the trace was deleted or moved meanwhile
   */
  @Override
  public void close() throws IOException {
    Thread first = closer();
    if (first != Thread.currentThread()) {
      letFinish();
    } else if (!stopping) {
      try {
        end();
      } finally {
        ended.countDown();
      }
    }
  }

  private synchronized Thread closer() {
    Thread first = closer == null ? Thread.currentThread() : closer;
    closer = first;
    return first;
  }

  /** Not for the session's own thread, which the first caller waits for. */
  private void letFinish() {
    boolean interrupted = false;
    long end = System.nanoTime() + CLOSING_NANOS;
    boolean done = Thread.currentThread() == thread;
    while (!done) {
      try {
        done = ended.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        done |= end - System.nanoTime() <= 0;
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void end() throws IOException {
    Points.locked(() -> stopping = true);
    ControlServer.unregister(control);
    Points.unlisten(listener, this);
    LockSupport.unpark(thread);
    joinThread();
    try {
      try (metadata) {
        rings.close();
        marker.delete();
      }
    } finally {
      removeHook();
    }
  }

  private void joinThread() {
    boolean interrupted = false;
    long end = System.nanoTime() + STOP_MILLIS * 1_000_000;
    while (thread.isAlive() && System.nanoTime() < end && Thread.currentThread() != thread) {
      try {
        thread.join(STOP_MILLIS);
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void removeHook() {
    if (hook == null) {
      return;
    }
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException _) {
      // The JVM ends: this may be the hook itself.
    }
  }

  /**
   * Finishes the trace of a program that was killed: cuts off what is not whole, and adds the
   * events that were still in its buffers. A trace that was ended well is left as it is.
   *
   * @param folder of the trace
   * @return what was found
   * @throws IOException in one sentence if the program still runs, or the folder holds no trace
   */
  public static TraceRecovery recover(Path folder) throws IOException {
    @Nullable SessionFile marker = SessionFile.find(folder);
    if (marker == null) {
      return TraceRecovery.NOTHING;
    }
    TraceRecovery found = marker.recover();
    marker.delete();
    return found;
  }
}
