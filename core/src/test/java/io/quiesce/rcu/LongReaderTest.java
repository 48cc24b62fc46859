package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One section that stays open while others come and go. */
@Timeout(120)
class LongReaderTest {
  /** Threads that read for a moment again and again, until closed. */
  private static final class ShortReaders implements AutoCloseable {
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();

    ShortReaders(Rcu rcu, int platform, int virtual) {
      for (int t = 0; t < platform + virtual; t++) {
        Thread.Builder kind = t < platform ? Thread.ofPlatform() : Thread.ofVirtual();
        threads.add(
            kind.start(
                () -> {
                  while (!stop.get()) {
                    for (int i = 0; i < 100; i++) {
                      rcu.read().close();
                    }
                    Thread.yield();
                  }
                }));
      }
    }

    @Override
    public void close() {
      stop.set(true);
      try {
        for (Thread thread : threads) {
          Waiting.join(thread);
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Fault 12: slots wrapped round under one long reader and many writers (OpenSSL). */
  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void nothingRetiredUnderALongReaderIsReclaimedWhileItIsOpen(Rcu.Flavour flavour)
      throws Exception {
    int periods = 10_000;
    try (Rcu rcu =
        Rcu.builder("fault-12")
            .flavour(flavour)
            .defaultWorker(WorkerOptions.defaults().delay(Duration.ZERO))
            .build()) {
      AtomicInteger ran = new AtomicInteger();
      for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
        ran.set(0);
        for (int i = 0; i < 200; i++) {
          rcu.synchronize(); // so that the long reader does not begin at the first counter
        }
        Holder holder = new Holder(rcu, kind);
        try (ShortReaders some = new ShortReaders(rcu, 1, 1)) {
          long first = 0;
          for (int i = 0; i < periods; i++) {
            first = Math.max(first, rcu.startGracePeriod());
            rcu.call(ran::getAndIncrement);
            rcu.retire((address, bytes) -> ran.getAndIncrement(), 64, 64);
          }
          assertThat(some.threads).hasSize(2);
          Thread.sleep(20);
          assertThat(ran).hasValue(0);
          assertThat(rcu.isElapsed(first)).isFalse();
          holder.leave();
          rcu.barrier();
          assertThat(ran).hasValue(2 * periods);
          rcu.awaitGracePeriod(first);
        }
      }
    }
  }

  @Test
  void tenThousandGracePeriodsAndEveryCookieElapsesOnce() {
    try (Rcu rcu = Rcu.create("many")) {
      rcu.read().close();
      long before = rcu.statistics().gracePeriods();
      for (int i = 0; i < 10_000; i++) {
        long cookie = rcu.gracePeriod().snapshot();
        assertThat(rcu.isElapsed(cookie)).isFalse();
        rcu.synchronize();
        assertThat(rcu.isElapsed(cookie)).isTrue();
      }
      assertThat(rcu.statistics().gracePeriods() - before).isEqualTo(10_000);
    }
  }

  /**
   * Fault 6: an updater at 100 % CPU under one long reader, many short ones, constant callbacks.
   */
  @Test
  void waitingForALongReaderCostsLittleCpu() throws Exception {
    try (Rcu rcu = Rcu.create("fault-6")) {
      rcu.call(() -> {});
      rcu.barrier();
      Holder holder = new Holder(rcu, Thread.ofPlatform());
      Thread updater = Thread.ofPlatform().start(rcu::synchronize);
      AtomicBoolean stop = new AtomicBoolean();
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!stop.get()) {
                      rcu.call(() -> {});
                      java.util.concurrent.locks.LockSupport.parkNanos(100_000);
                    }
                  });
      try (ShortReaders some = new ShortReaders(rcu, 1, 1)) {
        assertThat(some.threads).hasSize(2);
        Thread.sleep(100);
        Thread worker = rcu.callbacks().defaultWorker().thread();
        assertThat(Waiting.load(worker, 400)).as("load of the worker").isLessThan(0.5);
        assertThat(Waiting.load(updater, 400)).as("load of the updater").isLessThan(0.5);
      }
      stop.set(true);
      Waiting.join(caller);
      holder.leave();
      Waiting.join(updater);
    }
  }
}
