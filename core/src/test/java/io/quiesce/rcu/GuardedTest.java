package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class GuardedTest {
  private static final Duration LONG = Duration.ofSeconds(40);

  /** Something native: using it after it was closed is what must never happen. */
  private static final class Handle {
    volatile boolean poisoned;
    final AtomicInteger closes = new AtomicInteger();

    void close() {
      poisoned = true;
      closes.getAndIncrement();
    }
  }

  @Test
  void aValueIsClosedWhenItsLastReaderIsDone() throws Exception {
    try (Rcu rcu = Rcu.create("guarded")) {
      Handle first = new Handle();
      Handle second = new Handle();
      Guarded<Handle> guarded = Guarded.of(rcu, first, Handle::close);
      Guarded.Access<Handle> reading = guarded.read();
      assertThat(reading.get()).isSameAs(first);
      guarded.replace(second);
      try (Guarded.Access<Handle> newer = guarded.read()) {
        assertThat(newer.get()).isSameAs(second);
        assertThat(reading.get()).as("the old one stays usable").isSameAs(first);
      }
      Thread.sleep(30);
      assertThat(first.poisoned).isFalse();
      reading.close();
      rcu.barrier();
      assertThat(first.closes).hasValue(1);
      assertThat(second.poisoned).isFalse();
      guarded.closeAndWait(LONG);
      assertThat(second.closes).hasValue(1);
      assertThat(first.closes).hasValue(1);
    }
  }

  @Test
  void useAfterCloseIsACleanException() {
    try (Rcu rcu = Rcu.create("use-after-close")) {
      Handle kept = new Handle();
      Guarded<Handle> guarded = Guarded.of(rcu, new Handle(), Handle::close);
      Guarded.Access<Handle> access = guarded.read();
      access.close();
      access.close();
      assertThatThrownBy(access::get)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("this access is closed");
      assertThat(guarded.isClosed()).isFalse();
      guarded.close();
      guarded.close();
      assertThat(guarded.isClosed()).isTrue();
      assertThat(guarded).hasToString("Guarded[closed]");
      assertThatThrownBy(guarded::read)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("this Guarded is closed");
      assertThat(rcu.isReading()).as("a refused read leaves no section").isFalse();
      assertThatThrownBy(() -> guarded.replace(kept)).isInstanceOf(IllegalStateException.class);
      rcu.barrier();
      assertThat(kept.poisoned).as("stays the caller's").isFalse();
      assertThat(guarded.closed().toCompletableFuture()).isCompleted();
    }
  }

  @Test
  void aLeakedAccessDoesNotShowAClosedValueInALaterSection() throws Exception {
    try (Rcu rcu = Rcu.create("leaked")) {
      Guarded<Handle> guarded = Guarded.of(rcu, new Handle(), Handle::close);
      Guarded.Access<Handle> outer = guarded.read();
      Guarded.Access<Handle> leaked = guarded.read();
      outer.close();
      guarded.closeAndWait(LONG);
      try (Section later = rcu.read()) {
        assertThat(later.isOpen()).isTrue();
        assertThatThrownBy(leaked::get).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void theStageCompletesWhenEverythingIsClosedForReal() throws Exception {
    try (Rcu rcu = Rcu.create("stage")) {
      AtomicInteger closed = new AtomicInteger();
      Guarded<Integer> guarded = Guarded.of(rcu, 0, value -> closed.getAndIncrement());
      AtomicInteger seen = new AtomicInteger(-1);
      CompletableFuture<Void> all =
          guarded.closed().thenRun(() -> seen.set(closed.get())).toCompletableFuture();
      for (int i = 1; i < 10; i++) {
        guarded.replace(i);
      }
      Holder holder = new Holder(rcu, Thread.ofPlatform());
      guarded.close();
      Thread.sleep(30);
      assertThat(all).isNotDone();
      holder.leave();
      all.get(40, TimeUnit.SECONDS);
      assertThat(seen).hasValue(10);
      assertThat(guarded.closed().toCompletableFuture()).as("asked afterwards").isCompleted();
    }
  }

  @Test
  void whatACloserThrowsIsToldToWhoeverWaits() {
    try (Rcu rcu = Rcu.create("closer")) {
      Guarded.Closer<String> failing =
          value -> {
            throw new IOException("expected by GuardedTest");
          };
      Guarded<String> guarded = Guarded.of(rcu, "value", failing);
      assertThatThrownBy(() -> guarded.closeAndWait(LONG))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(IOException.class);
      assertThatThrownBy(() -> guarded.closed().toCompletableFuture().join())
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(IOException.class);

      Guarded<String> replaced =
          Guarded.of(
              rcu,
              "bad",
              value -> {
                if (value.equals("bad")) {
                  throw new AssertionError("expected by GuardedTest");
                }
              });
      replaced.replace("good");
      assertThatThrownBy(() -> replaced.closeAndWait(LONG))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(AssertionError.class);
    }
  }

  @Test
  void aTimeOutNamesTheReader() throws Exception {
    try (Rcu rcu = Rcu.create("named")) {
      Handle handle = new Handle();
      Guarded<Handle> guarded = Guarded.of(rcu, handle, Handle::close);
      Holder holder = new Holder(rcu, Thread.ofPlatform().name("index-scan"));
      assertThatThrownBy(() -> guarded.closeAndWait(Duration.ofMillis(50)))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining("still in use by thread index-scan");
      Holder virtual = new Holder(rcu, Thread.ofVirtual());
      holder.leave();
      assertThat(guarded.isClosed()).isTrue();
      Guarded<Handle> other = Guarded.of(rcu, new Handle(), Handle::close);
      assertThatThrownBy(() -> other.closeAndWait(Duration.ofMillis(50)))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining("1 section(s) of virtual threads");
      virtual.leave();
      guarded.closeAndWait(LONG);
      other.closeAndWait(LONG);
      assertThat(handle.closes).hasValue(1);
    }
  }

  @Test
  void closeAndWaitInsideASectionThrowsAndClosesNothing() throws Exception {
    try (Rcu rcu = Rcu.create("inside")) {
      Handle handle = new Handle();
      Guarded<Handle> guarded = Guarded.of(rcu, handle, Handle::close);
      try (Guarded.Access<Handle> access = guarded.read()) {
        assertThatThrownBy(() -> guarded.closeAndWait(LONG))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("would wait for itself");
        assertThat(guarded.isClosed()).isFalse();
        guarded.close();
        assertThat(access.get()).as("still usable in here").isSameAs(handle);
        rcu.callbacks().hurry();
        Thread.sleep(20);
        assertThat(access.get().poisoned).isFalse();
      }
      guarded.closeAndWait(LONG);
      assertThat(handle.closes).hasValue(1);
    }
  }

  @Test
  void anOnlineReaderMayWait() throws Exception {
    try (Rcu rcu = Rcu.create("online")) {
      Guarded<Handle> guarded = Guarded.of(rcu, new Handle(), Handle::close);
      Reader reader = rcu.reader();
      reader.online();
      guarded.closeAndWait(LONG);
      assertThat(reader.isActive()).isTrue();
      reader.offline();
    }
  }

  @Test
  void anInterruptEndsTheWaitAndNotTheClosing() throws Exception {
    try (Rcu rcu = Rcu.create("interrupted")) {
      Handle handle = new Handle();
      Guarded<Handle> guarded = Guarded.of(rcu, handle, Handle::close);
      Holder holder = new Holder(rcu, Thread.ofPlatform());
      AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
      Thread closer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      guarded.closeAndWait(LONG);
                    } catch (TimeoutException | InterruptedException | ExecutionException e) {
                      thrown.set(e);
                    }
                  });
      Waiting.until("closed", guarded::isClosed);
      closer.interrupt();
      Waiting.join(closer);
      assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
      holder.leave();
      guarded.closeAndWait(LONG);
      assertThat(handle.closes).hasValue(1);
    }
  }

  @Test
  void aDomainThatWasClosedFirstStillClosesTheValue() throws Exception {
    Rcu rcu = Rcu.create("gone");
    Handle first = new Handle();
    Handle second = new Handle();
    Guarded<Handle> guarded = Guarded.of(rcu, first, Handle::close);
    rcu.call(() -> {});
    rcu.close();
    try (Guarded.Access<Handle> access = guarded.read()) {
      assertThat(access.get().poisoned).isFalse();
      guarded.replace(second);
    }
    guarded.closeAndWait(LONG);
    assertThat(first.closes).hasValue(1);
    assertThat(second.closes).hasValue(1);
    rcu.close(); // ends the worker that did it
    assertThat(rcu.callbacks().workers()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void everyValueIsClosedOnceAndNeverInUse(Rcu.Flavour flavour) throws Exception {
    try (Rcu rcu = Rcu.builder("stress").flavour(flavour).build()) {
      List<Handle> all = new ArrayList<>();
      Handle initial = new Handle();
      all.add(initial);
      Guarded<Handle> guarded = Guarded.of(rcu, initial, Handle::close);
      AtomicInteger poisoned = new AtomicInteger();
      AtomicBoolean stop = new AtomicBoolean();
      CountDownLatch begun = new CountDownLatch(4);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        Thread.Builder kind = t % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
        threads.add(
            kind.start(
                () -> {
                  begun.countDown();
                  try {
                    while (!stop.get()) {
                      for (int i = 0; i < 50; i++) {
                        try (Guarded.Access<Handle> access = guarded.read()) {
                          Handle handle = access.get();
                          if (i == 0) {
                            Thread.yield(); // a virtual reader may come back on another carrier
                          }
                          if (handle.poisoned || access.get().poisoned) {
                            poisoned.getAndIncrement();
                          }
                        }
                      }
                    }
                  } catch (IllegalStateException closed) {
                    assertThat(closed).hasMessageContaining("this Guarded is closed");
                  }
                }));
      }
      begun.await();
      List<Thread> updaters = new ArrayList<>();
      AtomicInteger refused = new AtomicInteger();
      for (int u = 0; u < 2; u++) {
        updaters.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (int i = 0; i < 1_500; i++) {
                        Handle next = new Handle();
                        try {
                          guarded.replace(next);
                          synchronized (all) {
                            all.add(next);
                          }
                        } catch (IllegalStateException closed) {
                          assertThat(next.poisoned).isFalse();
                          refused.getAndIncrement();
                        }
                        if (i == 1_400) {
                          guarded.close();
                        }
                      }
                    }));
      }
      for (Thread updater : updaters) {
        Waiting.join(updater);
      }
      stop.set(true);
      for (Thread thread : threads) {
        Waiting.join(thread);
      }
      guarded.closeAndWait(LONG);
      assertThat(poisoned).as("uses of a closed value").hasValue(0);
      assertThat(refused.get()).isPositive();
      assertThat(all).allSatisfy(handle -> assertThat(handle.closes).hasValue(1));
    }
  }
}
