package io.quiesce.bench.subjects;

import io.quiesce.rcu.Guarded;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.Reader;
import io.quiesce.rcu.Section;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.HdrHistogram.WriterReaderPhaser;

/**
 * The ways of reading, written as a user would write them.
 *
 * <p>What readers follow is a field of its own type, read with acquire, where C has a typed pointer
 * and {@code rcu_dereference}. An {@link RcuRef} does more than that: it checks the section and
 * casts what it returns. That price has subjects of its own, marked {@code -ref}.
 */
final class ReadLoops {
  private ReadLoops() {}

  /** The domain as a constant, which is how programs have theirs. */
  private static final class Shared {
    static final Rcu RCU = Rcu.create("read");
  }

  /** The reference that readers follow. */
  private static final class Published {
    private static final VarHandle ITEM;

    static {
      try {
        ITEM = MethodHandles.lookup().findVarHandle(Published.class, "item", Item.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    @SuppressWarnings("UnusedVariable") // through ITEM
    private Item item = new Item(1);

    Item get() {
      return (Item) ITEM.getAcquire(this);
    }
  }

  static ReadLoop.Factory of(String reader) {
    return switch (reader) {
      case "implicit", "virtual" -> implicitShared();
      case "implicit-ref" -> implicitRef();
      case "sleepable" -> implicit(domain(Rcu.Flavour.SLEEPABLE));
      case "fenced" -> implicit(domain(Rcu.Flavour.FENCED));
      case "explicit" -> explicit(Rcu.create("read"));
      case "qsbr" -> qsbr(domain(Rcu.Flavour.QSBR));
      case "qsbr-ref" -> qsbrRef(domain(Rcu.Flavour.QSBR));
      case "guarded" -> guarded();
      case "bare" -> bare(new Published());
      case "rwlock" -> readWriteLock();
      case "stamped-read" -> stampedRead();
      case "stamped-optimistic" -> stampedOptimistic();
      case "refcount" -> referenceCount();
      case "phaser" -> phaser();
      default -> throw new IllegalArgumentException("no reader is called '" + reader + "'");
    };
  }

  private static Rcu domain(Rcu.Flavour flavour) {
    return Rcu.builder("read").flavour(flavour).build();
  }

  private static ReadLoop.Factory implicitShared() {
    Published shared = new Published();
    return () ->
        () -> {
          Published followed = shared;
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            try (Section _ = Shared.RCU.read()) {
              sum += followed.get().value;
            }
          }
          return sum;
        };
  }

  static ReadLoop.Factory implicit(Rcu rcu) {
    Published shared = new Published();
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            try (Section _ = rcu.read()) {
              sum += shared.get().value;
            }
          }
          return sum;
        };
  }

  private static ReadLoop.Factory implicitRef() {
    RcuRef<Item> ref = Shared.RCU.ref(new Item(1));
    return () ->
        () -> {
          RcuRef<Item> followed = ref;
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            try (Section section = Shared.RCU.read()) {
              sum += followed.get(section).value;
            }
          }
          return sum;
        };
  }

  private static ReadLoop.Factory explicit(Rcu rcu) {
    Published shared = new Published();
    return () -> {
      Reader reader = rcu.reader();
      return () -> {
        Reader mine = reader;
        Published followed = shared;
        long sum = 0;
        for (int i = 0; i < Team.BATCH; i++) {
          try (Section _ = mine.read()) {
            sum += followed.get().value;
          }
        }
        return sum;
      };
    };
  }

  static ReadLoop.Factory qsbr(Rcu rcu) {
    Published shared = new Published();
    return () -> new Qsbr(rcu.reader(), shared);
  }

  private static ReadLoop.Factory qsbrRef(Rcu rcu) {
    RcuRef<Item> ref = rcu.ref(new Item(1));
    return () -> new QsbrRef(rcu.reader(), ref);
  }

  /**
   * An event loop: online for the whole round, quiescent after each batch, like the native peer.
   */
  private interface Online extends ReadLoop {
    Reader reader();

    @Override
    default void begin() {
      reader().online();
    }

    @Override
    default void betweenBatches() {
      reader().quiescentState();
    }

    @Override
    default void end() {
      reader().offline();
    }
  }

  /** Sections of an online reader are nothing, as in liburcu's qsbr; so there are none. */
  private record Qsbr(Reader reader, Published shared) implements Online {
    @Override
    public long batch() {
      Published followed = shared; // a local, as any compiler of C would have it
      long sum = 0;
      for (int i = 0; i < Team.BATCH; i++) {
        sum += followed.get().value;
      }
      return sum;
    }
  }

  private record QsbrRef(Reader reader, RcuRef<Item> ref) implements Online {
    @Override
    public long batch() {
      Reader mine = reader;
      RcuRef<Item> followed = ref;
      long sum = 0;
      for (int i = 0; i < Team.BATCH; i++) {
        sum += followed.get(mine).value;
      }
      return sum;
    }
  }

  private static ReadLoop.Factory guarded() {
    Guarded<Item> guarded = Guarded.of(Rcu.create("read"), new Item(1), item -> {});
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            try (Guarded.Access<Item> access = guarded.read()) {
              sum += access.get().value;
            }
          }
          return sum;
        };
  }

  /** No section: the floor that no reader can beat. */
  private static ReadLoop.Factory bare(Published shared) {
    return () ->
        () -> {
          Published followed = shared;
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            sum += followed.get().value;
          }
          return sum;
        };
  }

  /** A field that the lock guards. */
  private static final class Locked {
    Item item = new Item(1);
  }

  private static ReadLoop.Factory readWriteLock() {
    Locked data = new Locked();
    ReentrantReadWriteLock.ReadLock lock = new ReentrantReadWriteLock().readLock();
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            lock.lock();
            try {
              sum += data.item.value;
            } finally {
              lock.unlock();
            }
          }
          return sum;
        };
  }

  private static ReadLoop.Factory stampedRead() {
    Locked data = new Locked();
    StampedLock lock = new StampedLock();
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            long stamp = lock.readLock();
            try {
              sum += data.item.value;
            } finally {
              lock.unlockRead(stamp);
            }
          }
          return sum;
        };
  }

  /** Cannot protect anything that is freed: it tells afterwards. Here for its cost. */
  private static ReadLoop.Factory stampedOptimistic() {
    Locked data = new Locked();
    StampedLock lock = new StampedLock();
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            long stamp = lock.tryOptimisticRead();
            long value = data.item.value;
            if (!lock.validate(stamp)) {
              stamp = lock.readLock();
              try {
                value = data.item.value;
              } finally {
                lock.unlockRead(stamp);
              }
            }
            sum += value;
          }
          return sum;
        };
  }

  private static ReadLoop.Factory referenceCount() {
    Locked data = new Locked();
    AtomicLong count = new AtomicLong(1);
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            if (count.getAndIncrement() <= 0) {
              throw new IllegalStateException("closed");
            }
            try {
              sum += data.item.value;
            } finally {
              release(count);
            }
          }
          return sum;
        };
  }

  private static void release(AtomicLong count) {
    if (count.decrementAndGet() == 0) {
      throw new IllegalStateException("nobody closes it here");
    }
  }

  /** Its "writers" are those who never wait, as our readers are. */
  private static ReadLoop.Factory phaser() {
    Locked data = new Locked();
    WriterReaderPhaser phaser = new WriterReaderPhaser();
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            long epoch = phaser.writerCriticalSectionEnter();
            try {
              sum += data.item.value;
            } finally {
              phaser.writerCriticalSectionExit(epoch);
            }
          }
          return sum;
        };
  }
}
