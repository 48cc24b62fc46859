package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who reads under which record, when threads are many, short-lived, or share a slot. */
@Timeout(120)
class ReaderRegistryTest {
  /** Fault 16: DPDK mis-registered ids above a power of two, and its unregister did nothing. */
  @Test
  void fiveThousandReadersAtOnceAndThenNone() throws Exception {
    int readers = 5_000;
    Rcu rcu = Rcu.create("fault-16");
    CountDownLatch inside = new CountDownLatch(readers);
    CountDownLatch leave = new CountDownLatch(1);
    AtomicInteger wrong = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < readers; i++) {
      threads.add(
          Thread.ofPlatform()
              .stackSize(64 << 10)
              .start(
                  () -> {
                    try (Section s = rcu.read()) {
                      inside.countDown();
                      Waiting.forLatch(leave);
                      if (!s.isOpen() || !rcu.isReading()) {
                        wrong.getAndIncrement();
                      }
                    }
                  }));
    }
    inside.await();
    assertThat(rcu.statistics().registeredReaders()).isEqualTo(readers);
    AtomicBoolean done = new AtomicBoolean();
    Thread updater =
        Thread.ofPlatform()
            .start(
                () -> {
                  rcu.synchronize();
                  done.set(true);
                });
    updater.join(50);
    assertThat(done).as("waits for all of them").isFalse();
    leave.countDown();
    for (Thread thread : threads) {
      Waiting.join(thread);
    }
    Waiting.join(updater);
    assertThat(wrong).hasValue(0);
    for (int i = 0; i < 256; i++) {
      rcu.synchronize(); // one in so many drops the records of ended threads
    }
    assertThat(rcu.statistics().registeredReaders()).isZero();
    assertThat(rcu.registry().roster().slots).hasSizeLessThan(100);
    rcu.synchronize();
  }

  @Test
  void shortLivedThreadsDoNotGrowTheRoster() throws Exception {
    Rcu rcu = Rcu.create("short-lived");
    rcu.read().close();
    int most = 0;
    for (int i = 0; i < 10_000; i += 20) {
      List<Thread> some = new ArrayList<>();
      for (int t = 0; t < 20; t++) {
        some.add(Thread.ofPlatform().stackSize(64 << 10).start(() -> rcu.read().close()));
      }
      for (Thread thread : some) {
        thread.join();
      }
      most = Math.max(most, rcu.statistics().registeredReaders());
    }
    assertThat(most).as("twice what was alive, and a little").isLessThan(100);
    assertThat(rcu.cache().length).isLessThanOrEqualTo(4_096);
    assertThat(rcu.reader()).isSameAs(rcu.reader());
  }

  /** A thread that reads on command, so that several can be made to share a slot. */
  private static final class Stepper {
    private final Rcu rcu;
    private final CountDownLatch read = new CountDownLatch(1);
    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch leave = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch out = new CountDownLatch(1);
    private final AtomicInteger records = new AtomicInteger();
    final Thread thread;

    Stepper(Rcu rcu) {
      this.rcu = rcu;
      thread = Thread.ofPlatform().daemon().unstarted(this::run);
    }

    private void run() {
      Waiting.forLatch(read);
      Reader mine = rcu.reader();
      for (int i = 0; i < 1_000; i++) {
        try (Section s = rcu.read()) {
          assertThat(s.isOpen()).isTrue();
          records.set(mine.isActive() && rcu.reader() == mine ? 1 : 2);
        }
      }
      try (Section s = rcu.read()) {
        assertThat(s.isOpen()).isTrue();
        inside.countDown();
        Waiting.forLatch(leave);
      }
      records.set(mine.isActive() ? 3 : records.get());
      out.countDown();
      Waiting.forLatch(end);
    }

    void enter() {
      read.countDown();
      Waiting.forLatch(inside);
    }

    void leave() {
      leave.countDown();
      Waiting.forLatch(out);
    }

    void finish() throws InterruptedException {
      end.countDown();
      Waiting.join(thread);
    }
  }

  /** Three steppers whose ids are the same modulo the length, none started. */
  private static List<Stepper> colliding(Rcu rcu, int modulo) {
    List<Stepper> found = new ArrayList<>();
    Stepper first = new Stepper(rcu);
    found.add(first);
    while (found.size() < 3) {
      Stepper next = new Stepper(rcu); // ids are given at creation, one after another
      if ((next.thread.threadId() - first.thread.threadId()) % modulo == 0) {
        found.add(next);
      }
    }
    return found;
  }

  @Test
  void threadsWhoseIdsShareASlotEachKeepOneRecord() throws Exception {
    Rcu rcu = Rcu.create("colliding");
    int modulo = rcu.cache().length * 1_024; // further apart than the cache will grow for three
    List<Stepper> steppers = colliding(rcu, modulo);
    for (Stepper stepper : steppers) {
      stepper.thread.start();
      stepper.enter();
    }
    assertThat(rcu.statistics().registeredReaders()).isEqualTo(3);
    AtomicInteger passed = new AtomicInteger();
    Thread updater =
        Thread.ofPlatform()
            .start(
                () -> {
                  rcu.synchronize();
                  passed.getAndIncrement();
                });
    for (Stepper stepper : steppers) {
      updater.join(20);
      assertThat(passed).hasValue(0);
      stepper.leave();
    }
    Waiting.join(updater);
    for (Stepper stepper : steppers) {
      stepper.finish();
      assertThat(stepper.records).hasValue(1);
    }
    assertThat(rcu.statistics().registeredReaders()).isLessThanOrEqualTo(3);
  }

  @Test
  void theCacheGrowsWhenLiveThreadsShareASlot() throws Exception {
    Rcu rcu = Rcu.create("growing");
    int before = rcu.cache().length;
    List<Stepper> steppers = colliding(rcu, before);
    for (Stepper stepper : steppers) {
      stepper.thread.start();
      stepper.enter();
    }
    assertThat(rcu.cache().length).isGreaterThan(before);
    for (Stepper stepper : steppers) {
      stepper.leave();
      stepper.finish();
      assertThat(stepper.records).hasValue(1);
    }
    rcu.synchronize();
  }

  @Test
  void aRecordDoesNotKeepItsThread() throws Exception {
    Rcu rcu = Rcu.create("weak");
    Thread ended = Thread.ofPlatform().start(() -> rcu.read().close());
    ended.join();
    assertThat(rcu.statistics().registeredReaders()).isEqualTo(1);
    assertThat(rcu.registry().find(ended)).isNotNull();
    rcu.registry().dropDead();
    assertThat(rcu.registry().find(ended)).isNull();
    assertThat(rcu.statistics().registeredReaders()).isZero();
  }
}
