package io.quiesce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.VirtualMemory;
import io.quiesce.locks.NodelessMcsLock;
import io.quiesce.memory.PerCpuAllocator;
import io.quiesce.rcu.Rcu;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What listeners are told, and that they cannot do harm. */
@Timeout(100)
class QuiesceListenerTest {
  private static final String NAME = "heard";

  private final Queue<String> heard = new ConcurrentLinkedQueue<>();

  private final QuiesceListener listener =
      new QuiesceListener() {
        @Override
        public void gracePeriodBegun(String domain, String flavour) {
          hear(domain, "begun " + flavour);
        }

        @Override
        public void gracePeriodEnded(
            String domain,
            String flavour,
            long begun,
            long nanos,
            int waitedFor,
            boolean expedited) {
          assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(nanos);
          hear(domain, "ended " + flavour);
        }

        @Override
        public void gracePeriodStalled(String domain, long nanos, String report) {
          assertThat(nanos).isPositive();
          hear(domain, "stalled");
        }

        @Override
        public void callbacksRun(
            String domain, String worker, long callbacks, long bytes, long begun, long nanos) {
          hear(domain, "callbacks " + callbacks);
        }

        @Override
        public void lockWaited(
            String lock, String kind, @Nullable Thread owner, long nanos, boolean acquired) {
          String name = owner == null ? "nobody" : owner.getName();
          hear(lock, kind + " " + name + " " + acquired + " " + (nanos >= 10_000_000));
        }

        @Override
        public void allocatorTrimmed(
            String allocator, String cause, long blocks, long bytes, long begun, long nanos) {
          hear(allocator, "trimmed " + cause);
        }

        @Override
        public void allocatorExhausted(String allocator, long wanted, long limit, String reason) {
          hear(allocator, "exhausted at " + limit);
        }

        @Override
        public void memoryFault(
            String allocator, String kind, long address, long bytes, String report) {
          hear(allocator, "fault " + kind);
        }
      };

  /** Other tests' objects, and those of the JVM, are heard too. */
  private void hear(String name, String what) {
    if (name.equals(NAME)) {
      heard.add(what);
    }
    throw new IllegalStateException("a listener that fails, at " + what);
  }

  @BeforeEach
  void listen() {
    QuiesceListener.add(listener);
    QuiesceListener.add(listener);
  }

  @AfterEach
  void unlisten() {
    QuiesceListener.remove(listener);
  }

  private void hasHeard(Predicate<String> what) throws InterruptedException {
    while (heard.stream().noneMatch(what)) {
      Thread.sleep(1);
    }
  }

  @Test
  void gracePeriodsAndCallbacks() throws Exception {
    try (Rcu rcu = Rcu.builder(NAME).flavour(Rcu.Flavour.FENCED).build()) {
      rcu.synchronize();
      assertThat(heard).containsExactly("begun FENCED", "ended FENCED");
      rcu.call(() -> {});
      hasHeard("callbacks 1"::equals);
      QuiesceListener.remove(listener);
      heard.clear();
      rcu.synchronize();
      assertThat(heard).isEmpty();
    }
  }

  @Test
  void stalls() throws Exception {
    try (Rcu rcu = Rcu.builder(NAME).stallLimit(Duration.ofMillis(20)).build()) {
      CountDownLatch inside = new CountDownLatch(1);
      CountDownLatch end = new CountDownLatch(1);
      Thread reader =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try (var _ = rcu.read()) {
                      inside.countDown();
                      end.await();
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                  });
      inside.await();
      Thread waiter = Thread.ofPlatform().start(rcu::synchronize);
      hasHeard("stalled"::equals);
      end.countDown();
      waiter.join();
      reader.join();
    }
  }

  @Test
  @SuppressWarnings("LockNotBeforeTry")
  void longWaits() throws Exception {
    NodelessMcsLock lock = new NodelessMcsLock(NAME);
    lock.lock();
    Thread waiter =
        Thread.ofPlatform()
            .start(
                () -> {
                  lock.lock();
                  lock.unlock();
                });
    while (waiter.getState() != Thread.State.WAITING) {
      Thread.sleep(1);
    }
    Thread.sleep(60);
    lock.unlock();
    waiter.join();
    String me = Thread.currentThread().getName();
    assertThat(heard).containsExactly("NodelessMcsLock " + me + " true true");
  }

  @Test
  void allocators() {
    assumeTrue(VirtualMemory.isAvailable(), "skipped: no native access");
    long limit = 16L << 20;
    try (PerCpuAllocator allocator =
        PerCpuAllocator.builder().name(NAME).limit(limit).hardening(true).build()) {
      long block = allocator.allocateRaw(64);
      allocator.freeRaw(block);
      assertThatThrownBy(() -> allocator.freeRaw(block)).isNotNull();
      allocator.trim();
      assertThatThrownBy(() -> allocator.allocateRaw(2 * limit))
          .isInstanceOf(OutOfMemoryError.class);
    }
    assertThat(heard)
        .containsAll(List.of("fault DOUBLE_FREE", "trimmed trim", "exhausted at " + limit));
  }
}
