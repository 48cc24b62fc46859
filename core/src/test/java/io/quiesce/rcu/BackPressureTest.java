package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Back-pressure blocks who can afford it, and nobody else. */
@Timeout(120)
class BackPressureTest {
  private static Rcu rcu(Rcu.Flavour flavour, long blockAbove) {
    return Rcu.builder("pressed")
        .flavour(flavour)
        .defaultWorker(WorkerOptions.defaults().blockAbove(blockAbove))
        .build();
  }

  /** Makes the worker stand in a callback until the latch is counted down. */
  private static CountDownLatch stick(Rcu rcu) throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    rcu.call(
        () -> {
          running.countDown();
          Waiting.forLatch(release);
        });
    running.await();
    return release;
  }

  @Test
  void aCallerOutsideASectionIsBlockedUntilHalfHasRun() throws Exception {
    try (Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER, 100)) {
      AtomicInteger queued = new AtomicInteger();
      CountDownLatch release = stick(rcu);
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < 1_000; i++) {
                      rcu.call(() -> {});
                      queued.getAndIncrement();
                    }
                  });
      Waiting.until("about to block", () -> queued.get() >= 99);
      Thread.sleep(50);
      assertThat(queued.get()).as("queued before it blocked").isBetween(99, 101);
      release.countDown();
      Waiting.join(caller);
      assertThat(queued).hasValue(1_000);
    }
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void aCallerInsideASectionIsNeverBlocked(Rcu.Flavour flavour) throws Exception {
    try (Rcu rcu = rcu(flavour, 10)) {
      AtomicInteger ran = new AtomicInteger();
      Runnable insideASection =
          () -> {
            try (Section s = rcu.read()) {
              assertThat(s.isOpen()).isTrue();
              for (int i = 0; i < 1_000; i++) {
                rcu.call(ran::getAndIncrement); // the worker waits for this very section
              }
            }
          };
      Thread platform = Thread.ofPlatform().start(insideASection);
      Waiting.join(platform);
      Thread virtual = Thread.ofVirtual().start(insideASection);
      Waiting.join(virtual);
      rcu.barrier();
      assertThat(ran).hasValue(2_000);
    }
  }

  @Test
  void aCallbackIsNeverBlocked() {
    try (Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER, 10)) {
      AtomicInteger ran = new AtomicInteger();
      rcu.call(
          () -> {
            for (int i = 0; i < 1_000; i++) {
              rcu.call(ran::getAndIncrement);
            }
          });
      rcu.barrier();
      rcu.barrier();
      assertThat(ran).hasValue(1_000);
    }
  }

  @Test
  void whatSaysThatItNeverWaitsIsNotBlocked() throws Exception {
    AtomicLong bytes = new AtomicLong();
    AtomicInteger closed = new AtomicInteger();
    try (Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER, 1)) {
      CountDownLatch release = stick(rcu);
      for (int i = 0; i < 20_000; i++) {
        rcu.retire((address, size) -> bytes.getAndAdd(size), 64L * i, 64);
      }
      Guarded<Integer> guarded = Guarded.of(rcu, 0, value -> closed.getAndIncrement());
      for (int i = 1; i < 100; i++) {
        guarded.replace(i);
        rcu.startGracePeriod();
      }
      guarded.close();
      release.countDown();
    }
    assertThat(bytes).hasValue(20_000 * 64);
    assertThat(closed).hasValue(100);
  }

  @Test
  void aPausedWorkerBlocksNobody() throws Exception {
    try (Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER, 10)) {
      AtomicInteger ran = new AtomicInteger();
      rcu.callbacks().pause();
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < 100; i++) {
                      rcu.call(ran::getAndIncrement);
                    }
                  });
      Waiting.join(caller);
      assertThat(ran).hasValue(0);
      rcu.callbacks().resume();
      rcu.barrier();
      assertThat(ran).hasValue(100);
    }
  }

  /**
   * liburcu's qsbr: a full queue waited for a grace period that waited for the very same thread.
   */
  @Test
  void anOnlineReaderThatFillsTheQueueDoesNotDeadlock() {
    try (Rcu rcu = rcu(Rcu.Flavour.QSBR, 1_000)) {
      AtomicLong ran = new AtomicLong();
      Runnable count = ran::getAndIncrement;
      Reclaimer reclaimer = (address, bytes) -> ran.getAndIncrement();
      Reader reader = rcu.reader();
      reader.online();
      for (int i = 0; i < 500_000; i++) {
        rcu.call(count);
        rcu.retire(reclaimer, 64, 64);
      }
      rcu.barrier();
      assertThat(ran).hasValue(1_000_000);
      assertThat(reader.isActive()).isTrue();
      reader.offline();
    }
  }
}
