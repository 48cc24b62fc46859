package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TscTest {
  @Test
  void readsAndConverts() {
    Needs.facility("code");
    long rate = Tsc.ticksPerSecond();
    assertThat(rate).isBetween(100_000_000L, 20_000_000_000L);
    Tsc.Anchor first = Tsc.anchor();
    long before = MonotonicClock.nanos();
    long stamp = Tsc.readOrdered();
    long after = MonotonicClock.nanos();
    Tsc.Anchor last = Tsc.anchor();
    long tolerance = 50_000;
    assertThat(first.toNanos(stamp, last)).isBetween(before - tolerance, after + tolerance);
    assertThat(first.toNanos(stamp)).isBetween(before - tolerance, after + tolerance);
    assertThat(Tsc.read()).isPositive();
    assertThatThrownBy(() -> last.toNanos(stamp, first))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void scalesWithoutOverflow() {
    assertThat(Tsc.scale(10, 3, 4)).isEqualTo(7);
    assertThat(Tsc.scale(-10, 3, 4)).isEqualTo(-7);
    // A hundred days of ticks at 3 GHz.
    assertThat(Tsc.scale(3_000_000_000L * 8_640_000, 1_000_000_000, 3_000_000_000L))
        .isEqualTo(8_640_000_000_000_000L);
  }

  @Test
  void theClockIsTheKernels() {
    Needs.facility("futex");
    long before = MonotonicClock.nanos();
    long kernel = MonotonicClock.ask();
    assertThat(kernel).isBetween(before, MonotonicClock.nanos());
  }
}
