package io.quiesce.rcu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Owns something that must be closed (a native handle, a mapped file, a context) and lets readers
 * use it without lock or reference count: it is closed for real only when nobody uses it any more.
 *
 * <pre>{@code
 * Guarded<Env> env = Guarded.of(Env.open(path), Env::close);
 *
 * try (var g = env.read()) {      // a few nanoseconds, any thread
 *   g.get().find(key);            // cannot be closed under our feet
 * }
 * env.replace(Env.open(other));   // readers go over to the new one, the old one is closed later
 * env.closeAndWait(Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>Using it after {@link #close()} throws {@link IllegalStateException}. What escapes its section
 * cannot be watched: a raw address or a reference kept in a field is no longer protected when the
 * access is closed.
 *
 * <p>All methods are safe from any thread. Values are closed on a callback worker of the domain,
 * one at a time; a closer that blocks for long holds up the callbacks behind it.
 *
 * @param <T> the type of what is guarded
 */
public final class Guarded<T> implements AutoCloseable {
  private static final VarHandle VALUE;

  static {
    try {
      VALUE = MethodHandles.lookup().findVarHandle(Guarded.class, "value", Object.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /**
   * How a value is closed.
   *
   * @param <T> the type of the value
   */
  @FunctionalInterface
  public interface Closer<T> {
    /**
     * Closes the value. Runs once, on a callback worker, when no reader uses the value.
     *
     * @param value what {@link Guarded} owned
     * @throws Exception is logged, and fails {@link Guarded#closed()}
     */
    void close(T value) throws Exception;
  }

  private final Rcu rcu;
  private final Closer<? super T> closer;

  /** Values that are owned or not closed yet; zero is final. */
  private final AtomicLong alive = new AtomicLong(1);

  /** Null once closed. */
  private @Nullable T value;

  private volatile @Nullable CompletableFuture<@Nullable Void> whenClosed;
  private volatile @Nullable Throwable failure;

  private Guarded(Rcu rcu, T value, Closer<? super T> closer) {
    this.rcu = Objects.requireNonNull(rcu, "rcu");
    this.closer = Objects.requireNonNull(closer, "closer");
    this.value = Objects.requireNonNull(value, "value");
    VarHandle.releaseFence();
  }

  /**
   * Guards a value in the shared domain.
   *
   * @param value what to own
   * @param closer how to close it
   * @param <T> the type of the value
   * @return its guard
   */
  public static <T> Guarded<T> of(T value, Closer<? super T> closer) {
    return new Guarded<>(Rcu.shared(), value, closer);
  }

  /**
   * Guards a value in a domain of one's own: right where reads are long.
   *
   * @param rcu the domain
   * @param value what to own
   * @param closer how to close it
   * @param <T> the type of the value
   * @return its guard
   */
  public static <T> Guarded<T> of(Rcu rcu, T value, Closer<? super T> closer) {
    return new Guarded<>(rcu, value, closer);
  }

  /**
   * The right to use a value until it is closed; see {@link Guarded#read()}.
   *
   * @param <T> the type of the value
   */
  public static final class Access<T> implements AutoCloseable {
    private final Section section;
    private final T value;

    Access(Section section, T value) {
      this.section = section;
      this.value = value;
    }

    /**
     * The value.
     *
     * @return always the same
     * @throws IllegalStateException if this access was closed
     */
    public T get() {
      if (!section.isOpen()) {
        throw new IllegalStateException(
            "this access is closed; call read() and use it inside its try block");
      }
      return value;
    }

    /** Ends the use. */
    @Override
    public void close() {
      section.close();
    }
  }

  /**
   * Begins to use the current value. Close the access on the same thread, innermost first.
   *
   * @return the access, which is also a read section of the domain
   * @throws IllegalStateException if this guard is closed
   */
  @SuppressWarnings("unchecked")
  public Access<T> read() {
    Section section = rcu.read();
    T current = (T) VALUE.getAcquire(this); // B.1
    if (current == null) {
      section.close();
      throw closedException();
    }
    try {
      return new Access<>(section, current);
    } catch (VirtualMachineError nobodyToClose) {
      section.close();
      throw nobodyToClose;
    }
  }

  private static IllegalStateException closedException() {
    return new IllegalStateException("this Guarded is closed; its value may not be used any more");
  }

  /**
   * Replaces the value: readers that come from now on get the new one, and the old one is closed
   * when no reader uses it. Never waits.
   *
   * @param next the new value
   * @throws IllegalStateException if this guard is closed; the new value stays the caller's
   * @throws IllegalArgumentException if it is the value that is guarded now
   */
  public void replace(T next) {
    Objects.requireNonNull(next, "next");
    CallbackWorker worker = rcu.callbacks().current(); // may start a thread: before any change
    alive.getAndIncrement();
    Release old = null;
    try {
      old = exchange(next);
    } finally {
      if (old == null) {
        finished(null); // closed, or out of memory: the new value is not ours
      }
    }
    if (old == null) {
      throw closedException();
    }
    rcu.enqueue(worker, old);
  }

  /** Publishes a value, or null to close; returns what releases the old one, null if closed. */
  private @Nullable Release exchange(@Nullable T next) {
    while (true) {
      @SuppressWarnings("unchecked")
      @Nullable T current = (T) VALUE.getVolatile(this);
      if (current == null) {
        return null;
      }
      if (current == next) {
        throw new IllegalArgumentException(
            "this value is guarded already; replacing it by itself would close it while in use");
      }
      Release release = new Release(current); // before the exchange: no memory, no change
      if (VALUE.compareAndSet(this, current, next)) {
        return release;
      }
    }
  }

  /**
   * Closes the guard: readers that come from now on get an exception; the value is closed when no
   * reader uses it. Never waits, and may be called inside a section. Closing twice does nothing.
   */
  @Override
  public void close() {
    if (isClosed()) {
      return;
    }
    CallbackWorker worker = rcu.callbacks().current(); // may start a thread: before any change
    Release last = exchange(null);
    if (last != null) {
      rcu.enqueue(worker, last);
    }
  }

  /**
   * Closes the guard and waits until every value it ever owned is closed for real. Hurries.
   *
   * @param limit how long to wait at most
   * @throws TimeoutException at the limit, naming the readers that it waits for; the value will
   *     still be closed when they are done
   * @throws InterruptedException if interrupted; likewise
   * @throws ExecutionException if a closer threw
   * @throws IllegalStateException inside a section of this domain or from a callback, which would
   *     wait for itself; the guard is not closed then
   */
  public void closeAndWait(Duration limit)
      throws TimeoutException, InterruptedException, ExecutionException {
    rcu.checkMayWaitForCallbacks("closeAndWait()");
    close();
    Reader online = rcu.goOffline();
    try {
      CompletableFuture<@Nullable Void> done = whenClosed();
      rcu.callbacks().hurry();
      done.get(Rcu.nanos(limit), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new TimeoutException(
          "not closed after " + limit + "; still in use by " + rcu.describeReaders());
    } finally {
      Rcu.backOnline(online);
    }
  }

  /**
   * Completes when this guard was closed and every value that it ever owned is closed for real;
   * exceptionally if a closer threw. Dependent actions may run on a callback worker: keep them
   * short.
   *
   * @return always the same stage
   */
  public CompletionStage<@Nullable Void> closed() {
    return whenClosed().minimalCompletionStage();
  }

  /**
   * Whether {@link #close()} was called; the value may still be in use.
   *
   * @return true once closed
   */
  public boolean isClosed() {
    return VALUE.getVolatile(this) == null;
  }

  private CompletableFuture<@Nullable Void> whenClosed() {
    CompletableFuture<@Nullable Void> future = whenClosed;
    if (future == null) {
      synchronized (this) {
        future = whenClosed;
        if (future == null) {
          future = new CompletableFuture<>();
          whenClosed = future; // volatile; either we see zero below or finished() sees the future
        }
      }
      if (alive.get() == 0) {
        complete(future);
      }
    }
    return future;
  }

  private void finished(@Nullable Throwable thrown) {
    if (thrown != null) {
      failure = thrown;
    }
    if (alive.decrementAndGet() == 0) {
      CompletableFuture<@Nullable Void> future = whenClosed;
      if (future != null) {
        complete(future);
      }
    }
  }

  private void complete(CompletableFuture<@Nullable Void> future) {
    Throwable thrown = failure;
    if (thrown == null) {
      future.complete(null);
    } else {
      future.completeExceptionally(thrown);
    }
  }

  /** Closes one value after its grace period. */
  private final class Release extends Callback {
    private final T old;

    Release(T old) {
      this.old = old;
    }

    @Override
    public void run() {
      Throwable thrown = null;
      try {
        closer.close(old);
      } catch (Throwable any) {
        thrown = any;
        CallbackWorker.logFailure("closer of a guarded value", any);
      }
      finished(thrown);
    }
  }

  @Override
  public String toString() {
    // Not the value's own words: it may be closed while it says them.
    return isClosed() ? "Guarded[closed]" : "Guarded[open]";
  }
}
