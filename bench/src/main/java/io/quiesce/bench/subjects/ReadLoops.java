package io.quiesce.bench.subjects;

import io.quiesce.rcu.Guarded;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.Reader;
import io.quiesce.rcu.Section;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.HdrHistogram.WriterReaderPhaser;

/** The ways of reading, written as a user would write them. */
final class ReadLoops {
  private ReadLoops() {}

  static ReadLoop.Factory of(String reader) {
    return switch (reader) {
      case "implicit", "virtual" -> implicit(Rcu.create("read"));
      case "sleepable" -> implicit(domain(Rcu.Flavour.SLEEPABLE));
      case "fenced" -> implicit(domain(Rcu.Flavour.FENCED));
      case "explicit" -> explicit(Rcu.create("read"));
      case "qsbr" -> qsbr(domain(Rcu.Flavour.QSBR));
      case "guarded" -> guarded();
      case "bare" -> bare(Rcu.create("read").ref(new Item(1)));
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

  static ReadLoop.Factory implicit(Rcu rcu) {
    RcuRef<Item> ref = rcu.ref(new Item(1));
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            try (Section section = rcu.read()) {
              sum += ref.get(section).value;
            }
          }
          return sum;
        };
  }

  private static ReadLoop.Factory explicit(Rcu rcu) {
    RcuRef<Item> ref = rcu.ref(new Item(1));
    return () -> {
      Reader reader = rcu.reader();
      return () -> {
        long sum = 0;
        for (int i = 0; i < Team.BATCH; i++) {
          try (Section section = reader.read()) {
            sum += ref.get(section).value;
          }
        }
        return sum;
      };
    };
  }

  static ReadLoop.Factory qsbr(Rcu rcu) {
    RcuRef<Item> ref = rcu.ref(new Item(1));
    return () -> new Qsbr(rcu.reader(), ref);
  }

  /** Online for the whole round; a quiescent state after each batch, as in the native peer. */
  private record Qsbr(Reader reader, RcuRef<Item> ref) implements ReadLoop {
    @Override
    public void begin() {
      reader.online();
    }

    @Override
    public long batch() {
      long sum = 0;
      for (int i = 0; i < Team.BATCH; i++) {
        try (Section section = reader.read()) {
          sum += ref.get(section).value;
        }
      }
      return sum;
    }

    @Override
    public void betweenBatches() {
      reader.quiescentState();
    }

    @Override
    public void end() {
      reader.offline();
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
  private static ReadLoop.Factory bare(RcuRef<Item> ref) {
    return () ->
        () -> {
          long sum = 0;
          for (int i = 0; i < Team.BATCH; i++) {
            sum += ref.getAcquire().value;
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
