package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.CpuSet;
import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.Membarrier;
import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.Rseq;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PerCpuOpsTest {
  private static final int STRIDE = 64;

  private static long table() {
    return OffHeap.allocate((long) CpuTopology.tableSize() * STRIDE, STRIDE);
  }

  private static long sum(long table) {
    long sum = 0;
    for (int cpu = 0; cpu < CpuTopology.tableSize(); cpu++) {
      sum += OffHeap.getLongVolatile(table + (long) cpu * STRIDE);
    }
    return sum;
  }

  @Test
  void falseWithoutNativeAccess() {
    if (!OffHeap.isAvailable()) {
      assertThat(PerCpuOps.add(0, STRIDE, 1)).isFalse();
    }
  }

  @Test
  void addsToTheRowOfItsCpu() throws Exception {
    Needs.facility("rseq");
    long table = table();
    int cpu = CpuAffinity.get().highest();
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  CpuAffinity.pinTo(cpu);
                  PerCpuOps.add(table, STRIDE, 5);
                  PerCpuOps.add(table, STRIDE, -7);
                });
    thread.join();
    if (!Rseq.isRowByConcurrencyId()) {
      assertThat(OffHeap.getLong(table + (long) cpu * STRIDE)).isEqualTo(-2);
    }
    assertThat(sum(table)).isEqualTo(-2);
    OffHeap.free(table);
  }

  @Test
  void exactWhileFencesAndMigrationsRestartIt() throws Exception {
    Needs.facility("rseq");
    Needs.facility("membarrier-rseq");
    int threads = 5;
    int rounds = 400_000;
    long table = table();
    CpuSet allowed = CpuAffinity.get();
    int[] cpus = allowed.toArray();
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong fences = new AtomicLong();
    Thread hammer =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!stop.get()) {
                    Membarrier.fenceRseq();
                    fences.incrementAndGet();
                  }
                });
    List<Thread> workers = new ArrayList<>();
    AtomicLong missed = new AtomicLong();
    for (int t = 0; t < threads; t++) {
      int first = t;
      workers.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < rounds; i++) {
                      if (i % 2_000 == 0) {
                        CpuAffinity.pinTo(cpus[(first + i / 2_000) % cpus.length]);
                      }
                      if (!PerCpuOps.add(table, STRIDE, 1)) {
                        missed.incrementAndGet();
                      }
                    }
                  }));
    }
    for (Thread worker : workers) {
      worker.join();
    }
    stop.set(true);
    hammer.join();
    assertThat(missed).hasValue(0);
    assertThat(fences.get()).isPositive();
    assertThat(sum(table)).isEqualTo((long) threads * rounds);
    OffHeap.free(table);
  }

  @Test
  @SuppressWarnings("ThreadPriorityCheck") // The yield is there to change the carrier.
  void exactFromVirtualThreads() throws Exception {
    Needs.facility("rseq");
    long table = table();
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> futures = new ArrayList<>();
      for (int t = 0; t < 500; t++) {
        futures.add(
            executor.submit(
                () -> {
                  for (int i = 0; i < 500; i++) {
                    PerCpuOps.add(table, STRIDE, 1);
                    if (i % 100 == 0) {
                      Thread.yield();
                    }
                  }
                }));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    }
    assertThat(sum(table)).isEqualTo(250_000);
    OffHeap.free(table);
  }
}
