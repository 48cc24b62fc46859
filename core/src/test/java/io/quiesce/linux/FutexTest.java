package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FutexTest {
  @BeforeEach
  void needed() {
    Needs.facility("futex");
  }

  @Test
  void timesOutOnlyAfterTheTime() {
    long word = OffHeap.allocate(4, 4);
    long before = System.nanoTime();
    boolean woken = true;
    while (woken) {
      woken = Futex.await(word, 0, 20_000_000);
    }
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(20_000_000);
    assertThat(Futex.await(word, 0, 0)).isFalse();
    assertThat(Futex.await(word, 1, -1)).as("another value: no sleep").isTrue();
    assertThat(Futex.wake(word, 1)).isZero();
    OffHeap.free(word);
  }

  @Test
  void wakes() throws Exception {
    long word = OffHeap.allocate(4, 4);
    FutureTask<Boolean> sleeper =
        new FutureTask<>(
            () -> {
              boolean result = true;
              while (OffHeap.getIntVolatile(word) == 0) {
                result &= Futex.await(word, 0, -1);
              }
              return result;
            });
    Thread.ofPlatform().daemon().start(sleeper);
    int woken = 0;
    for (int i = 0; i < 5000 && woken == 0; i++) {
      woken = Futex.wake(word, 1);
      Thread.sleep(1);
    }
    assertThat(woken).isEqualTo(1);
    OffHeap.setIntVolatile(word, 1);
    Futex.wake(word, Integer.MAX_VALUE);
    assertThat(sleeper.get(10, TimeUnit.SECONDS)).isTrue();
    OffHeap.free(word);
  }

  @Test
  void badAddressesAreTyped() {
    assertThatThrownBy(() -> Futex.await(1, 0, 0))
        .isInstanceOf(LinuxException.class)
        .hasMessageContaining("EINVAL");
    assertThatThrownBy(() -> Futex.await(8, 0, 0))
        .isInstanceOf(LinuxException.class)
        .hasMessageContaining("EFAULT");
    assertThatThrownBy(() -> Futex.wake(1, 1)).isInstanceOf(LinuxException.class);
  }
}
