package io.quiesce.trace.ctf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The clock of a trace, called {@code monotonic}: ticks, and when they began. Immutable.
 *
 * <p>A tick {@code t} is the moment {@code offsetSeconds + (offsetTicks + t) / frequency}, in
 * seconds since 1970. Readers put events of several traces in order by it; LTTng's traces of this
 * host have the same clock, {@link #monotonic()}.
 *
 * @param uuid tells clocks apart; LTTng takes the kernel's boot id; null leaves it out
 * @param frequency ticks per second
 * @param offsetSeconds whole seconds from 1970 to tick 0
 * @param offsetTicks the rest, in ticks, below the frequency
 */
public record Clock(@Nullable UUID uuid, long frequency, long offsetSeconds, long offsetTicks) {
  private static final long NANOS = 1_000_000_000L;
  private static final int ATTEMPTS = 16;

  public Clock {
    if (frequency <= 0 || offsetTicks < 0 || offsetTicks >= frequency) {
      throw new IllegalArgumentException(
          "A clock ticks, and its offset is less than a second: " + offsetTicks + "/" + frequency);
    }
  }

  /**
   * The kernel's CLOCK_MONOTONIC in nanoseconds, which is what {@link System#nanoTime()} reads on
   * Linux.
   *
   * <p>The offset comes from both clocks, read one inside the other several times; the tightest
   * pair counts, so it is right to a few hundred nanoseconds. A later step of the wall clock does
   * not reach a trace: its times stay as they would have been.
   */
  public static Clock monotonic() {
    return monotonic(Instant::now);
  }

  /** With another wall clock, for tests. */
  static Clock monotonic(Supplier<Instant> wallClock) {
    long best = Long.MAX_VALUE;
    long offset = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
      long before = System.nanoTime();
      Instant wall = wallClock.get();
      long width = System.nanoTime() - before;
      if (width < best) {
        best = width;
        offset = wall.getEpochSecond() * NANOS + wall.getNano() - (before + width / 2);
      }
    }
    return new Clock(bootId(), NANOS, Math.floorDiv(offset, NANOS), Math.floorMod(offset, NANOS));
  }

  /** The kernel's boot id, or null where there is none. */
  static @Nullable UUID bootId() {
    try {
      return UUID.fromString(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip());
    } catch (IOException | IllegalArgumentException _) {
      return null;
    }
  }
}
