package io.quiesce.rcu;

import io.quiesce.internal.Facilities;
import io.quiesce.linux.Platform;
import java.lang.System.Logger.Level;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A read-copy-update domain: readers that never wait and write no shared memory; updaters that
 * publish a new version and let go of the old one a <em>grace period</em> later, when every reader
 * that could have seen it has left its read-side critical section.
 *
 * <pre>{@code
 * Rcu rcu = Rcu.shared();
 * RcuRef<Index> index = rcu.ref(Index.open(file));
 *
 * try (Section s = rcu.read()) {            // any thread, platform or virtual
 *   index.get(s).search(query);
 * }
 *
 * Index old = index.getAndSet(Index.open(newer));
 * rcu.call(old::close);                     // later, on a worker; or:
 * rcu.synchronize(); old.close();           // wait here
 * }</pre>
 *
 * <h2>Flavours</h2>
 *
 * One interface, one algorithm (see {@link GracePeriod}, {@code docs/ordering.md}), and a choice of
 * who pays for ordering:
 *
 * <ul>
 *   <li>{@link Flavour#MEMBARRIER}, the default: readers run no fence at all, updaters run the
 *       kernel's process-wide barrier. Where there is none it is fenced.
 *   <li>{@link Flavour#FENCED}: readers run a full fence, updaters none; portable.
 *   <li>{@link Flavour#QSBR}: fenced, meant for event loops that go {@link Reader#online()} and
 *       announce quiescent states; their sections cost a load and a branch. (Online readers work in
 *       the other flavours too.)
 *   <li>{@link Flavour#SLEEPABLE}: per-CPU counts for every thread.
 * </ul>
 *
 * Virtual threads use the sleepable counts in every flavour, because their sections may be
 * unmounted and mounted elsewhere. {@link #read()} does the right thing for the thread that calls.
 *
 * <h2>Domains</h2>
 *
 * A grace period waits for the readers of its own domain only. {@link #shared()} is right for most;
 * make a domain of your own where sections are long (scans, I/O), so that they hold up nobody
 * else's memory. A domain has records for its threads, a worker thread once it has callbacks, and
 * gauges.
 *
 * <p>All methods are safe from any thread. {@link #read()} is wait-free once the thread has read
 * before; {@link #call} is wait-free but for waking a sleeping worker.
 */
public final class Rcu extends RcuAfter implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("io.quiesce.rcu");
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);
  private static final Duration LONGEST_LIMIT = Duration.ofDays(36_500);

  /** Marks a section counted under generation 0; that of generation 1 is one less. */
  private static final long COUNTED = -2;

  /** Who pays for ordering; see {@link Rcu}. */
  public enum Flavour {
    /** No fence in readers; process-wide barrier in updaters. */
    MEMBARRIER,
    /** A full fence in readers; portable. */
    FENCED,
    /** Event loops that announce quiescent states; other readers fenced. */
    QSBR,
    /** Per-CPU counts for every thread. */
    SLEEPABLE
  }

  /** Made at first use; what it refuses it says at each use, never as a class that failed. */
  private static final class Shared {
    static final @Nullable Rcu DOMAIN;
    static final @Nullable RuntimeException REFUSED;

    static {
      Rcu domain = null;
      RuntimeException refused = null;
      try {
        domain = new Rcu(new RcuBuilder("shared"), true);
      } catch (RuntimeException e) {
        refused = e;
      }
      DOMAIN = domain;
      REFUSED = refused;
    }
  }

  private final String name;
  private final Flavour flavour;
  private final boolean fenced;
  private final boolean shared;
  private final ReaderRegistry registry;
  private final SleepableCounts counts;
  private final GracePeriod gracePeriod;
  private final Callbacks callbacks;
  private final StallReport stalls;
  private final @Nullable VirtualTracker tracker =
      VirtualTracker.ENABLED ? new VirtualTracker() : null;

  /** By thread id; see {@link ReaderRegistry}. Replaced whole, elements racy by design. */
  private Reader[] cache;

  /**
   * Counted sections whose closing overflowed the stack. Racy by design: whoever adds one can make
   * no call any more, so that of two at the same instant one may be missed.
   */
  volatile @Nullable Section lost;

  private volatile boolean countsUsed;
  private volatile boolean closed;

  Rcu(RcuBuilder builder, boolean shared) {
    Platform.verify();
    this.name = builder.name();
    this.flavour = builder.chosenFlavour();
    this.shared = shared;
    this.fenced = flavour == Flavour.FENCED || flavour == Flavour.QSBR || !Platform.membarrier();
    this.stalls = new StallReport(this, builder.chosenStallLimit(), builder.chosenStallListener());
    this.registry = new ReaderRegistry(this, fenced);
    this.cache = registry.newCache();
    this.counts = new SleepableCounts(fenced);
    this.gracePeriod = new GracePeriod(this, registry, counts, fenced, stalls);
    this.callbacks = new Callbacks(this, builder.chosenWorker());
    VarHandle.fullFence(); // a domain may be handed over by a data race
    if (Facilities.isJmxWanted()) {
      JmxBeans.register(this);
    }
  }

  /**
   * The domain of the process. It is never closed.
   *
   * @return always the same domain
   * @throws IllegalStateException under {@code -Dquiesce.native=require} where native access is
   *     refused
   * @throws IllegalArgumentException if {@code -Dquiesce.rcu.flavour} names no flavour
   */
  public static Rcu shared() {
    Rcu domain = Shared.DOMAIN;
    if (domain == null) {
      throw Objects.requireNonNull(Shared.REFUSED);
    }
    return domain;
  }

  /**
   * Makes a domain of the default flavour.
   *
   * @param name how it is called in reports, thread names and JMX
   * @return a new domain
   */
  public static Rcu create(String name) {
    return builder(name).build();
  }

  /**
   * Begins to make a domain.
   *
   * @param name how it is called in reports, thread names and JMX
   * @return a builder
   */
  public static RcuBuilder builder(String name) {
    return new RcuBuilder(name);
  }

  // ---- readers ----

  /**
   * Begins a read-side critical section of the calling thread, of whatever kind it is. Close it on
   * the same thread; sections nest. Never waits.
   *
   * @return the open section
   */
  public Section read() {
    Thread thread = Thread.currentThread();
    long id = thread.threadId();
    Reader[] slots = cache;
    Reader reader = slots[(int) id & (slots.length - 1)];
    long saved;
    if (reader.key == id) {
      saved = reader.ctr;
      if (saved == 0) {
        Reader.CTR.setOpaque(reader, counter()); // A.1, as in Reader.enter
      }
    } else if (reader.key == ~id) {
      saved = reader.enter();
    } else if (isCounted(thread)) {
      reader = registry.nobody();
      saved = enterCounted();
    } else {
      reader = registry.findOrRegister(thread);
      saved = reader.enter();
    }
    Section section;
    try {
      section = new Section(this, reader, saved);
    } catch (VirtualMachineError overflow) {
      if (saved == 0) {
        reader.ctr = 0; // no token, no section
      } else if (saved < 0) {
        counts.exit((int) (COUNTED - saved));
      }
      throw overflow;
    }
    if (VirtualTracker.ENABLED && saved < 0) {
      Objects.requireNonNull(tracker).opened(section);
    }
    return section;
  }

  private boolean isCounted(Thread thread) {
    return flavour == Flavour.SLEEPABLE || thread.isVirtual();
  }

  private long enterCounted() {
    if (!countsUsed) {
      countsUsed = true;
      // A.5: a grace period that saw the flag down has its stores seen by this section.
      VarHandle.fullFence();
    }
    return COUNTED - counts.enter();
  }

  void exitCounted(Section section, long saved) {
    if (VirtualTracker.ENABLED) {
      Objects.requireNonNull(tracker).closed(section);
    }
    counts.exit((int) (COUNTED - saved));
  }

  /** By the leader of the grace period: ends the sections that nobody will close. */
  void closeLostSections() {
    Section section = lost;
    if (section != null) {
      lost = null;
      while (section != null) {
        section = section.closeLost();
      }
    }
  }

  /**
   * The record of the calling platform thread, for reading without the look-up and for event loops.
   *
   * @return always the same for the same thread
   * @throws UnsupportedOperationException on a virtual thread: it has none, use {@link #read()}
   */
  public Reader reader() {
    Thread thread = Thread.currentThread();
    if (thread.isVirtual()) {
      throw new UnsupportedOperationException(
          "a virtual thread has no reader record; use read(), which is right for any thread");
    }
    return registry.findOrRegister(thread);
  }

  @Nullable Reader findReader() {
    return registry.find(Thread.currentThread());
  }

  /**
   * Whether the calling thread is inside a section of this domain, or online. Virtual threads (and
   * all threads of a sleepable domain) are known only under {@code
   * -Dquiesce.rcu.trackVirtual=true}; without it this says false for them.
   *
   * @return true if it certainly is
   */
  public boolean isReading() {
    Reader reader = findReader();
    if (reader != null && reader.ctr != 0) {
      return true;
    }
    return tracker != null && tracker.holds(Thread.currentThread());
  }

  /** As {@link #isReading()}, and true as well where that cannot be known. */
  boolean mayBeReading() {
    return (tracker == null && isCounted(Thread.currentThread())) || isReading();
  }

  /**
   * Makes a reference that readers of this domain follow.
   *
   * @param initial its first value
   * @param <T> the type of the value
   * @return a new reference
   */
  public <T> RcuRef<T> ref(T initial) {
    return new RcuRef<>(this, initial);
  }

  // ---- grace periods ----

  /**
   * Waits until every section that is open now is closed. What the caller stored before is seen by
   * every section that begins after the return (G.1); what those older sections did is done before
   * it (G.2). Callers that wait together share grace periods. An interrupt neither ends the wait
   * nor is lost.
   *
   * <p>An online reader that calls this announces a quiescent state. In update algorithms prefer
   * {@link #call}.
   *
   * @throws IllegalStateException inside a section of this domain, which would wait for itself. On
   *     virtual threads that is known only under {@code -Dquiesce.rcu.trackVirtual=true}; without
   *     it the wait does not end, and the stall report says so
   */
  public void synchronize() {
    awaitGracePeriod(gracePeriod.snapshot(), false);
  }

  /**
   * As {@link #synchronize()}, in a hurry: whoever waits for readers looks more often.
   *
   * @throws IllegalStateException inside a section of this domain
   */
  public void synchronizeExpedited() {
    awaitGracePeriod(gracePeriod.snapshot(), true);
  }

  /**
   * Makes sure that a grace period begins after this call, without waiting for it.
   *
   * @return a cookie for {@link #isElapsed} and {@link #awaitGracePeriod(long)}
   */
  public long startGracePeriod() {
    long cookie = gracePeriod.snapshot();
    enqueue(new Callback.Wrapper(() -> {}));
    return cookie;
  }

  /**
   * Whether the grace period of a cookie has ended. If so, everything that {@link #synchronize()}
   * promises holds. Cookies never expire.
   *
   * @param cookie what {@link #startGracePeriod()} of this domain returned
   * @return true once a full grace period has passed since
   */
  public boolean isElapsed(long cookie) {
    return gracePeriod.isElapsed(cookie);
  }

  /**
   * Waits until {@link #isElapsed} is true.
   *
   * @param cookie what {@link #startGracePeriod()} of this domain returned
   * @throws IllegalStateException inside a section of this domain
   */
  public void awaitGracePeriod(long cookie) {
    awaitGracePeriod(cookie, false);
  }

  private void awaitGracePeriod(long cookie, boolean expedited) {
    Reader online = goOffline();
    try {
      checkNotReading("waiting for a grace period");
      gracePeriod.await(cookie, expedited);
    } finally {
      backOnline(online);
    }
  }

  /** Takes the caller offline, if it is online, while it waits; for {@link #backOnline}. */
  @Nullable Reader goOffline() {
    Reader reader = findReader();
    if (reader == null || !reader.online) {
      return null;
    }
    reader.offline();
    return reader;
  }

  static void backOnline(@Nullable Reader reader) {
    if (reader != null) {
      reader.online();
    }
  }

  /** Throws inside a section: what follows would wait for the caller. */
  void checkNotReading(String what) {
    if (isReading()) {
      throw new IllegalStateException(
          what
              + " inside a read section of domain "
              + name
              + " would wait for itself; close the section first, or use call()");
    }
  }

  // ---- deferred work ----

  /**
   * Runs work on a callback worker after a grace period. In the order of queueing per worker. What
   * it throws is logged and harms no other callback. The work may queue more; it must not block for
   * long, since others wait behind it. Callbacks still queued when the JVM exits do not run.
   *
   * @param work what to do
   * @throws IllegalStateException if the domain is closed
   */
  public void call(Runnable work) {
    call(
        work instanceof Callback callback
            ? callback
            : new Callback.Wrapper(Objects.requireNonNull(work, "work")));
  }

  /**
   * As {@link #call(Runnable)} for work that carries its own link; allocates nothing.
   *
   * @param work what to do; not queued anywhere now
   * @throws IllegalStateException if the domain is closed
   */
  public void call(Callback work) {
    if (closed) {
      checkOpen();
    }
    callbacks.current().enqueueOrWait(work);
  }

  /** Queues whatever the state of the domain, and never blocks: for what must not be lost. */
  void enqueue(Callback work) {
    enqueue(callbacks.current(), work);
  }

  void enqueue(CallbackWorker worker, Callback work) {
    worker.enqueue(work);
    if (closed) {
      worker.stop(); // it was started anew for this; it runs it and ends
    }
  }

  /** A limit in nanoseconds, cut at what the clock can add. */
  static long nanos(Duration limit) {
    return limit.compareTo(LONGEST_LIMIT) > 0 ? LONGEST_LIMIT.toNanos() : limit.toNanos();
  }

  /**
   * Hands an off-heap block to its reclaimer after a grace period. Allocates nothing in the long
   * run and never waits, so it is safe inside a section.
   *
   * @param reclaimer who frees it
   * @param address where the block begins
   * @param bytes its size, at least 0
   * @throws IllegalStateException if the domain is closed
   */
  public void retire(Reclaimer reclaimer, long address, long bytes) {
    Objects.requireNonNull(reclaimer, "reclaimer");
    if (bytes < 0) {
      throw new IllegalArgumentException("a block of " + bytes + " bytes");
    }
    if (closed) {
      checkOpen();
    }
    callbacks.current().retired().add(reclaimer, address, bytes);
  }

  /**
   * Waits until every callback and retired block that any thread had handed over before has run.
   * Hurries the workers. What callbacks queue in turn needs another call. An interrupt neither ends
   * the wait nor is lost.
   *
   * @throws IllegalStateException inside a section of this domain, or from a callback
   */
  public void barrier() {
    checkMayWaitForCallbacks("barrier()");
    Reader online = goOffline();
    try {
      awaitUninterruptibly(callbacks.startBarrier());
    } finally {
      backOnline(online);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  void checkMayWaitForCallbacks(String what) {
    if (callbacks.isWorker()) {
      throw new IllegalStateException(
          what + " in a callback of domain " + name + " would wait for itself");
    }
    Reader reader = findReader();
    if (reader == null || !reader.online) {
      checkNotReading(what);
    }
  }

  /**
   * The callback workers.
   *
   * @return always the same object
   */
  public Callbacks callbacks() {
    return callbacks;
  }

  // ---- the rest ----

  /**
   * The name.
   *
   * @return the name it was made with
   */
  public String name() {
    return name;
  }

  /**
   * The flavour it was made with; whether its readers run a fence is {@link #isFenced()}.
   *
   * @return the flavour
   */
  public Flavour flavour() {
    return flavour;
  }

  /**
   * Whether readers run a full fence, by choice or because there is no process-wide barrier.
   *
   * @return true if they do
   */
  public boolean isFenced() {
    return fenced;
  }

  /**
   * The gauges.
   *
   * @return a glimpse of now
   */
  public RcuStatistics statistics() {
    long pending = 0;
    long blocks = 0;
    long bytes = 0;
    long oldest = 0;
    for (CallbackWorker worker : callbacks.workers()) {
      pending += worker.pending();
      blocks += worker.retired().pendingBlocks();
      bytes += worker.retired().pendingBytes();
      oldest = Math.max(oldest, worker.oldestNanos());
    }
    return new RcuStatistics(
        gracePeriod.completed(),
        registry.size(),
        counts.open(),
        pending,
        blocks,
        bytes,
        Duration.ofNanos(oldest),
        stalls.count(),
        callbacks.workers().size());
  }

  /**
   * Closes the domain: refuses new callbacks, runs all that are queued, ends the workers; waits at
   * most 30 s, then logs what is left, which goes on running. Reading stays possible.
   *
   * @throws UnsupportedOperationException on the shared domain
   * @throws IllegalStateException inside a section of this domain, or from a callback
   */
  @Override
  public void close() {
    try {
      close(CLOSE_LIMIT);
    } catch (TimeoutException late) {
      LOG.log(Level.WARNING, late.getMessage());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * As {@link #close()}, with a limit of one's own. Closing again waits again.
   *
   * @param limit how long to wait
   * @throws TimeoutException if callbacks are left at the limit; they go on running
   * @throws InterruptedException if interrupted; callbacks go on running
   * @throws UnsupportedOperationException on the shared domain
   * @throws IllegalStateException inside a section of this domain, or from a callback
   */
  public void close(Duration limit) throws InterruptedException, TimeoutException {
    if (shared) {
      throw new UnsupportedOperationException(
          "the shared domain serves the whole process and is never closed; use barrier()");
    }
    checkMayWaitForCallbacks("close()");
    closed = true;
    Reader online = goOffline();
    try {
      callbacks.shutDown(limit);
    } finally {
      backOnline(online);
    }
    if (Facilities.isJmxWanted()) {
      JmxBeans.unregister(this);
    }
  }

  boolean isClosed() {
    return closed;
  }

  void checkOpen() {
    if (closed && !callbacks.isWorker()) {
      throw new IllegalStateException("domain " + name + " is closed");
    }
  }

  /** Who is reading now, in words: for time-outs. */
  String describeReaders() {
    return stalls.describeReaders(registry.roster(), counts);
  }

  long counter() {
    return (long) COUNTER.getOpaque(this); // A.1
  }

  /** By the leader of the grace period: readers that come from now on are new. */
  long advanceCounter() {
    long next = counter + 1;
    COUNTER.setVolatile(this, next);
    return next;
  }

  boolean countsUsed() {
    return countsUsed;
  }

  Reader[] cache() {
    return cache;
  }

  void setCache(Reader[] next) {
    VarHandle.releaseFence(); // its elements are seen by whoever sees the array
    cache = next;
  }

  GracePeriod gracePeriod() {
    return gracePeriod;
  }

  ReaderRegistry registry() {
    return registry;
  }

  @Nullable VirtualTracker tracker() {
    return tracker;
  }

  @Override
  public String toString() {
    return "Rcu[" + name + ", " + flavour + (fenced ? ", fenced" : "") + "]";
  }
}
