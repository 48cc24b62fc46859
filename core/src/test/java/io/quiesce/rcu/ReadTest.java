package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class ReadTest {
  private static Rcu rcu(Rcu.Flavour flavour) {
    return Rcu.builder("test").flavour(flavour).build();
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void sectionsNestAndTheOutermostEndsReading(Rcu.Flavour flavour) {
    Rcu rcu = rcu(flavour);
    Section outer = rcu.read();
    Section inner = rcu.read();
    inner.close();
    assertThat(outer.isOpen()).isTrue();
    assertThat(inner.isOpen()).isFalse();
    assertThat(rcu.isReading()).isEqualTo(flavour != Rcu.Flavour.SLEEPABLE);
    outer.close();
    outer.close();
    assertThat(rcu.isReading()).isFalse();
    assertThat(rcu.statistics().openCountedSections()).isZero();
  }

  @Test
  void closingTheOuterSectionHealsALeakedInnerOne() {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Section leaked;
    try (Section outer = rcu.read()) {
      assertThat(outer.isOpen()).isTrue();
      leaked = rcu.read();
    }
    assertThat(rcu.isReading()).isFalse();
    assertThat(leaked.isOpen()).isFalse();
    rcu.synchronize();
    leaked.close();
    assertThat(rcu.isReading()).isFalse();
  }

  @Test
  void aClosedSectionIsNoProof() {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    RcuRef<String> ref = rcu.ref("a");
    Section closed = rcu.read();
    assertThat(ref.get(closed)).isEqualTo("a");
    closed.close();
    assertThatThrownBy(() -> ref.get(closed)).isInstanceOf(IllegalStateException.class);
    try (Section other = rcu(Rcu.Flavour.MEMBARRIER).read()) {
      assertThatThrownBy(() -> ref.get(other))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("belongs to domain");
    }
  }

  @Test
  void aLeakedSectionIsNoProofInsideALaterOne() {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Section leaked;
    try (Section outer = rcu.read()) {
      assertThat(outer.isOpen()).isTrue();
      leaked = rcu.read();
    }
    rcu.synchronize(); // what the leaked section protected may be gone by now
    try (Section later = rcu.read()) {
      assertThat(later.isOpen()).isTrue();
      assertThat(leaked.isOpen()).isFalse();
    }
  }

  @Test
  void aQuiescentStateEndsWhatASectionInsideProved() {
    Rcu rcu = rcu(Rcu.Flavour.QSBR);
    Reader reader = rcu.reader();
    reader.online();
    Section inside = reader.read();
    assertThat(inside.isOpen()).isTrue();
    rcu.synchronize(); // announces for us
    assertThat(inside.isOpen()).isFalse();
    inside.close();
    assertThat(reader.isActive()).isTrue();
    reader.offline();
  }

  @Test
  void aSecondCloseDoesNotEndALaterSection() {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Section first = rcu.read();
    first.close();
    try (Section second = rcu.read()) {
      first.close();
      assertThat(second.isOpen()).isTrue();
      assertThat(rcu.isReading()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void virtualThreadsReadUnderCounts(Rcu.Flavour flavour) throws Exception {
    Rcu rcu = rcu(flavour);
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Thread reader =
        Thread.startVirtualThread(
            () -> {
              try (Section s = rcu.read()) {
                inside.countDown();
                assertThat(leave.await(30, TimeUnit.SECONDS)).isTrue();
                assertThat(s.isOpen()).isTrue();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    inside.await();
    assertThat(rcu.statistics().openCountedSections()).isEqualTo(1);
    Thread updater = Thread.ofPlatform().start(rcu::synchronize);
    updater.join(50);
    assertThat(updater.isAlive()).as("waits for the virtual reader").isTrue();
    leave.countDown();
    updater.join();
    reader.join();
    assertThat(rcu.statistics().openCountedSections()).isZero();
  }

  @Test
  void anExplicitReaderIsTheThreadsOwnAndNoVirtualOnes() throws Exception {
    Rcu rcu = rcu(Rcu.Flavour.MEMBARRIER);
    Reader reader = rcu.reader();
    assertThat(rcu.reader()).isSameAs(reader);
    try (Section s = reader.read()) {
      assertThat(s.isOpen()).isTrue();
      assertThat(rcu.isReading()).isTrue();
    }
    Throwable[] thrown = new Throwable[1];
    Thread.startVirtualThread(
            () -> {
              try {
                rcu.reader();
              } catch (UnsupportedOperationException e) {
                thrown[0] = e;
              }
            })
        .join();
    assertThat(thrown[0]).hasMessageContaining("use read()");
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void anOnlineReaderHoldsUpGracePeriodsUntilItAnnounces(Rcu.Flavour flavour) throws Exception {
    Rcu rcu = rcu(flavour);
    Reader reader = rcu.reader();
    reader.online();
    assertThatThrownBy(reader::online).isInstanceOf(IllegalStateException.class);
    try (Section free = reader.read()) {
      assertThat(free.isOpen()).isTrue();
    }
    Thread updater = Thread.ofPlatform().start(rcu::synchronize);
    updater.join(50);
    assertThat(updater.isAlive()).isTrue();
    while (updater.isAlive()) {
      reader.quiescentState();
      Thread.onSpinWait();
    }
    reader.quiescentState();
    rcu.synchronize(); // announces for us
    reader.offline();
    assertThatThrownBy(reader::quiescentState).isInstanceOf(IllegalStateException.class);
    rcu.synchronize();
  }
}
