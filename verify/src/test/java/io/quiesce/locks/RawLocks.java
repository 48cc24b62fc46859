package io.quiesce.locks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Opens the locks' package-private halves to jcstress and Lincheck, without the owner: so that one
 * may be held from a constructor on and released elsewhere. Beside them the broken twins.
 */
public final class RawLocks {
  private static final int SPINS = 4;

  private RawLocks() {}

  /** A lock with nobody's name on it. */
  public interface Raw {
    /** Waits for it. */
    void lock();

    /** Gives it up. */
    void unlock();
  }

  /** A lock of the library, without the owner. */
  public static final class Healthy implements Raw {
    private final ExclusiveLock lock;

    private Healthy(ExclusiveLock lock) {
      this.lock = lock;
    }

    @Override
    public void lock() {
      if (!lock.tryAcquire()) {
        lock.acquire(Thread.currentThread(), false, ExclusiveLock.FOREVER);
      }
    }

    @Override
    public void unlock() {
      lock.release();
    }

    /**
     * Takes it if it is free.
     *
     * @return whether it was
     */
    public boolean tryLock() {
      return lock.tryAcquire();
    }

    /**
     * Queues and waits for a while.
     *
     * @param nanos how long
     * @return whether it came
     */
    public boolean queueFor(long nanos) {
      return lock.acquire(Thread.currentThread(), false, nanos) == ExclusiveLock.Outcome.ACQUIRED;
    }
  }

  /** The library's. */
  public static Healthy spin() {
    return new Healthy(new SpinLock("raw"));
  }

  /** The library's. */
  public static Healthy ticket() {
    return new Healthy(new TicketLock("raw"));
  }

  /** The library's. */
  public static Healthy clh() {
    return new Healthy(new ClhLock("raw"));
  }

  /** The library's. */
  public static Healthy mcs() {
    return new Healthy(new McsLock("raw"));
  }

  /** The library's. */
  public static Healthy nodeless() {
    return new Healthy(new NodelessMcsLock("raw"));
  }

  /** A place of the twins. */
  private static final class Place {
    private volatile boolean go;
    private volatile @Nullable Place next;
  }

  private static final VarHandle WORD;
  private static final VarHandle TAIL;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      WORD = lookup.findVarHandle(Twin.class, "word", int.class);
      TAIL = lookup.findVarHandle(Twin.class, "tail", Place.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** What the twins have in common. */
  private abstract static class Twin implements Raw {
    volatile int word;
    volatile int served;
    volatile @Nullable Place tail;
    Place held = new Place();

    /** Between two steps that ought to be one. */
    static void pause() {
      for (int i = 0; i < SPINS; i++) {
        Thread.onSpinWait();
      }
    }
  }

  /** A spin lock whose acquisition is a look and a store: no order between two that take it. */
  public static Raw spinTwin() {
    return new Twin() {
      @Override
      public void lock() {
        while ((int) WORD.getOpaque(this) != 0) {
          Thread.onSpinWait();
        }
        pause();
        WORD.setOpaque(this, 1);
      }

      @Override
      public void unlock() {
        WORD.setRelease(this, 0);
      }
    };
  }

  /** A ticket lock whose tickets are drawn by a load and a store: two get the same. */
  public static Raw ticketTwin() {
    return new Twin() {
      @Override
      public void lock() {
        int ticket = (int) WORD.getOpaque(this);
        pause();
        WORD.setOpaque(this, ticket + 1);
        for (int i = 0; served - ticket < 0 && i < 1_000; i++) {
          Thread.onSpinWait();
        }
      }

      @Override
      public void unlock() {
        served++;
      }
    };
  }

  /** A CLH lock whose tail is exchanged by a load and a store: two wait for the same place. */
  public static Raw clhTwin() {
    return new Twin() {
      @Override
      public void lock() {
        Place place = new Place();
        Place before = (Place) TAIL.getOpaque(this);
        pause();
        TAIL.setOpaque(this, place);
        for (int i = 0; before != null && !before.go && i < 1_000; i++) {
          Thread.onSpinWait();
        }
        held = place;
      }

      @Override
      public void unlock() {
        held.go = true;
      }
    };
  }

  /** An MCS lock whose holder grants before it is done: the unlock's release is missing. */
  public static Raw mcsTwin() {
    return new Twin() {
      @Override
      public void lock() {
        Place place = new Place();
        Place before = (Place) TAIL.getAndSet(this, place);
        held = place;
        if (before != null) {
          before.next = place;
          pause(); // does not look whether it was granted: the acquire is missing
        }
      }

      @Override
      public void unlock() {
        Place next = held.next;
        if (next != null) {
          next.go = true;
        }
      }
    };
  }

  /** A nodeless lock whose head takes the word by a store, beside the newcomers. */
  public static Raw nodelessTwin() {
    return new Twin() {
      @Override
      public void lock() {
        if (WORD.compareAndSet(this, 0, 1)) {
          return;
        }
        TAIL.getAndSet(this, new Place()); // the head, for nobody else queues
        pause();
        WORD.setVolatile(this, 1); // does not look whether the word is free
      }

      @Override
      public void unlock() {
        WORD.setRelease(this, 0);
      }
    };
  }
}
