package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Platform;
import io.quiesce.percpu.WaitFreeQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The wake-up protocol step by step, and what its first version did. */
@Timeout(60)
class WakeWordTest {
  private static final class Item extends WaitFreeQueue.Node {}

  private static WakeWord word(WakeUp how) {
    if (how == WakeUp.FUTEX) {
      assumeTrue(Platform.futex() && OffHeap.isAvailable(), "no futex here");
    }
    return WakeWord.create(how, 1_000_000);
  }

  /** The patch of 2011 as first posted: the waiter never announces itself, then really waits. */
  private static final class NeverAnnounces extends WakeWord.ParkWord {
    @Override
    void lower() {}

    @Override
    void sleep() {
      LockSupport.park(this);
    }
  }

  /** The same with a waiter that does look at the word: it finds 0 and does not wait at all. */
  private static final class NeverSleeps extends WakeWord.ParkWord {
    @Override
    void lower() {}
  }

  /**
   * The interleaving that the protocol is for: the producer comes between the worker's last look
   * and its sleep. Returns whether the worker finds the item.
   */
  private static boolean findsWhatCameBetweenLookAndSleep(WakeWord word) throws Exception {
    WaitFreeQueue queue = new WaitFreeQueue();
    CountDownLatch looked = new CountDownLatch(1);
    CountDownLatch queued = new CountDownLatch(1);
    Thread worker =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  word.lower();
                  if (queue.isEmpty()) {
                    looked.countDown();
                    Waiting.forLatch(queued);
                    word.sleep();
                  }
                });
    looked.await();
    queue.enqueue(new Item());
    word.wake();
    queued.countDown();
    worker.join(500);
    boolean found = !worker.isAlive();
    while (worker.isAlive()) {
      LockSupport.unpark(worker);
      worker.join(1);
    }
    return found;
  }

  @ParameterizedTest
  @EnumSource(WakeUp.class)
  void aWakeUpBetweenTheLastLookAndTheSleepIsNotLost(WakeUp how) throws Exception {
    assertThat(findsWhatCameBetweenLookAndSleep(word(how))).isTrue();
  }

  @Test
  void theTwinThatNeverStoresMinusOneLosesIt() throws Exception {
    assertThat(findsWhatCameBetweenLookAndSleep(new NeverAnnounces())).isFalse();
  }

  /** Whether a thread that follows the protocol with nothing to do comes to rest. */
  private static boolean comesToRest(Supplier<WakeWord> words) throws Exception {
    WakeWord word = words.get();
    long[] returns = new long[1];
    CountDownLatch stop = new CountDownLatch(1);
    Thread worker =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (stop.getCount() > 0 && returns[0] < 10_000) {
                    word.lower();
                    word.sleep();
                    returns[0]++;
                  }
                });
    worker.join(300);
    boolean rests = worker.isAlive();
    stop.countDown();
    word.wake();
    Waiting.join(worker);
    return rests && returns[0] <= 1;
  }

  @ParameterizedTest
  @EnumSource(names = {"FUTEX", "PARK", "MONITOR"})
  void aWorkerWithNothingToDoSleeps(WakeUp how) throws Exception {
    assertThat(comesToRest(() -> word(how))).isTrue();
  }

  @Test
  void theTwinThatNeverStoresMinusOneNeverSleeps() throws Exception {
    assertThat(comesToRest(NeverSleeps::new)).isFalse();
  }

  @ParameterizedTest
  @EnumSource(names = {"FUTEX", "PARK", "MONITOR"})
  void theWordIsZeroOrMinusOneAndNothingElse(WakeUp how) {
    WakeWord word = word(how);
    assertThat(word.word()).isEqualTo(WakeWord.AWAKE);
    for (int i = 0; i < 3; i++) {
      word.lower();
      assertThat(word.word()).isEqualTo(WakeWord.ASLEEP);
      word.raise();
      assertThat(word.word()).isEqualTo(WakeWord.AWAKE);
      word.lower();
      word.wake();
      word.wake();
      assertThat(word.word()).isEqualTo(WakeWord.AWAKE);
      word.sleep(); // returns at once
    }
  }

  /** Fault 4: a spurious wake-up drove liburcu's word below -1, and its waiter span for ever. */
  @ParameterizedTest
  @EnumSource(names = {"FUTEX", "PARK", "MONITOR"})
  void spuriousWakeUpsLeaveTheWordAndTheSleepAlone(WakeUp how) throws Exception {
    WakeWord word = word(how);
    Thread worker =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  word.lower();
                  word.sleep();
                });
    Waiting.until("asleep", () -> word.word() == WakeWord.ASLEEP);
    for (int i = 0; i < 300; i++) {
      LockSupport.unpark(worker);
      worker.interrupt();
      assertThat(word.word()).isEqualTo(WakeWord.ASLEEP);
    }
    assertThat(worker.isAlive()).isTrue();
    assertThat(Waiting.load(worker, 200)).isLessThan(0.3);
    word.wake();
    Waiting.join(worker);
    assertThat(word.word()).isEqualTo(WakeWord.AWAKE);
  }
}
