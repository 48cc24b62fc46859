package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Needs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PerCpuCounterTest {
  @Test
  void countsLikeLongAdder() {
    PerCpuCounter counter = PerCpuCounter.create();
    counter.increment();
    counter.add(41);
    counter.decrement();
    assertThat(counter.sum()).isEqualTo(41);
    assertThat(counter).hasToString("41");
    assertThat(counter.longValue()).isEqualTo(41);
    assertThat(counter.intValue()).isEqualTo(41);
    assertThat(counter.doubleValue()).isEqualTo(41.0);
    assertThat(counter.floatValue()).isEqualTo(41.0f);
    assertThat(counter.sumThenReset()).isEqualTo(41);
    assertThat(counter.sum()).isZero();
    counter.add(-5);
    counter.reset();
    assertThat(counter.sumThenReset()).isZero();
    counter.add(Long.MAX_VALUE);
    counter.add(Long.MAX_VALUE);
    assertThat(counter.sum()).isEqualTo(-2);
  }

  @Test
  void neighboursDoNotMix() {
    PerCpuCounter[] counters = new PerCpuCounter[1_000];
    for (int i = 0; i < counters.length; i++) {
      counters[i] = PerCpuCounter.create();
    }
    for (int i = 0; i < counters.length; i++) {
      counters[i].add(i);
    }
    for (int i = 0; i < counters.length; i++) {
      assertThat(counters[i].sum()).isEqualTo(i);
    }
  }

  @Test
  void serializedAsItsValue() throws Exception {
    PerCpuCounter counter = PerCpuCounter.create();
    counter.add(7);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(counter);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      PerCpuCounter read = (PerCpuCounter) in.readObject();
      read.increment();
      assertThat(read.sum()).isEqualTo(8);
    }
  }

  @Test
  void exactWhileSequencesAreRestarted() throws Exception {
    PerCpuCounter counter = PerCpuCounter.create();
    Chaos.run(
        5,
        (thread, random) -> {
          for (int i = 0; i < 100_000; i++) {
            counter.increment();
            Chaos.delay(random);
          }
        });
    assertThat(counter.sum()).isEqualTo(500_000);
  }

  /** Two threads reset while others add, some of them without a row now and then. */
  @Test
  void everyAdditionIsInOneResult() throws Exception {
    PerCpuCounter counter = PerCpuCounter.create();
    AtomicLong handedOut = new AtomicLong();
    AtomicLong added = new AtomicLong();
    AtomicBoolean stop = new AtomicBoolean();
    Chaos.run(
        6,
        (thread, random) -> {
          if (thread < 2) {
            while (!stop.get()) {
              long got = counter.sumThenReset();
              assertThat(got).isNotNegative();
              handedOut.addAndGet(got);
              Chaos.delay(random);
            }
          } else {
            for (int i = 0; i < 60_000; i++) {
              int n = random.nextInt(10);
              counter.add(n);
              added.addAndGet(n);
              Chaos.delay(random);
            }
            stop.set(true);
          }
        });
    assertThat(handedOut.get() + counter.sumThenReset()).isEqualTo(added.get());
    assertThat(counter.sumThenReset()).isZero();
  }

  @Test
  void exactFromVirtualThreads() {
    PerCpuCounter counter = PerCpuCounter.create();
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int t = 0; t < 1_000; t++) {
        executor.execute(
            () -> {
              for (int i = 0; i < 200; i++) {
                counter.increment();
                if (i % 50 == 0) {
                  Thread.yield();
                }
              }
            });
      }
    }
    assertThat(counter.sum()).isEqualTo(200_000);
  }

  @Test
  void reclaimedWhenUnreachable() throws Exception {
    Needs.facility("rseq");
    PerCpuMemory memory = PerCpuMemory.shared();
    long before = memory.usedBytes();
    PerCpuCounter survivor = PerCpuCounter.create();
    for (int i = 0; i < 100_000; i++) {
      PerCpuCounter counter = PerCpuCounter.create();
      counter.increment();
      if (i == 50_000) {
        survivor = counter;
      }
    }
    long most = memory.usedBytes();
    assertThat(most - before).isGreaterThan(0);
    long reserved = memory.reservedBytes();
    for (int i = 0; i < 100 && memory.usedBytes() > before + 8_192; i++) {
      System.gc();
      Thread.sleep(20);
    }
    assertThat(memory.usedBytes() - before).isLessThan(8_192);
    assertThat(survivor.sum()).isEqualTo(1);
    for (int i = 0; i < 50_000; i++) {
      assertThat(PerCpuCounter.create().sum()).isZero(); // words come back as zero
    }
    assertThat(memory.reservedBytes()).isLessThanOrEqualTo(reserved);
  }

  /** Heap and off-heap together, everything that a counter brings with it. */
  @Test
  void aCounterIsSixTimesSmallerThanLongAdder() {
    Needs.facility("rseq");
    int n = 200_000;
    PerCpuCounter[] counters = new PerCpuCounter[n];
    PerCpuCounter.create();
    long words = PerCpuMemory.shared().usedBytes();
    long heap = heap();
    for (int i = 0; i < n; i++) {
      counters[i] = PerCpuCounter.create();
    }
    double heapBytes = (double) (heap() - heap) / n;
    double wordBytes = (double) (PerCpuMemory.shared().usedBytes() - words) / n;
    System.out.printf(
        "a counter takes %.1f bytes of heap and %.1f of words%n", heapBytes, wordBytes);
    assertThat(counters[n - 1].sum()).isZero();
    assertThat(wordBytes).isLessThan(8.1 * PerCpuOps.rows());
    assertThat(heapBytes).isLessThan(40);
  }

  private static long heap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void anAddressFromElsewhereIsRefused() {
    assertThatThrownBy(
            () -> {
              var method =
                  PerCpuCounter.class.getDeclaredMethod("readObject", ObjectInputStream.class);
              method.setAccessible(true);
              method.invoke(PerCpuCounter.create(), (Object) null);
            })
        .hasCauseInstanceOf(java.io.InvalidObjectException.class);
  }
}
