package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class CallbacksTest {
  /** A delay that no test would survive sitting out. */
  private static final WorkerOptions LAZY = WorkerOptions.defaults().delay(Duration.ofHours(1));

  private static Rcu rcu(WorkerOptions options) {
    return Rcu.builder("test").defaultWorker(options).build();
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void runAfterAGracePeriodAndNotBefore(Rcu.Flavour flavour) throws Exception {
    try (Rcu rcu = Rcu.builder("test").flavour(flavour).build()) {
      for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
        AtomicBoolean ran = new AtomicBoolean();
        Holder holder = new Holder(rcu, kind);
        rcu.call(() -> ran.set(true));
        Thread.sleep(40);
        assertThat(ran).isFalse();
        Waiting.until("counted", () -> rcu.statistics().pendingCallbacks() == 1);
        assertThat(rcu.statistics().oldestPending()).isPositive();
        holder.leave();
        rcu.barrier();
        assertThat(ran).isTrue();
      }
    }
  }

  @Test
  void runInTheOrderOfQueueing() {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      List<Integer> order = Collections.synchronizedList(new ArrayList<>());
      for (int i = 0; i < 5_000; i++) {
        int number = i;
        rcu.call(() -> order.add(number));
      }
      rcu.barrier();
      assertThat(order).isEqualTo(IntStream.range(0, 5_000).boxed().toList());
    }
  }

  @Test
  void theDefaultWorkerStartsWithTheFirstCallback() {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      rcu.read().close();
      rcu.synchronize();
      rcu.barrier();
      assertThat(rcu.callbacks().workers()).isEmpty();
      AtomicReference<Thread> thread = new AtomicReference<>();
      rcu.call(() -> thread.set(Thread.currentThread()));
      rcu.barrier();
      assertThat(rcu.statistics().workers()).isEqualTo(1);
      CallbackWorker worker = rcu.callbacks().defaultWorker();
      assertThat(rcu.callbacks().current()).isSameAs(worker);
      assertThat(thread.get()).isSameAs(worker.thread());
      assertThat(worker.thread().isDaemon()).isTrue();
      assertThat(worker.thread().getName()).isEqualTo("quiesce-test-default");
    }
  }

  @ParameterizedTest
  @EnumSource(WakeUp.class)
  void everyWakeUpServesAWorkerThatSleeps(WakeUp wakeUp) throws Exception {
    try (Rcu rcu = rcu(WorkerOptions.defaults().wakeUp(wakeUp).delay(Duration.ZERO))) {
      for (int round = 0; round < 20; round++) {
        CountDownLatch ran = new CountDownLatch(2);
        rcu.call(ran::countDown);
        rcu.retire((address, bytes) -> ran.countDown(), 64, 64);
        Waiting.forLatch(ran); // no barrier, so nothing but the wake-up itself
        Thread.sleep(2);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(WakeUp.class)
  void aBarrierNeverSitsOutTheDelay(WakeUp wakeUp) {
    try (Rcu rcu = rcu(LAZY.wakeUp(wakeUp))) {
      AtomicInteger ran = new AtomicInteger();
      for (int round = 1; round <= 10; round++) {
        rcu.call(ran::getAndIncrement);
        rcu.barrier();
        assertThat(ran).hasValue(round);
      }
    }
  }

  @Test
  void anIdleBarrierIsFarBelowTheDelay() throws Exception {
    try (Rcu rcu = rcu(WorkerOptions.defaults().delay(Duration.ofSeconds(1)))) {
      long[] nanos = new long[31];
      rcu.call(() -> {});
      for (int i = 0; i < nanos.length; i++) {
        rcu.barrier();
        Thread.sleep(3);
        long begun = System.nanoTime();
        rcu.barrier();
        nanos[i] = System.nanoTime() - begun;
      }
      Arrays.sort(nanos);
      assertThat(Duration.ofNanos(nanos[nanos.length / 2])).isLessThan(Duration.ofMillis(8));
    }
  }

  @Test
  void anIdleWorkerServesItsFirstCallbackAtOnceAndDelaysTheNext() throws Exception {
    try (Rcu rcu = rcu(LAZY)) {
      CountDownLatch first = new CountDownLatch(1);
      rcu.call(first::countDown);
      Waiting.forLatch(first);
      AtomicBoolean second = new AtomicBoolean();
      rcu.call(() -> second.set(true));
      Thread.sleep(50);
      assertThat(second).isFalse();
      rcu.barrier();
      assertThat(second).isTrue();
    }
  }

  @Test
  void hurryAboveEndsTheDelay() throws Exception {
    try (Rcu rcu = rcu(LAZY.hurryAbove(100))) {
      CountDownLatch first = new CountDownLatch(1);
      rcu.call(first::countDown);
      Waiting.forLatch(first);
      Waiting.until("the first batch is over", () -> rcu.statistics().pendingCallbacks() == 0);
      AtomicInteger ran = new AtomicInteger();
      for (int i = 0; i < 90; i++) {
        rcu.call(ran::getAndIncrement);
      }
      Thread.sleep(50);
      assertThat(ran).hasValue(0);
      for (int i = 0; i < 20; i++) {
        rcu.call(ran::getAndIncrement);
      }
      Waiting.until("hurried", () -> ran.get() >= 100);
    }
  }

  @Test
  void whatACallbackThrowsHarmsNoOther() throws Exception {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      AtomicInteger ran = new AtomicInteger();
      rcu.call(
          () -> {
            throw new IllegalStateException("expected by CallbacksTest");
          });
      rcu.call(ran::getAndIncrement);
      rcu.call(
          () -> {
            throw new AssertionError("expected by CallbacksTest");
          });
      rcu.call(ran::getAndIncrement);
      rcu.call(() -> CallbacksTest.<RuntimeException>sneak(new Exception("expected")));
      rcu.call(() -> Thread.currentThread().interrupt());
      rcu.call(ran::getAndIncrement);
      rcu.barrier();
      rcu.call(ran::getAndIncrement);
      rcu.barrier();
      assertThat(ran).hasValue(4);
      Waiting.until("counted", () -> rcu.statistics().pendingCallbacks() == 0);
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> void sneak(Throwable thrown) throws E {
    throw (E) thrown;
  }

  @Test
  void callbacksThatQueueCallbacksNeedOneBarrierForEachLevel() {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      AtomicInteger level = new AtomicInteger();
      rcu.call(
          () -> {
            level.set(1);
            rcu.call(() -> level.set(2));
          });
      rcu.barrier();
      assertThat(level.get()).isPositive();
      rcu.barrier();
      assertThat(level).hasValue(2);
    }
  }

  @Test
  void anIntrusiveCallbackMayQueueItselfAgain() {
    try (Rcu rcu = rcu(WorkerOptions.defaults().delay(Duration.ZERO))) {
      CountDownLatch rounds = new CountDownLatch(100);
      rcu.call(
          new Callback() {
            @Override
            public void run() {
              rounds.countDown();
              if (rounds.getCount() > 0) {
                rcu.call(this);
              }
            }
          });
      Waiting.forLatch(rounds);
    }
  }

  @Test
  void aBarrierWaitsForWhatAnyThreadQueuedBefore() throws Exception {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      AtomicInteger ran = new AtomicInteger();
      for (int round = 1; round <= 10; round++) {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
          Thread.Builder kind = t % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
          threads.add(
              kind.start(
                  () -> {
                    for (int i = 0; i < 500; i++) {
                      rcu.call(ran::getAndIncrement);
                    }
                  }));
        }
        for (Thread thread : threads) {
          thread.join();
        }
        rcu.barrier();
        assertThat(ran).hasValue(2_000 * round);
      }
    }
  }

  @Test
  void waitingForCallbacksInACallbackThrows() {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
      List<Runnable> waits =
          List.of(rcu::barrier, rcu::close, rcu.callbacks()::pause, () -> closeAndWait(rcu));
      for (Runnable wait : waits) {
        rcu.call(
            () -> {
              try {
                wait.run();
              } catch (IllegalStateException e) {
                thrown.add(e);
              }
            });
      }
      rcu.barrier();
      assertThat(thrown)
          .hasSize(4)
          .allSatisfy(e -> assertThat(e).hasMessageContaining("in a callback of domain test"));
    }
  }

  private static void closeAndWait(Rcu rcu) {
    try {
      Guarded.of(rcu, "value", value -> {}).closeAndWait(Duration.ofSeconds(1));
    } catch (java.util.concurrent.TimeoutException
        | InterruptedException
        | java.util.concurrent.ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anInterruptDuringABarrierIsKept() throws Exception {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      Holder holder = new Holder(rcu, Thread.ofPlatform());
      rcu.call(() -> {});
      AtomicBoolean flag = new AtomicBoolean();
      Thread waiter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    rcu.barrier();
                    flag.set(Thread.interrupted());
                  });
      Thread.sleep(20);
      waiter.interrupt();
      waiter.join(30);
      assertThat(waiter.isAlive()).isTrue();
      holder.leave();
      Waiting.join(waiter);
      assertThat(flag).isTrue();
    }
  }

  @Test
  void pausedWorkersQueueAndRunNothing() throws Exception {
    try (Rcu rcu = rcu(WorkerOptions.defaults().delay(Duration.ZERO))) {
      AtomicInteger ran = new AtomicInteger();
      rcu.call(ran::getAndIncrement);
      rcu.barrier();
      rcu.callbacks().pause();
      for (int i = 0; i < 10; i++) {
        rcu.call(ran::getAndIncrement);
      }
      CallbackWorker late = rcu.callbacks().newWorker("late", WorkerOptions.defaults());
      rcu.callbacks().setThreadWorker(late);
      rcu.call(ran::getAndIncrement);
      Thread.sleep(50);
      assertThat(ran).hasValue(1);
      assertThat(rcu.statistics().pendingCallbacks()).isEqualTo(11);
      rcu.callbacks().resume();
      rcu.barrier();
      assertThat(ran).hasValue(12);
    }
  }

  @Test
  void pauseReturnsWhenTheBatchThatRunsIsOver() throws Exception {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      CountDownLatch running = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      rcu.call(
          () -> {
            running.countDown();
            Waiting.forLatch(release);
          });
      running.await();
      Thread pauser = Thread.ofPlatform().start(rcu.callbacks()::pause);
      pauser.join(50);
      assertThat(pauser.isAlive()).as("waits for the callback that runs").isTrue();
      release.countDown();
      Waiting.join(pauser);
      rcu.callbacks().resume();
    }
  }

  @Test
  void pauseInsideASectionThrows() {
    try (Rcu rcu = rcu(WorkerOptions.defaults())) {
      try (Section s = rcu.read()) {
        assertThat(s.isOpen()).isTrue();
        assertThatThrownBy(rcu.callbacks()::pause)
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("would wait for itself");
      }
      Reader reader = rcu.reader();
      reader.online();
      rcu.call(() -> {});
      rcu.callbacks().pause();
      rcu.callbacks().resume();
      assertThat(reader.isActive()).isTrue();
      reader.offline();
    }
  }

  @Test
  void chunksOfRetiredBlocksAreNotMistakenForCallbacks() {
    try (Rcu rcu = rcu(LAZY)) {
      for (int i = 0; i < 50; i++) {
        rcu.retire((address, bytes) -> {}, 64, 64);
        rcu.barrier();
      }
      rcu.callbacks().pause();
      for (int i = 0; i < 20; i++) {
        rcu.call(() -> {});
      }
      assertThat(rcu.statistics().pendingCallbacks()).isEqualTo(20);
      rcu.callbacks().resume();
    }
  }

  @Test
  void aStallListenerThatFailsCostsNoCallback() throws Exception {
    try (Rcu rcu =
        Rcu.builder("failing-listener")
            .stallLimit(Duration.ofMillis(10))
            .onStall(
                report -> {
                  throw new AssertionError("expected by CallbacksTest");
                })
            .build()) {
      Holder holder = new Holder(rcu, Thread.ofPlatform());
      CountDownLatch ran = new CountDownLatch(1);
      rcu.call(ran::countDown);
      Waiting.until("stalled", () -> rcu.statistics().stalls() > 0);
      holder.leave();
      Waiting.forLatch(ran);
    }
  }

  @Test
  void spuriousWakeUpsOfTheWorkerBurnNothing() throws Exception {
    for (WakeUp wakeUp : List.of(WakeUp.FUTEX, WakeUp.PARK, WakeUp.MONITOR)) {
      try (Rcu rcu = rcu(WorkerOptions.defaults().wakeUp(wakeUp).delay(Duration.ZERO))) {
        rcu.call(() -> {});
        rcu.barrier();
        Thread worker = rcu.callbacks().defaultWorker().thread();
        for (int i = 0; i < 200; i++) {
          java.util.concurrent.locks.LockSupport.unpark(worker);
          worker.interrupt();
          if (i % 20 == 0) {
            Thread.sleep(1);
          }
        }
        assertThat(Waiting.load(worker, 300)).as("load after spurious wake-ups").isLessThan(0.3);
        CountDownLatch ran = new CountDownLatch(1);
        rcu.call(ran::countDown);
        Waiting.forLatch(ran);
      }
    }
  }

  @Test
  void optionsAreChecked() {
    WorkerOptions options = WorkerOptions.defaults();
    assertThatThrownBy(() -> options.delay(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> options.delay(Duration.ofHours(2)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("one hour");
    assertThatThrownBy(() -> options.hurryAbove(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> options.blockAbove(0)).isInstanceOf(IllegalArgumentException.class);
    assertThat(options.realTime(true).wakeUp()).isEqualTo(WakeUp.POLL);
    assertThat(options.realTime(false).wakeUp()).isEqualTo(WakeUp.FUTEX);
    assertThat(options.cpu(1).cpu()).isEqualTo(1);
  }
}
