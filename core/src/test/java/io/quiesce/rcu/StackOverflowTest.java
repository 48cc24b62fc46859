package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** try-with-resources loses sections when the stack overflows in their opening or closing. */
@Timeout(120)
class StackOverflowTest {
  private static int depth(Supplier<Section> read) {
    try (Section s = read.get()) {
      return s.isOpen() ? 1 + depth(read) : 0;
    }
  }

  /** Opens an outermost section at every depth near the end of the stack. */
  @SuppressWarnings("InfiniteRecursion") // it is meant
  private static int outermost(Supplier<Section> read) {
    int opened = 0;
    try {
      opened = outermost(read);
    } catch (StackOverflowError here) {
      opened = 0;
    }
    if (opened < 400) {
      try (Section s = read.get()) {
        opened += s.isOpen() ? 1 : 0;
      } catch (StackOverflowError again) {
        opened += 0;
      }
    }
    return opened;
  }

  private static void onSmallStack(Runnable body) throws InterruptedException {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    Thread thread =
        Thread.ofPlatform()
            .stackSize(512 << 10)
            .start(
                () -> {
                  try {
                    body.run();
                  } catch (Throwable t) {
                    failure.set(t);
                  }
                });
    Waiting.join(thread);
    assertThat(failure.get()).isNull();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theOuterCloseHealsWhatTheOverflowLost(boolean explicit) throws Exception {
    Rcu rcu = Rcu.create("overflow");
    onSmallStack(
        () -> {
          Reader reader = rcu.reader();
          Supplier<Section> read = explicit ? reader::read : rcu::read;
          for (int round = 0; round < 20; round++) {
            try (Section outer = read.get()) {
              assertThat(outer.isOpen()).isTrue();
              try {
                depth(read);
              } catch (StackOverflowError expected) {
                assertThat(outer.isOpen()).isTrue();
              }
            }
            assertThat(reader.isActive()).isFalse();
            rcu.synchronize();
          }
        });
  }

  @Test
  void countedSectionsAreNotLostEither() throws Exception {
    Rcu rcu = Rcu.builder("overflow").flavour(Rcu.Flavour.SLEEPABLE).build();
    onSmallStack(
        () -> {
          for (int round = 0; round < 50; round++) {
            outermost(rcu::read);
            try {
              depth(rcu::read);
            } catch (StackOverflowError expected) {
              assertThat(rcu.isReading()).isFalse();
            }
            rcu.synchronize(); // would wait for ever
          }
        });
    assertThat(rcu.statistics().openCountedSections()).isZero();
  }
}
