package io.quiesce.locks;

import java.io.Serial;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * First come, first served with two counters: take a ticket, wait until it is served.
 *
 * <p>Locking is one compare-and-set of the next ticket; unlocking one release store of the ticket
 * served. All waiters look at the same word, so each hand-over costs every one of them a cache
 * miss, and a ticket cannot be given back: the timed and interruptible forms take a ticket only
 * when it would be served at once, and so are not fair. A waiter looks with longer and longer
 * pauses, then gives the CPU away, then sleeps for some microseconds. For few threads on CPUs of
 * their own; else {@link McsLock} for fairness. Space: 40 bytes.
 *
 * <p>Source: Mellor-Crummey and Scott, 1991; Reed and Kanodia, 1979.
 */
public final class TicketLock extends ExclusiveLock {
  @Serial private static final long serialVersionUID = 1L;

  private static final int MOST_PAUSES = 512;

  private static final VarHandle NEXT;
  private static final VarHandle SERVED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      NEXT = lookup.findVarHandle(TicketLock.class, "next", int.class);
      SERVED = lookup.findVarHandle(TicketLock.class, "served", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private transient volatile int next;
  private transient volatile int served;

  /**
   * A free lock.
   *
   * @param name appears in reports
   */
  public TicketLock(String name) {
    this(name, null);
  }

  /**
   * A free lock with statistics.
   *
   * @param name appears in reports
   * @param statistics where to count; null for none
   */
  public TicketLock(String name, @Nullable LockStatistics statistics) {
    super(name, statistics);
  }

  @Override
  boolean tryAcquire() {
    int now = served;
    return next == now && NEXT.compareAndSet(this, now, now + 1);
  }

  @Override
  Outcome acquire(Thread current, boolean interruptible, long nanos) {
    if (interruptible) {
      return Backoff.until(this, this::tryAcquire, current, true, nanos, MOST_PAUSES);
    }
    Ticket ticket = new Ticket(); // before it is drawn: there may be no memory
    ticket.number = (int) NEXT.getAndAdd(this, 1);
    while (true) {
      try {
        return Backoff.until(this, ticket, current, false, nanos, MOST_PAUSES);
      } catch (OutOfMemoryError | StackOverflowError unpaused) {
        // A ticket cannot be given back: it must be waited for, if without the pauses.
        if (served == ticket.number) {
          return Outcome.ACQUIRED;
        }
      }
    }
  }

  /** What one waiter looks at. */
  private final class Ticket implements BooleanSupplier {
    private int number;

    @Override
    public boolean getAsBoolean() {
      return served == number; // acquire: L.1
    }
  }

  @Override
  void release() {
    SERVED.setRelease(this, served + 1); // L.1; the holder alone stores it
  }

  @Override
  public boolean isLocked() {
    return next != served;
  }
}
