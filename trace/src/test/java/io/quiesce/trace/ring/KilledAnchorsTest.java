package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a kill leaves of the anchors, looked at after each store. */
class KilledAnchorsTest {
  private static final long STEP = 60_000_000;
  private static final long BASE = 3_000_000_000_000L;
  private static final long BEGUN = 7_000_000_000_000L;

  @TempDir Path folder;

  private RingMemory ring() throws IOException {
    return RingMemory.create(
        folder.resolve("buffers"), new RingGeometry(1, 4096, 2, false), Stamps.TSC.code());
  }

  private static final class Watched extends Anchors {
    private final RingMemory ring;
    private final Consumer<Anchors> watcher;
    private int stores;

    Watched(RingMemory ring, Consumer<Anchors> watcher) {
      super(ring);
      this.ring = ring;
      this.watcher = watcher;
    }

    @Override
    void store(long at, long value) {
      super.store(at, value);
      stores++;
      watcher.accept(Anchors.recover(ring));
    }
  }

  /** A counter of 2 GHz whose frequency grows, by a tenth in the end. */
  private static long ticks(long step) {
    return BASE + 2 * step * STEP + step * step * 10_000;
  }

  private static long nanos(long step) {
    return BEGUN + step * STEP;
  }

  /** Enough to be replaced, added, and thinned out. */
  @Test
  void timesAreSoundAfterEachStore() throws Exception {
    try (RingMemory ring = ring()) {
      long[] newest = {-1};
      Watched anchors =
          new Watched(
              ring,
              recovered -> {
                long last = newest[0];
                for (long step : new long[] {0, 1, last / 3, last / 2, last - 2, last - 1, last}) {
                  if (last >= 2) {
                    assertThat(Math.abs(recovered.toNanos(ticks(step)) - nanos(step)))
                        .as("step " + step + " of " + last)
                        .isLessThan(1_000_000);
                  }
                }
              });
      for (long step = 0; step <= 2 * RingLayout.ANCHORS_MAX + 200; step++) {
        newest[0] = step - 1;
        anchors.add(ticks(step), nanos(step));
      }
      assertThat(anchors.stores).isGreaterThan(4 * RingLayout.ANCHORS_MAX);
    }
  }

  /** There are those from before, or the one from after; never none, and never both. */
  @Test
  void aCounterThatBeginsAnewLeavesOneOrTheOther() throws Exception {
    for (int before = 1; before < 9; before++) {
      Path place = folder.resolve("buffers" + before);
      try (RingMemory ring =
          RingMemory.create(place, new RingGeometry(1, 4096, 2, false), Stamps.TSC.code())) {
        int steps = before;
        boolean[] anew = new boolean[1];
        Watched anchors =
            new Watched(
                ring,
                recovered -> {
                  if (anew[0]) {
                    long time = recovered.toNanos(ticks(steps - 1));
                    long near = time < nanos(steps) ? nanos(steps - 1) : nanos(steps + 1);
                    assertThat(time).isBetween(near - 1_000, near + 1_000);
                  }
                });
        for (long step = 0; step < steps; step++) {
          anchors.add(ticks(step), nanos(step));
        }
        anew[0] = true;
        anchors.add(1_000, nanos(steps + 1));
        assertThat(Anchors.recover(ring).toNanos(1_000)).isEqualTo(nanos(steps + 1));
      }
    }
  }
}
