package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ShutdownTest {
  @Test
  void closeRunsEverythingAndWhatThatQueuesInTurn() throws Exception {
    Rcu rcu = Rcu.create("closing");
    AtomicInteger levels = new AtomicInteger();
    AtomicInteger bytes = new AtomicInteger();
    rcu.call(
        new Callback() {
          @Override
          public void run() {
            rcu.retire((address, size) -> bytes.getAndAdd((int) size), 64, 1);
            if (levels.incrementAndGet() < 50) {
              rcu.call(this);
            }
          }
        });
    CallbackWorker other = rcu.callbacks().newWorker("other", WorkerOptions.defaults());
    rcu.callbacks().pause(); // closing resumes
    rcu.close(Duration.ofSeconds(30));
    assertThat(levels).hasValue(50);
    assertThat(bytes).hasValue(50);
    assertThat(rcu.callbacks().workers()).isEmpty();
    assertThat(other.thread().isAlive()).isFalse();
    assertThat(rcu.statistics().pendingBlocks()).isZero();
  }

  @Test
  void onlyTheTimeBoundsHowLongCallbacksThatQueueCallbacksAreFollowed() throws Exception {
    Rcu rcu = Rcu.create("endless");
    AtomicBoolean enough = new AtomicBoolean();
    rcu.call(
        new Callback() {
          @Override
          public void run() {
            if (!enough.get()) {
              rcu.call(this);
            }
          }
        });
    long began = System.nanoTime();
    Duration limit = Duration.ofSeconds(2);
    assertThatThrownBy(() -> rcu.close(limit)).isInstanceOf(TimeoutException.class);
    assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(limit.toNanos());
    enough.set(true);
    rcu.close(Duration.ofSeconds(30));
  }

  @Test
  void afterCloseNothingIsTakenAndReadingGoesOn() {
    Rcu rcu = Rcu.create("closed");
    RcuRef<String> ref = rcu.ref("value");
    rcu.call(() -> {});
    rcu.close();
    rcu.close();
    List<Runnable> refused =
        List.of(
            () -> rcu.call(() -> {}),
            () -> rcu.retire((address, bytes) -> {}, 64, 64),
            () -> rcu.callbacks().newWorker("late", WorkerOptions.defaults()),
            () -> rcu.callbacks().createPerCpuWorkers(WorkerOptions.defaults()));
    for (Runnable call : refused) {
      assertThatThrownBy(call::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("domain closed is closed");
    }
    try (Section s = rcu.read()) {
      assertThat(ref.get(s)).isEqualTo("value");
    }
    rcu.synchronize();
  }

  @Test
  void aStuckCallbackTimesOutWithNumbers() throws Exception {
    Rcu rcu = Rcu.create("stuck");
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    AtomicInteger ran = new AtomicInteger();
    rcu.call(
        () -> {
          running.countDown();
          Waiting.forLatch(release);
        });
    running.await();
    rcu.call(ran::getAndIncrement);
    rcu.retire((address, bytes) -> ran.getAndIncrement(), 64, 64);
    assertThatThrownBy(() -> rcu.close(Duration.ofMillis(50)))
        .isInstanceOf(TimeoutException.class)
        // the one that runs, the one behind it, and close's own marker
        .hasMessageContaining("domain stuck still has 3 callbacks and 1 blocks");
    Thread closer = Thread.ofPlatform().unstarted(rcu::close);
    closer.start();
    closer.interrupt();
    Waiting.join(closer);
    release.countDown();
    rcu.close(Duration.ofSeconds(30));
    assertThat(ran).hasValue(2);
  }

  @Test
  void anOnlineReaderMayClose() throws Exception {
    Rcu rcu = Rcu.create("online");
    AtomicInteger ran = new AtomicInteger();
    Reader reader = rcu.reader();
    reader.online();
    rcu.call(ran::getAndIncrement);
    rcu.close(Duration.ofSeconds(30));
    assertThat(ran).hasValue(1);
    assertThat(reader.isActive()).as("online again").isTrue();
    reader.offline();
  }

  @Test
  void theSharedDomainIsNeverClosed() {
    assertThat(Rcu.shared()).isSameAs(Rcu.shared());
    assertThatThrownBy(Rcu.shared()::close)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("use barrier()");
  }

  @Test
  void callsThatRaceWithCloseRunOrAreRefused() throws Exception {
    for (int round = 0; round < 30; round++) {
      Rcu rcu = Rcu.create("racing");
      AtomicInteger taken = new AtomicInteger();
      AtomicInteger ran = new AtomicInteger();
      CountDownLatch begun = new CountDownLatch(1);
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      while (true) {
                        rcu.call(ran::getAndIncrement);
                        taken.getAndIncrement();
                        begun.countDown();
                      }
                    } catch (IllegalStateException closed) {
                      assertThat(closed).hasMessageContaining("is closed");
                    }
                  });
      begun.await();
      rcu.close(Duration.ofSeconds(30));
      Waiting.join(caller);
      Waiting.until("all that was taken ran", () -> ran.get() == taken.get());
    }
  }
}
