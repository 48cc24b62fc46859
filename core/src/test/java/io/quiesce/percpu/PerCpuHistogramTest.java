package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Needs;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class PerCpuHistogramTest {
  /** Random settings and values, with every number that HdrHistogram reports. */
  @Test
  void equalToHdrHistogram() {
    SplittableRandom random = new SplittableRandom(11);
    for (int round = 0; round < 60; round++) {
      int digits = random.nextInt(1, round % 10 == 0 ? 6 : 4);
      long lowest = round % 3 == 0 ? 1 : random.nextLong(1, 1L << random.nextInt(2, 20));
      long highest = Math.max(2 * lowest, random.nextLong(2, 1L << random.nextInt(3, 45)));
      Histogram hdr = new Histogram(lowest, highest, digits);
      PerCpuHistogram ours = PerCpuHistogram.create(lowest, highest, digits);
      int values = random.nextInt(0, 400);
      for (int i = 0; i < values; i++) {
        long value = random.nextLong(0, random.nextLong(highest) + 1);
        value = i == 0 ? highest : value;
        hdr.recordValue(value);
        ours.record(value);
      }
      HistogramSnapshot snapshot = ours.snapshot();
      Histogram copy = new Histogram(lowest, highest, digits);
      snapshot.forEach(copy::recordValueWithCount);
      assertThat(copy).isEqualTo(hdr);
      assertThat(snapshot.totalCount()).isEqualTo(hdr.getTotalCount());
      assertThat(snapshot.max()).isEqualTo(hdr.getMaxValue());
      if (values > 0) {
        assertThat(snapshot.min()).isEqualTo(hdr.getMinValue());
      }
      assertThat(snapshot.mean()).isEqualTo(hdr.getMean());
      for (double p : new double[] {0, 1, 25, 50, 90, 99, 99.9, 99.99, 100}) {
        assertThat(snapshot.valueAtPercentile(p))
            .as("p" + p)
            .isEqualTo(hdr.getValueAtPercentile(p));
      }
    }
  }

  @Test
  void layoutIsThatOfHdrHistogramUpToTheLargest() {
    for (int digits = 1; digits <= 5; digits++) {
      for (long lowest : new long[] {1, 2, 1_000, 1_024}) {
        HistogramLayout layout = new HistogramLayout(lowest, Long.MAX_VALUE, digits);
        Histogram hdr = new Histogram(lowest, Long.MAX_VALUE, digits);
        assertThat(layout.value(layout.index(Long.MAX_VALUE)))
            .isEqualTo(hdr.lowestEquivalentValue(Long.MAX_VALUE));
        for (long value = 1; value > 0; value = value * 3 + 1) {
          int index = layout.index(value);
          assertThat(index).isBetween(0, layout.length() - 1);
          assertThat(layout.value(index)).isEqualTo(hdr.lowestEquivalentValue(value));
          assertThat(layout.lastValue(index)).isEqualTo(hdr.highestEquivalentValue(value));
          assertThat(layout.middleValue(index)).isEqualTo(hdr.medianEquivalentValue(value));
        }
      }
    }
  }

  @Test
  void tooHighIsCountedApartAndNegativeRefused() {
    PerCpuHistogram histogram = PerCpuHistogram.create(1_000, 2);
    histogram.record(1_000);
    histogram.record(1_001);
    histogram.record(Long.MAX_VALUE);
    HistogramSnapshot snapshot = histogram.snapshot();
    assertThat(snapshot.totalCount()).isEqualTo(1);
    assertThat(snapshot.overflowCount()).isEqualTo(2);
    assertThat(snapshot).hasToString(histogram.toString());
    assertThatThrownBy(() -> histogram.record(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PerCpuHistogram.create(0, 10, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PerCpuHistogram.create(10, 19, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PerCpuHistogram.create(100, 6))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PerCpuHistogram.create(1L << 50, Long.MAX_VALUE, 5))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void intervalsAreExact() throws Exception {
    PerCpuHistogram histogram = PerCpuHistogram.create(100_000, 2);
    AtomicLong taken = new AtomicLong();
    AtomicBoolean stop = new AtomicBoolean();
    Chaos.run(
        5,
        (thread, random) -> {
          if (thread == 0) {
            while (!stop.get()) {
              HistogramSnapshot interval = histogram.snapshotThenReset();
              interval.forEach((value, count) -> assertThat(count).isPositive());
              taken.addAndGet(interval.totalCount());
              Thread.sleep(1);
            }
          } else {
            for (int i = 0; i < 50_000; i++) {
              histogram.record(random.nextInt(100_000));
              Chaos.delay(random);
            }
            stop.set(true);
          }
        });
    assertThat(taken.get() + histogram.snapshotThenReset().totalCount()).isEqualTo(200_000);
    assertThat(histogram.snapshot().totalCount()).isZero();
    histogram.record(5);
    histogram.reset();
    assertThat(histogram.snapshot().totalCount()).isZero();
  }

  @Test
  void reclaimedWhenUnreachable() throws Exception {
    Needs.facility("native");
    long before = PerCpuMemory.shared().usedBytes();
    for (int i = 0; i < 100; i++) {
      PerCpuHistogram.create(100, 1).record(1);
    }
    assertThat(PerCpuMemory.shared().usedBytes()).isGreaterThan(before);
    for (int i = 0; i < 100 && PerCpuMemory.shared().usedBytes() > before; i++) {
      System.gc();
      Thread.sleep(20);
    }
    assertThat(PerCpuMemory.shared().usedBytes()).isLessThanOrEqualTo(before);
  }
}
