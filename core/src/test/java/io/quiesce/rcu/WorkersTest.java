package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.CpuSet;
import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.Rseq;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers that come and go, and which of them a callback goes to. */
@Timeout(120)
class WorkersTest {
  private static final WorkerOptions LAZY = WorkerOptions.defaults().delay(Duration.ofHours(1));

  @Test
  void aWorkerOfACpuIsPinnedBeforeItsFirstCallback() {
    assumeTrue(CpuAffinity.isAvailable(), "no affinity calls here");
    CpuSet allowed = CpuAffinity.get();
    try (Rcu rcu = Rcu.create("pinned")) {
      rcu.callbacks().createPerCpuWorkers(WorkerOptions.defaults());
      for (int cpu : CpuTopology.online().and(allowed).toArray()) {
        CallbackWorker worker = rcu.callbacks().forCpu(cpu);
        assertThat(worker).isNotNull();
        AtomicReference<@Nullable CpuSet> seen = new AtomicReference<>();
        rcu.callbacks().setThreadWorker(worker);
        rcu.call(() -> seen.set(CpuAffinity.get()));
        rcu.barrier();
        assertThat(seen.get()).isEqualTo(CpuSet.of(cpu));
      }
      rcu.callbacks().setThreadWorker(null);
      assertThat(CpuAffinity.get()).as("the caller stays unpinned").isEqualTo(allowed);
    }
  }

  @Test
  void workersOfCpusTakeTheCallbacksOfTheirCpuWhereItIsKnown() {
    try (Rcu rcu = Rcu.create("per-cpu")) {
      Callbacks callbacks = rcu.callbacks();
      assertThat(callbacks.forCpu(0)).isNull();
      callbacks.createPerCpuWorkers(WorkerOptions.defaults(), false);
      int online = CpuTopology.online().size();
      assertThat(callbacks.workers()).hasSize(online);
      callbacks.createPerCpuWorkers(WorkerOptions.defaults(), false);
      assertThat(callbacks.workers()).as("none is made twice").hasSize(online);
      assertThat(callbacks.forCpu(-1)).isNull();
      assertThat(callbacks.forCpu(1 << 20)).isNull();
      CallbackWorker current = callbacks.current();
      if (Rseq.cpu() >= 0) {
        assertThat(current.name()).startsWith("cpu");
      } else {
        assertThat(current).isSameAs(callbacks.defaultWorker());
      }
      AtomicInteger ran = new AtomicInteger();
      for (int i = 0; i < 1_000; i++) {
        rcu.call(ran::getAndIncrement);
      }
      rcu.barrier();
      assertThat(ran).hasValue(1_000);
    }
  }

  @Test
  void theWorkerOfACpuIsReplacedOnlyAfterItWasTakenAway() {
    try (Rcu rcu = Rcu.create("rules");
        Rcu other = Rcu.create("other")) {
      Callbacks callbacks = rcu.callbacks();
      CallbackWorker one = callbacks.newWorker("one", WorkerOptions.defaults());
      CallbackWorker two = callbacks.newWorker("two", WorkerOptions.defaults());
      callbacks.setCpuWorker(0, one);
      assertThat(callbacks.forCpu(0)).isSameAs(one);
      assertThatThrownBy(() -> callbacks.setCpuWorker(0, two))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("setCpuWorker(0, null)");
      callbacks.setCpuWorker(0, null);
      callbacks.setCpuWorker(0, two);
      assertThat(callbacks.forCpu(0)).isSameAs(two);
      assertThatThrownBy(() -> callbacks.setCpuWorker(-1, one))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> callbacks.setCpuWorker(CpuTopology.tableSize(), one))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("not one of the");
      CallbackWorker foreign = other.callbacks().defaultWorker();
      assertThatThrownBy(() -> callbacks.setCpuWorker(0, foreign))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("does not belong to domain rules");
      assertThatThrownBy(() -> callbacks.setThreadWorker(foreign))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> callbacks.free(foreign))
          .isInstanceOf(IllegalArgumentException.class);
      callbacks.free(two);
      assertThat(callbacks.forCpu(0)).as("freeing takes it away").isNull();
    }
  }

  @Test
  void aThreadChoosesForItselfOnly() throws Exception {
    try (Rcu rcu = Rcu.create("chosen")) {
      Callbacks callbacks = rcu.callbacks();
      assertThat(callbacks.threadWorker()).isNull();
      CallbackWorker mine = callbacks.newWorker("mine", WorkerOptions.defaults());
      callbacks.setThreadWorker(mine);
      assertThat(callbacks.threadWorker()).isSameAs(mine);
      assertThat(callbacks.current()).isSameAs(mine);
      AtomicReference<CallbackWorker> others = new AtomicReference<>();
      AtomicBoolean refused = new AtomicBoolean();
      Thread.ofPlatform().start(() -> others.set(callbacks.current())).join();
      assertThat(others.get()).isSameAs(callbacks.defaultWorker());
      Thread.startVirtualThread(
              () -> {
                try {
                  callbacks.setThreadWorker(mine);
                } catch (UnsupportedOperationException expected) {
                  refused.set(true);
                }
              })
          .join();
      assertThat(refused).isTrue();
      AtomicReference<Thread> ranOn = new AtomicReference<>();
      rcu.call(() -> ranOn.set(Thread.currentThread()));
      rcu.barrier();
      assertThat(ranOn.get()).isSameAs(mine.thread());
      callbacks.setThreadWorker(null);
      assertThat(callbacks.current()).isSameAs(callbacks.defaultWorker());
    }
  }

  @Test
  void aFreedWorkerRunsWhatItHasAndHandsOverWhatComesLate() throws Exception {
    try (Rcu rcu = Rcu.create("freed")) {
      Callbacks callbacks = rcu.callbacks();
      CallbackWorker worker = callbacks.newWorker("short", LAZY);
      callbacks.setThreadWorker(worker);
      rcu.call(() -> {});
      rcu.barrier(); // from here on its delay would hold everything
      AtomicInteger ran = new AtomicInteger();
      for (int i = 0; i < 100; i++) {
        rcu.call(ran::getAndIncrement);
        rcu.retire((address, bytes) -> ran.getAndIncrement(), 64, 64);
      }
      callbacks.free(worker);
      callbacks.free(worker);
      Waiting.join(worker.thread());
      assertThat(ran).hasValue(200);
      assertThat(callbacks.workers()).doesNotContain(worker);

      AtomicReference<Thread> late = new AtomicReference<>();
      rcu.call(() -> late.set(Thread.currentThread()));
      rcu.retire((address, bytes) -> ran.getAndIncrement(), 64, 64);
      rcu.retire((address, bytes) -> ran.getAndIncrement(), 64, 64);
      rcu.barrier();
      assertThat(late.get()).isSameAs(callbacks.defaultWorker().thread());
      assertThat(ran).hasValue(202);
      assertThatThrownBy(() -> callbacks.free(callbacks.defaultWorker()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("close the domain");
    }
  }

  /**
   * Fault 1: liburcu's barrier hung, and callbacks were lost, when workers were freed meanwhile.
   */
  @Test
  void workersFreedInALoopLoseNothingAndHangNoBarrier() throws Exception {
    int each = 4_000;
    int queuers = 3;
    try (Rcu rcu = Rcu.create("churn")) {
      Callbacks callbacks = rcu.callbacks();
      AtomicReference<CallbackWorker> latest =
          new AtomicReference<>(callbacks.newWorker("first", WorkerOptions.defaults()));
      AtomicIntegerArray called = new AtomicIntegerArray(each * queuers);
      AtomicIntegerArray reclaimed = new AtomicIntegerArray(each * queuers);
      AtomicInteger early = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (int q = 0; q < queuers; q++) {
        int first = q * each;
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (int i = first; i < first + each; i++) {
                        int number = i;
                        callbacks.setThreadWorker(latest.get());
                        rcu.call(() -> called.getAndIncrement(number));
                        rcu.retire((a, b) -> reclaimed.getAndIncrement((int) a), number, 1);
                        if (i % 50 == 0) {
                          rcu.barrier();
                          if (called.get(number) != 1 || reclaimed.get(number) != 1) {
                            early.getAndIncrement();
                          }
                        }
                      }
                    }));
      }
      AtomicBoolean stop = new AtomicBoolean();
      Thread waiter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!stop.get()) {
                      rcu.barrier();
                    }
                  });
      while (threads.stream().anyMatch(Thread::isAlive)) {
        CallbackWorker next = callbacks.newWorker("next", WorkerOptions.defaults());
        callbacks.free(latest.getAndSet(next));
        Thread.sleep(0, 200_000);
      }
      for (Thread thread : threads) {
        Waiting.join(thread);
      }
      stop.set(true);
      Waiting.join(waiter);
      rcu.barrier();
      assertThat(early).as("barriers that returned too early").hasValue(0);
      for (int i = 0; i < each * queuers; i++) {
        assertThat(called.get(i)).isEqualTo(1);
        assertThat(reclaimed.get(i)).isEqualTo(1);
      }
      assertThat(rcu.statistics().pendingBlocks()).isZero();
    }
  }
}
