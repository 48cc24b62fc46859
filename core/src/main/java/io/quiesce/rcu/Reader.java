package io.quiesce.rcu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/** The fields of a reader record, between two paddings. */
abstract class ReaderFields extends Padding {
  /**
   * Zero while quiescent, else the value of {@link Rcu}'s grace-period counter that the owner saw
   * when it left quiescence. Stored by the owner only, read by whoever waits.
   */
  long ctr;

  /**
   * The owner's thread id, which the JVM never uses twice; its complement where the owner runs a
   * full fence (A.3), so that one compare in {@link Rcu#read()} decides both; 0 in the record that
   * nobody owns.
   */
  final long key;

  /** Between {@link Reader#online()} and {@link Reader#offline()}. The owner's alone. */
  boolean online;

  /** A section's closing overflowed the stack; this store is the release that it owes. */
  volatile boolean overflowed;

  /** The worker that the owner chose for its callbacks. The owner's alone. */
  @Nullable CallbackWorker worker;

  final Rcu rcu;
  final @Nullable WeakReference<Thread> owner;

  ReaderFields(Rcu rcu, long ownerId, boolean fenced, @Nullable Thread owner) {
    this.rcu = rcu;
    this.key = fenced ? ~ownerId : ownerId;
    this.owner = owner == null ? null : new WeakReference<>(owner);
  }
}

/**
 * One platform thread's record in one {@link Rcu} domain: the explicit form of reading, which saves
 * the look-up, and the form for event loops, which costs nothing at all.
 *
 * <pre>{@code
 * Reader reader = rcu.reader();          // once per thread
 * try (Section s = reader.read()) { ... }
 *
 * reader.online();                       // an event loop (quiescent-state-based reading)
 * while (running) {
 *   handle(next());                      // reader.read() inside costs one load and one branch
 *   reader.quiescentState();             // nothing read before is used after this
 * }
 * reader.offline();
 * }</pre>
 *
 * <p>Only the thread that got it may use a reader, except where a method says otherwise; {@link
 * #read()} does not check that. A thread that ends need do nothing: its record is dropped.
 *
 * <p>Source: userspace RCU's memb and qsbr flavours (Desnoyers, McKenney, Stern, Dagenais, Walpole,
 * "User-level implementations of read-copy update", IEEE TPDS 2012).
 */
public final class Reader extends ReaderFields {
  static final VarHandle CTR;

  static {
    try {
      CTR = MethodHandles.lookup().findVarHandle(ReaderFields.class, "ctr", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  long q00, q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, q11, q12, q13, q14, q15;

  Reader(Rcu rcu, long ownerId, boolean fenced, @Nullable Thread owner) {
    super(rcu, ownerId, fenced, owner);
  }

  /**
   * Begins a read-side critical section of the calling thread, which must be the owner. Sections
   * nest. Wait-free.
   *
   * @return the open section
   */
  public Section read() {
    long saved = enter();
    try {
      return new Section(rcu, this, saved);
    } catch (VirtualMachineError overflow) {
      if (saved == 0) {
        ctr = 0; // no token, no section
      }
      throw overflow;
    }
  }

  long ownerId() {
    return key < 0 ? ~key : key;
  }

  /** Returns what the section must restore: zero if it is the outermost. */
  long enter() {
    long saved = ctr;
    if (saved == 0) {
      // A.1: opaque, so that the compiler keeps store and later loads in this order. That the CPU
      // may let the loads pass the store is made good by the updater's barrier, or by the fence.
      try {
        CTR.setOpaque(this, rcu.counter());
        if (key < 0) {
          VarHandle.fullFence(); // A.3: pairs with the full fence at the head of the grace period
        }
      } catch (VirtualMachineError overflow) {
        ctr = 0; // nothing was read, and nobody will close
        throw overflow;
      }
    }
    return saved;
  }

  /** Ends an outermost section. */
  void exit() {
    CTR.setRelease(this, 0L); // A.2: pairs with the acquire in the scan
  }

  /**
   * Makes the calling thread, which must be the owner, an online reader: from here to {@link
   * #offline()} everything it does counts as one section that {@link #quiescentState()} renews. An
   * online thread that neither announces nor goes offline holds up every grace period.
   *
   * @throws IllegalStateException inside a section, or if it is online already
   */
  public void online() {
    if (ctr != 0) {
      throw new IllegalStateException(
          online
              ? "this reader is online already"
              : "a reader goes online outside its read sections; close them first");
    }
    enter();
    online = true;
  }

  /**
   * Says that the calling thread, online, holds no reference that it read under this domain before.
   * Must not be called while a section that was opened before going online is in use. Costs a load
   * and a compare when no grace period has begun since the last call.
   *
   * @throws IllegalStateException if the reader is not online
   */
  public void quiescentState() {
    if (!online) {
      throw new IllegalStateException("only an online reader announces quiescent states");
    }
    long now = rcu.counter();
    if (now != ctr) {
      if (key < 0) {
        // A.4: what was read before is done before the new value shows, and nothing that follows
        // is read before it does.
        CTR.setRelease(this, now);
        VarHandle.fullFence();
      } else {
        // A.4: through zero, so that a waiter needs no barrier of ours: it is an exit and an entry.
        CTR.setRelease(this, 0L);
        CTR.setOpaque(this, rcu.counter());
      }
    }
  }

  /**
   * Ends being online, for instance before blocking. Sections opened later are ordinary ones.
   *
   * @throws IllegalStateException if the reader is not online
   */
  public void offline() {
    if (!online) {
      throw new IllegalStateException("this reader is not online");
    }
    online = false;
    exit();
  }

  /**
   * Whether the owner is inside a section or online; from another thread a racy glimpse.
   *
   * @return true if a grace period that began now would wait for this reader
   */
  public boolean isActive() {
    return (long) CTR.getOpaque(this) != 0;
  }

  /** Throws unless the owner is inside a section or online. */
  void check() {
    if (ctr == 0) {
      throw new IllegalStateException(
          "this reader is neither online nor inside a section; nothing protects what it reads");
    }
  }

  /** Whether a grace period that moved the counter to {@code target} must still wait. */
  boolean blocks(long target) {
    long seen = (long) CTR.getAcquire(this); // A.2
    return seen != 0 && seen < target;
  }

  /** The owner, or null when it was collected or this record has none. */
  @Nullable Thread ownerThread() {
    WeakReference<Thread> reference = owner;
    return reference == null ? null : reference.get();
  }

  boolean ownerIsGone() {
    Thread thread = ownerThread();
    return thread == null || !thread.isAlive();
  }

  @Override
  public String toString() {
    Thread thread = ownerThread();
    return "Reader[" + (thread == null ? "thread " + ownerId() + ", gone" : thread.getName()) + "]";
  }
}
