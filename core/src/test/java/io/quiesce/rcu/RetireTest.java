package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocks here are numbers only; no memory stands behind them. */
@Timeout(120)
class RetireTest {
  private static final long MIB = 1L << 20;

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void everyBlockIsReclaimedOnceWithItsAddressAndSize(Rcu.Flavour flavour) throws Exception {
    int platform = 3;
    int virtual = 30;
    int each = 2_000;
    try (Rcu rcu = Rcu.builder("retire").flavour(flavour).build()) {
      AtomicIntegerArray times = new AtomicIntegerArray((platform + virtual) * each);
      AtomicInteger wrongSize = new AtomicInteger();
      Reclaimer reclaimer =
          (address, bytes) -> {
            times.getAndIncrement((int) (address / 8));
            if (bytes != address / 8 % 100) {
              wrongSize.getAndIncrement();
            }
          };
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < platform + virtual; t++) {
        int first = t * each;
        Thread.Builder kind = t < platform ? Thread.ofPlatform() : Thread.ofVirtual();
        threads.add(
            kind.start(
                () -> {
                  for (int i = first; i < first + each; i += 2) {
                    rcu.retire(reclaimer, i * 8L, i % 100);
                    try (Section s = rcu.read()) {
                      assertThat(s.isOpen()).isTrue();
                      rcu.retire(reclaimer, (i + 1) * 8L, (i + 1) % 100);
                    }
                  }
                }));
      }
      for (Thread thread : threads) {
        Waiting.join(thread);
      }
      rcu.barrier();
      assertThat(wrongSize).hasValue(0);
      for (int i = 0; i < times.length(); i++) {
        assertThat(times.get(i)).isEqualTo(1);
      }
      assertThat(rcu.statistics().pendingBlocks()).isZero();
      assertThat(rcu.statistics().pendingBytes()).isZero();
    }
  }

  @Test
  void nothingIsReclaimedBeforeItsGracePeriodAndTheGaugesSaySo() throws Exception {
    try (Rcu rcu = Rcu.create("held")) {
      for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
        AtomicInteger reclaimed = new AtomicInteger();
        Holder holder = new Holder(rcu, kind);
        for (int i = 0; i < 1_500; i++) { // more than two chunks
          rcu.retire((address, bytes) -> reclaimed.getAndIncrement(), 64, 100);
        }
        Thread.sleep(40);
        assertThat(reclaimed).hasValue(0);
        RcuStatistics held = rcu.statistics();
        assertThat(held.pendingBlocks()).isEqualTo(1_500);
        assertThat(held.pendingBytes()).isEqualTo(150_000);
        assertThat(held.oldestPending()).isGreaterThanOrEqualTo(Duration.ofMillis(30));
        holder.leave();
        rcu.barrier();
        assertThat(reclaimed).hasValue(1_500);
        assertThat(rcu.statistics().pendingBlocks()).isZero();
        Waiting.until("nothing is old", () -> rcu.statistics().oldestPending().isZero());
      }
    }
  }

  @Test
  void aBlockNeedsNoBarrierToBeReclaimed() throws Exception {
    try (Rcu rcu = Rcu.create("alone")) {
      AtomicInteger reclaimed = new AtomicInteger();
      for (int i = 1; i <= 5; i++) {
        int expected = i;
        rcu.retire((address, bytes) -> reclaimed.getAndIncrement(), 64, 64);
        Waiting.until("reclaimed", () -> reclaimed.get() == expected);
      }
    }
  }

  /** A marker must not overtake a block that lies in a stripe, or a chunk on its way from one. */
  @Test
  void aBarrierCoversBlocksWhateverOthersRetireMeanwhile() throws Exception {
    try (Rcu rcu =
        Rcu.builder("cover").defaultWorker(WorkerOptions.defaults().delay(Duration.ZERO)).build()) {
      AtomicBoolean stop = new AtomicBoolean();
      Thread noise =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!stop.get()) {
                      for (int i = 0; i < 600; i++) {
                        rcu.retire((address, bytes) -> {}, 64, 64);
                      }
                      rcu.call(() -> {});
                    }
                  });
      int early = 0;
      for (int round = 0; round < 3_000; round++) {
        AtomicBoolean reclaimed = new AtomicBoolean();
        rcu.retire((address, bytes) -> reclaimed.set(true), 64, 64);
        rcu.barrier();
        early += reclaimed.get() ? 0 : 1;
      }
      stop.set(true);
      Waiting.join(noise);
      assertThat(early).as("barriers that returned before the block was reclaimed").isZero();
    }
  }

  @Test
  void aReclaimerThatThrowsHarmsNoOtherBlock() {
    try (Rcu rcu = Rcu.create("throwing")) {
      AtomicInteger reclaimed = new AtomicInteger();
      rcu.retire(
          (address, bytes) -> {
            throw new AssertionError("expected by RetireTest");
          },
          64,
          64);
      rcu.retire((address, bytes) -> reclaimed.getAndIncrement(), 64, 64);
      rcu.barrier();
      assertThat(reclaimed).hasValue(1);
      assertThat(rcu.statistics().pendingBlocks()).isZero();
    }
  }

  @Test
  @SuppressWarnings("NullAway")
  void argumentsAreChecked() {
    try (Rcu rcu = Rcu.create("checked")) {
      assertThatThrownBy(() -> rcu.retire((address, bytes) -> {}, 64, -1))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> rcu.retire(null, 64, 64)).isInstanceOf(NullPointerException.class);
      rcu.retire((address, bytes) -> {}, 0, 0);
    }
  }

  /** Fault 11: folly deadlocked when a reader retired while another thread synchronized. */
  @Test
  void retiringInsideASectionNeverWaitsForWhoeverSynchronizes() throws Exception {
    try (Rcu rcu = Rcu.create("fault-11")) {
      AtomicBoolean stop = new AtomicBoolean();
      AtomicLong reclaimed = new AtomicLong();
      Thread updater =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!stop.get()) {
                      rcu.synchronize();
                      rcu.barrier();
                    }
                  });
      List<Thread> readers = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        Thread.Builder kind = t % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
        readers.add(
            kind.start(
                () -> {
                  for (int section = 0; section < 50; section++) {
                    try (Section s = rcu.read()) {
                      assertThat(s.isOpen()).isTrue();
                      for (int i = 0; i < 1_000; i++) {
                        rcu.retire((address, bytes) -> reclaimed.getAndIncrement(), 64, 64);
                      }
                    }
                  }
                }));
      }
      for (Thread reader : readers) {
        Waiting.join(reader);
      }
      stop.set(true);
      Waiting.join(updater);
      rcu.barrier();
      assertThat(reclaimed).hasValue(200_000);
    }
  }

  /**
   * Fault 14: garbage grew without bound when short-lived threads each retired one huge block. The
   * delay is an hour here: only the weight of what waits can move the worker.
   */
  @Test
  void hugeBlocksOfShortLivedThreadsDoNotPileUp() throws Exception {
    int threads = 100_000;
    int platformEvery = 20;
    try (Rcu rcu =
        Rcu.builder("fault-14")
            .defaultWorker(WorkerOptions.defaults().delay(Duration.ofHours(1)))
            .build()) {
      AtomicLong reclaimed = new AtomicLong();
      Reclaimer reclaimer = (address, bytes) -> reclaimed.getAndAdd(bytes);
      for (int i = 0; i < threads; i += 1_000) {
        List<Thread> some = new ArrayList<>();
        for (int t = 0; t < 1_000; t++) {
          Thread.Builder kind = t % platformEvery == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
          some.add(kind.start(() -> rcu.retire(reclaimer, 64, MIB)));
        }
        for (Thread thread : some) {
          thread.join();
        }
        Waiting.until("garbage falls", () -> rcu.statistics().pendingBytes() < 512 * MIB);
      }
      rcu.barrier();
      assertThat(reclaimed).hasValue(threads * MIB);
      assertThat(rcu.statistics().pendingBytes()).isZero();
      assertThat(rcu.statistics().registeredReaders()).as("retiring registers nobody").isZero();
    }
  }
}
