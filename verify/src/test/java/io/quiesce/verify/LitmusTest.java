package io.quiesce.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.linux.Membarrier;
import io.quiesce.percpu.WaitFreeQueue;
import io.quiesce.rcu.WakeWords;
import io.quiesce.verify.StoreBufferingLitmus.Counts;
import io.quiesce.verify.StressTest.Skip;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The loops that jcstress is too quick or too small for. */
class LitmusTest {
  private static final int TIMES = Integer.getInteger("quiesce.verify.long", 1);
  private static final int TRIES = 10;

  @Test
  void storeBufferingNeedsTheBarrierAndIsForbiddenByIt() throws InterruptedException {
    Skip.unless(Membarrier.isAvailable(), "no process-wide barrier here");
    Skip.unless(Runtime.getRuntime().availableProcessors() >= 2, "the litmus needs two CPUs");
    Counts without = StoreBufferingLitmus.run(false, 1_000L * TIMES);
    for (int i = 0; i < TRIES && without.neither() == 0; i++) {
      without = StoreBufferingLitmus.run(false, 2_000);
    }
    Counts with = StoreBufferingLitmus.run(true, 3_000L * TIMES);
    System.out.println("store buffering: without barrier " + without + ", with " + with);
    assertThat(with.neither()).isZero();
    assertThat(with.trials()).isGreaterThan(1_000);
    assertThat(without.neither()).as("the twin shows that the test can fail").isPositive();
  }

  private static final class Item extends WaitFreeQueue.Node {}

  /** The kernel's word, which one state a trial cannot have: it is never freed. */
  @Test
  @Timeout(60)
  void aWorkerThatSleepsInTheKernelMissesNoWakeUp() throws InterruptedException {
    missesNoWakeUp(WakeWords.futex());
  }

  @Test
  @Timeout(60)
  void aWorkerThatParksMissesNoWakeUp() throws InterruptedException {
    missesNoWakeUp(WakeWords.park());
  }

  /** One producer that waits for each item to be taken: a lost wake-up hangs both. */
  private static void missesNoWakeUp(WakeWords word) throws InterruptedException {
    WaitFreeQueue queue = new WaitFreeQueue();
    int items = 20_000 * TIMES;
    Thread worker =
        Thread.ofPlatform()
            .daemon(true)
            .start(
                () -> {
                  for (int taken = 0; taken < items; ) {
                    if (queue.dequeueBlocking() != null) {
                      taken++;
                      continue;
                    }
                    word.lower();
                    if (queue.isEmpty()) {
                      word.sleep();
                    } else {
                      word.raise();
                    }
                  }
                });
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < items; i++) {
      queue.enqueue(new Item());
      word.wake();
      int pauses = random.nextInt(200);
      for (int p = 0; p < pauses; p++) {
        Thread.onSpinWait();
      }
      for (int looks = 0; (i & 1) == 0 && !queue.isEmpty(); looks++) {
        assertThat(looks).as("looks at an item that nobody takes").isLessThan(50_000_000);
        Thread.onSpinWait();
      }
    }
    assertThat(worker.join(Duration.ofSeconds(20))).as("every item was taken").isTrue();
  }
}
