package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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

  /** What {@link Section#close()} does when no call fits any more, less the overflow itself. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCountedSectionWhoseClosingOverflowedIsEndedByTheGracePeriod(boolean virtual)
      throws Exception {
    Rcu rcu = Rcu.builder("overflow").flavour(Rcu.Flavour.SLEEPABLE).build();
    Thread reader =
        (virtual ? Thread.ofVirtual() : Thread.ofPlatform())
            .start(
                () -> {
                  Section first = rcu.read();
                  Section second = rcu.read();
                  second.nextLost = first;
                  rcu.lost = second;
                });
    Waiting.join(reader);
    assertThat(rcu.statistics().openCountedSections()).isEqualTo(2);
    rcu.synchronize(); // would wait for ever
    assertThat(rcu.statistics().openCountedSections()).isZero();
    assertThat(rcu.lost).isNull();
  }
}
