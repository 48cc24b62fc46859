package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class GracePeriodTest {
  private static Rcu rcu(Rcu.Flavour flavour) {
    return Rcu.builder("test").flavour(flavour).build();
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void waitsForSectionsThatWereOpenAndNotForLaterOnes(Rcu.Flavour flavour) throws Exception {
    Rcu rcu = rcu(flavour);
    Holder old = new Holder(rcu, Thread.ofPlatform());
    AtomicBoolean done = new AtomicBoolean();
    Thread updater =
        Thread.ofPlatform()
            .start(
                () -> {
                  rcu.synchronize();
                  done.set(true);
                });
    updater.join(30);
    Holder late = new Holder(rcu, Thread.ofPlatform());
    updater.join(30);
    assertThat(done).isFalse();
    old.leave();
    if (flavour != Rcu.Flavour.SLEEPABLE) { // a late counted reader may sit in the old generation
      updater.join();
      assertThat(done).isTrue();
    }
    late.leave();
    updater.join();
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void cookiesElapseAfterAFullGracePeriod(Rcu.Flavour flavour) throws Exception {
    Rcu rcu = rcu(flavour);
    Holder holder = new Holder(rcu, Thread.ofPlatform());
    long cookie = rcu.startGracePeriod();
    Thread.sleep(30);
    assertThat(rcu.isElapsed(cookie)).isFalse();
    holder.leave();
    rcu.awaitGracePeriod(cookie);
    assertThat(rcu.isElapsed(cookie)).isTrue();
    rcu.close();
  }

  @Test
  void aStartedGracePeriodEndsWithoutFurtherCalls() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    long cookie = rcu.startGracePeriod();
    while (!rcu.isElapsed(cookie)) {
      Thread.sleep(1);
    }
    rcu.close();
  }

  @Test
  void callersThatWaitTogetherShareGracePeriods() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Holder holder = new Holder(rcu, Thread.ofPlatform());
    Thread first = Thread.ofPlatform().start(rcu::synchronize);
    while (first.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    List<Thread> others = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      others.add(
          i % 2 == 0
              ? Thread.ofPlatform().start(rcu::synchronize)
              : Thread.startVirtualThread(rcu::synchronize));
    }
    Thread.sleep(50);
    long before = rcu.statistics().gracePeriods();
    holder.leave();
    first.join();
    for (Thread other : others) {
      other.join();
    }
    assertThat(rcu.statistics().gracePeriods() - before).isBetween(2L, 4L);
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void synchronizeInsideASectionThrows(Rcu.Flavour flavour) {
    Rcu rcu = rcu(flavour);
    if (flavour == Rcu.Flavour.SLEEPABLE) {
      return; // anonymous counts: known only when tracked; VirtualTrackingTest has that case
    }
    try (Section s = rcu.read()) {
      assertThat(s.isOpen()).isTrue();
      assertThatThrownBy(rcu::synchronize)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("would wait for itself");
      assertThatThrownBy(rcu::synchronizeExpedited).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(rcu::barrier).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(rcu::close).isInstanceOf(IllegalStateException.class);
    }
    rcu.synchronize();
  }

  @Test
  void aThreadThatDiesInsideASectionIsDropped() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Section[] leaked = new Section[1];
    Thread dying = Thread.ofPlatform().start(() -> leaked[0] = rcu.read());
    dying.join();
    rcu.synchronize();
    assertThat(rcu.statistics().registeredReaders()).isZero();
  }

  @Test
  void anInterruptNeitherEndsTheWaitNorIsLost() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Holder holder = new Holder(rcu, Thread.ofPlatform());
    AtomicBoolean flag = new AtomicBoolean();
    Thread updater =
        Thread.ofPlatform()
            .start(
                () -> {
                  rcu.synchronize();
                  flag.set(Thread.interrupted());
                });
    Thread.sleep(20);
    updater.interrupt();
    updater.join(50);
    assertThat(updater.isAlive()).isTrue();
    holder.leave();
    updater.join();
    assertThat(flag).isTrue();
  }

  @Test
  void aLongWaitCostsLittleCpu() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Holder holder = new Holder(rcu, Thread.ofPlatform());
    var bean = java.lang.management.ManagementFactory.getThreadMXBean();
    Thread updater = Thread.ofPlatform().start(rcu::synchronize);
    Thread.sleep(200);
    long before = bean.getThreadCpuTime(updater.threadId());
    Thread.sleep(1_000);
    long burnt = bean.getThreadCpuTime(updater.threadId()) - before;
    holder.leave();
    updater.join();
    assertThat(Duration.ofNanos(burnt)).isLessThan(Duration.ofMillis(300));
  }

  @Test
  void aStallNamesTheReaderWithItsStack() throws Exception {
    AtomicReference<String> report = new AtomicReference<>("");
    Rcu rcu =
        Rcu.builder("stalling")
            .flavour(Rcu.Flavour.MEMBARRIER)
            .stallLimit(Duration.ofMillis(100))
            .onStall(text -> report.updateAndGet(before -> before + text))
            .build();
    Holder holder = new Holder(rcu, Thread.ofPlatform().name("slow-reader"));
    Thread updater = Thread.ofPlatform().start(rcu::synchronize);
    Thread.sleep(550);
    holder.leave();
    updater.join();
    assertThat(report.get())
        .contains("stalling")
        .contains("slow-reader")
        .contains("CountDownLatch.await");
    // At 100, 200 and 400 ms: once per doubling.
    assertThat(rcu.statistics().stalls()).isBetween(1L, 3L);
  }

  @Test
  void readersComeAndGoWhileOneWaits() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Holder holder = new Holder(rcu, Thread.ofPlatform());
    Thread updater = Thread.ofPlatform().start(rcu::synchronize);
    for (int i = 0; i < 200; i++) {
      Thread.ofPlatform().start(() -> rcu.read().close()).join();
    }
    assertThat(updater.isAlive()).isTrue();
    holder.leave();
    updater.join();
  }

  @Test
  void aReaderMayJoinAThreadThatRegistersWhileAnotherSynchronizes() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    for (int i = 0; i < 50; i++) {
      Thread updater;
      try (Section s = rcu.read()) {
        assertThat(s.isOpen()).isTrue();
        updater = Thread.ofPlatform().start(rcu::synchronize);
        Thread.ofPlatform().start(() -> rcu.read().close()).join();
      }
      updater.join();
    }
  }
}
