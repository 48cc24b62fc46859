package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PerCpuStackTest {
  private static final long NODE = 32;

  @BeforeEach
  void nativeAccessOrItsRefusal() {
    if (!OffHeap.isAvailable()) {
      assertThatThrownBy(PerCpuStack::create).isInstanceOf(UnsupportedOperationException.class);
    }
    Needs.facility("native");
  }

  @Test
  void lastInFirstOutOnOneCpu() {
    long nodes = OffHeap.allocate(10 * NODE, 16);
    try (PerCpuStack stack = PerCpuStack.create(8)) {
      assertThat(stack.pop()).isZero();
      for (int i = 0; i < 10; i++) {
        stack.push(nodes + i * NODE);
      }
      List<Long> seen = new ArrayList<>();
      for (long node = stack.popAny(); node != 0; node = stack.popAny()) {
        seen.add(node);
      }
      assertThat(seen).hasSize(10).doesNotHaveDuplicates();
      assertThat(stack.drain(node -> {})).isZero();
    }
    OffHeap.free(nodes);
  }

  @Test
  void wrongNodesAreRefused() {
    try (PerCpuStack stack = PerCpuStack.create()) {
      for (long wrong : new long[] {0, 4, -8, 1L << 47, (1L << 47) - 8}) {
        assertThatThrownBy(() -> stack.push(wrong)).isInstanceOf(IllegalArgumentException.class);
      }
    }
    assertThatThrownBy(() -> PerCpuStack.create(4)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void closedForPushAndPopButNotForDrain() {
    long nodes = OffHeap.allocate(10 * NODE, 16);
    PerCpuStack stack = PerCpuStack.create();
    for (int i = 0; i < 10; i++) {
      stack.push(nodes + i * NODE);
    }
    stack.close();
    stack.close();
    assertThatThrownBy(() -> stack.push(nodes)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(stack::pop).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(stack::popAny).isInstanceOf(IllegalStateException.class);
    AtomicInteger calls = new AtomicInteger();
    assertThatThrownBy(
            () ->
                stack.drain(
                    node -> {
                      if (calls.incrementAndGet() == 4) {
                        throw new IllegalArgumentException("enough");
                      }
                    }))
        .hasMessage("enough");
    assertThat(stack.drain(node -> {})).isEqualTo(6);
    assertThat(stack.drain(node -> {})).isZero();
    OffHeap.free(nodes);
  }

  @Test
  void aConsumerThatThrowsLeavesTheRest() {
    long nodes = OffHeap.allocate(10 * NODE, 16);
    try (PerCpuStack stack = PerCpuStack.create()) {
      for (int i = 0; i < 10; i++) {
        stack.push(nodes + i * NODE);
      }
      assertThatThrownBy(
              () ->
                  stack.drain(
                      node -> {
                        throw new IllegalArgumentException("no");
                      }))
          .hasMessage("no");
      int count = 0;
      while (stack.popAny() != 0) {
        count++;
      }
      assertThat(count).isEqualTo(9);
    }
    OffHeap.free(nodes);
  }

  /** Nodes wander; each has one owner at a time, and none is lost, with thieves and drains. */
  @Test
  void everyNodeHasOneOwner() throws Exception {
    int count = 400;
    long nodes = OffHeap.allocate((long) count * NODE, 16);
    PerCpuStack stack = PerCpuStack.create();
    for (int i = 0; i < count; i++) {
      stack.push(nodes + (long) i * NODE);
    }
    Chaos.run(
        6,
        (thread, random) -> {
          long[] mine = new long[20];
          int held = 0;
          for (int i = 0; i < 30_000; i++) {
            if (held > 0 && (held == mine.length || random.nextBoolean())) {
              long node = mine[--held];
              assertThat(OffHeap.getLong(node + 8)).isEqualTo(thread + 1);
              OffHeap.putLong(node + 8, 0);
              stack.push(node);
            } else if (thread == 0 && random.nextInt(200) == 0) {
              stack.drain(stack::push);
            } else {
              long node = random.nextInt(20) == 0 ? stack.popAny() : stack.pop();
              if (node != 0) {
                assertThat(OffHeap.compareAndSetLong(node + 8, 0, thread + 1L)).isTrue();
                mine[held++] = node;
              }
            }
            Chaos.delay(random);
          }
          while (held > 0) {
            OffHeap.putLong(mine[--held] + 8, 0);
            stack.push(mine[held]);
          }
        });
    BitSet seen = new BitSet();
    stack.close();
    assertThat(stack.drain(node -> seen.set((int) ((node - nodes) / NODE)))).isEqualTo(count);
    assertThat(seen.cardinality()).isEqualTo(count);
    OffHeap.free(nodes);
  }

  /** librseq's list test: 200 threads, once each, and the sum of what is left. */
  @Test
  void sumOfTheNodesWithTwoHundredThreads() throws Exception {
    int count = 200;
    long nodes = OffHeap.allocate((long) count * NODE, 16);
    long expected = 0;
    PerCpuStack stack = PerCpuStack.create();
    for (int i = 0; i < count; i++) {
      OffHeap.putLong(nodes + (long) i * NODE + 8, i + 1);
      expected += i + 1;
      stack.push(nodes + (long) i * NODE);
    }
    Chaos.run(
        200,
        (thread, random) -> {
          for (int i = 0; i < 200; i++) {
            long node = stack.pop();
            Chaos.delay(random);
            if (node != 0) {
              stack.push(node);
            }
          }
        });
    long[] sum = new long[1];
    stack.drain(node -> sum[0] += OffHeap.getLong(node + 8));
    assertThat(sum[0]).isEqualTo(expected);
    stack.close();
    OffHeap.free(nodes);
  }

  /** Everything goes through the closing: pushes succeed and are drained, or throw. */
  @Test
  void nothingIsLostByClosing() throws Exception {
    for (int round = 0; round < 20; round++) {
      int count = 2_000;
      long nodes = OffHeap.allocate((long) count * NODE, 16);
      PerCpuStack stack = PerCpuStack.create();
      AtomicInteger pushed = new AtomicInteger();
      Chaos.run(
          3,
          (thread, random) -> {
            if (thread == 2) {
              Thread.sleep(0, random.nextInt(900_000));
              stack.close();
              return;
            }
            for (int i = thread; i < count; i += 2) {
              try {
                stack.push(nodes + (long) i * NODE);
              } catch (IllegalStateException closed) {
                return;
              }
              pushed.incrementAndGet();
            }
          });
      assertThat(stack.drain(node -> {})).isEqualTo(pushed.get());
      OffHeap.free(nodes);
    }
  }
}
