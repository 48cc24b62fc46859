package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class PerCpuBufferTest {
  @Test
  void boundedPerCpuAndNothingLost() {
    PerCpuBuffer buffer = PerCpuBuffer.create(8);
    assertThat(buffer.poll()).isZero();
    int taken = 0;
    while (taken < 10_000 && buffer.offer(taken + 1)) {
      taken++;
    }
    assertThat(taken).isBetween(8, 8 * PerCpuOps.rows());
    assertThat(buffer.size()).isEqualTo(taken);
    List<Long> seen = new ArrayList<>();
    assertThat(buffer.drain(seen::add)).isEqualTo(taken);
    assertThat(seen).hasSize(taken).doesNotHaveDuplicates().allMatch(value -> value > 0);
    assertThat(buffer.size()).isZero();
    assertThat(buffer.offer(1)).isTrue();
    assertThat(buffer.drain(value -> {})).isEqualTo(1);
    assertThat(buffer.capacityPerRow()).isEqualTo(8);
    buffer.close();
  }

  @Test
  void wrongArgumentsAreRefused() {
    PerCpuBuffer buffer = PerCpuBuffer.create(4);
    assertThatThrownBy(() -> buffer.offer(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buffer.offer(-3)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buffer.offerMany(8, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buffer.pollMany(8, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PerCpuBuffer.create(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PerCpuBuffer.create(1 << 21))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void closedForOffersAndPollsButNotForDrain() {
    PerCpuBuffer buffer = PerCpuBuffer.create(8);
    buffer.offer(5);
    buffer.offer(6);
    buffer.close();
    buffer.close();
    assertThatThrownBy(() -> buffer.offer(7)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(buffer::poll).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> buffer.offerMany(8, 0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> buffer.pollMany(8, 0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () ->
                buffer.drain(
                    value -> {
                      throw new IllegalArgumentException("no");
                    }))
        .hasMessage("no");
    assertThat(buffer.drain(value -> {})).isEqualTo(1);
    assertThat(buffer.drain(value -> {})).isZero();
  }

  @Test
  void severalAtOnce() {
    Needs.facility("native");
    PerCpuBuffer buffer = PerCpuBuffer.create(1_000); // more than a shared block likes: its own
    long from = OffHeap.allocate(80, 8);
    long to = OffHeap.allocate(80, 8);
    for (int i = 0; i < 10; i++) {
      OffHeap.putLong(from + i * 8L, i + 1);
    }
    assertThat(buffer.offerMany(from, 0)).isZero();
    assertThat(buffer.offerMany(from, 10)).isEqualTo(10);
    assertThat(buffer.size()).isEqualTo(10);
    int got = 0;
    long sum = 0;
    while (got < 10) {
      int n = buffer.pollMany(to, 4);
      for (int i = 0; i < n; i++) {
        sum += OffHeap.getLong(to + i * 8L);
      }
      got += n;
      if (n == 0) {
        got += buffer.drain(value -> {});
        sum = 55;
      }
    }
    assertThat(sum).isEqualTo(55);
    buffer.close();
    OffHeap.free(from);
    OffHeap.free(to);
  }

  /** Values wander; each is in one place at a time, with drains and several at once. */
  @Test
  void everyValueHasOneOwner() throws Exception {
    int count = 300;
    boolean many = OffHeap.isAvailable();
    PerCpuBuffer buffer = PerCpuBuffer.create(64);
    AtomicIntegerArray owners = new AtomicIntegerArray(count + 1);
    AtomicInteger next = new AtomicInteger();
    Chaos.run(
        6,
        (thread, random) -> {
          long[] mine = new long[count];
          int held = 0;
          long block = many ? OffHeap.allocate(16 * 8, 8) : 0;
          for (int i = 0; i < 30_000; i++) {
            int fresh;
            int dice = random.nextInt(100);
            if (dice < 2 && (fresh = next.incrementAndGet()) <= count) {
              owners.set(fresh, thread + 1);
              mine[held++] = fresh;
            } else if (dice < 45 && held > 0) {
              long value = mine[held - 1];
              assertThat(owners.compareAndSet((int) value, thread + 1, 0)).isTrue();
              if (buffer.offer(value)) {
                held--;
              } else {
                owners.set((int) value, thread + 1);
              }
            } else if (dice < 55 && many && held >= 8) {
              for (int k = 0; k < 8; k++) {
                OffHeap.putLong(block + k * 8L, mine[held - 8 + k]);
                owners.set((int) mine[held - 8 + k], 0);
              }
              int done = buffer.offerMany(block, 8);
              for (int k = done; k < 8; k++) {
                owners.set((int) mine[held - 8 + k], thread + 1);
              }
              System.arraycopy(mine, held - 8 + done, mine, held - 8, 8 - done);
              held -= done;
            } else if (dice < 65 && many && held < count - 16) {
              int done = buffer.pollMany(block, 16);
              for (int k = 0; k < done; k++) {
                long value = OffHeap.getLong(block + k * 8L);
                assertThat(owners.compareAndSet((int) value, 0, thread + 1)).isTrue();
                mine[held++] = value;
              }
            } else if (dice < 66 && thread == 0) {
              List<Long> drained = new ArrayList<>();
              buffer.drain(drained::add);
              for (long value : drained) {
                assertThat(owners.compareAndSet((int) value, 0, thread + 1)).isTrue();
                mine[held++] = value;
              }
            } else {
              long value = buffer.poll();
              if (value != 0) {
                assertThat(owners.compareAndSet((int) value, 0, thread + 1)).isTrue();
                mine[held++] = value;
              }
            }
            Chaos.delay(random);
          }
          if (many) {
            OffHeap.free(block);
          }
        });
    buffer.close();
    buffer.drain(value -> assertThat(owners.compareAndSet((int) value, 0, 99)).isTrue());
    for (int i = 1; i <= Math.min(count, next.get()); i++) {
      assertThat(owners.get(i)).as("value " + i).isPositive();
    }
  }
}
