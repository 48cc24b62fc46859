package io.quiesce.percpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WaitFreeQueueTest {
  private static final class Item extends WaitFreeQueue.Node {
    final int producer;
    int number;

    Item(int producer, int number) {
      this.producer = producer;
      this.number = number;
    }
  }

  private static final Item WOULD_BLOCK = new Item(-1, -1);

  private static Item item(int number) {
    return new Item(0, number);
  }

  private static int number(WaitFreeQueue.@Nullable Node node) {
    return node instanceof Item item ? item.number : -100;
  }

  private static List<Integer> walk(WaitFreeQueue.Batch batch) {
    List<Integer> numbers = new ArrayList<>();
    for (WaitFreeQueue.Node node = batch.poll(); node != null; node = batch.poll()) {
      numbers.add(number(node));
    }
    return numbers;
  }

  /** A producer stopped between its two steps. */
  private static final class HalfEnqueue {
    private static final VarHandle NEXT;

    static {
      try {
        NEXT =
            MethodHandles.privateLookupIn(WaitFreeQueue.Node.class, MethodHandles.lookup())
                .findVarHandle(WaitFreeQueue.Node.class, "next", WaitFreeQueue.Node.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private final WaitFreeQueue.Node node;
    private final WaitFreeQueue.Node previous;

    HalfEnqueue(WaitFreeQueue queue, WaitFreeQueue.Node node) throws Exception {
      this.node = node;
      NEXT.set(node, null);
      Field end = WaitFreeQueue.class.getDeclaredField("end");
      end.setAccessible(true);
      Object tail = end.get(queue);
      VarHandle handle =
          MethodHandles.privateLookupIn(WaitFreeQueue.class, MethodHandles.lookup())
              .findVarHandle(end.getType(), "tail", WaitFreeQueue.Node.class);
      previous = (WaitFreeQueue.Node) handle.getAndSet(tail, node);
    }

    void finish() {
      NEXT.setRelease(previous, node);
    }
  }

  @Test
  void firstInFirstOut() {
    WaitFreeQueue queue = new WaitFreeQueue();
    assertThat(queue.isEmpty()).isTrue();
    assertThat(queue.dequeueBlocking()).isNull();
    assertThat(queue.dequeueNonBlocking(WOULD_BLOCK)).isNull();
    assertThat(queue.enqueue(item(1))).as("held something before").isFalse();
    assertThat(queue.enqueue(item(2))).isTrue();
    assertThat(queue.enqueue(item(3))).isTrue();
    assertThat(queue.isEmpty()).isFalse();
    assertThat(number(queue.dequeueBlocking())).isEqualTo(1);
    assertThat(number(queue.dequeueNonBlocking(WOULD_BLOCK))).isEqualTo(2);
    assertThat(queue.enqueue(item(4))).isTrue();
    assertThat(number(queue.dequeueBlocking())).isEqualTo(3);
    assertThat(number(queue.dequeueNonBlocking(WOULD_BLOCK))).isEqualTo(4);
    assertThat(queue.isEmpty()).isTrue();
    assertThat(queue.dequeueBlocking()).isNull();
  }

  @Test
  void splicingTakesEverythingAndLeavesAnEmptyQueue() {
    WaitFreeQueue queue = new WaitFreeQueue();
    assertThat(queue.splice().isEmpty()).isTrue();
    assertThat(queue.splice().poll()).isNull();
    for (int i = 0; i < 5; i++) {
      queue.enqueue(item(i));
    }
    WaitFreeQueue.Batch batch = queue.splice();
    assertThat(queue.isEmpty()).isTrue();
    assertThat(queue.enqueue(item(5))).isFalse();
    assertThat(walk(batch)).containsExactly(0, 1, 2, 3, 4);
    assertThat(batch.isEmpty()).isTrue();
    assertThat(batch.poll()).isNull();
    assertThat(walk(queue.splice())).containsExactly(5);
  }

  @Test
  void aBatchIsAddedInItsOrderAndIsEmptyAfterwards() {
    WaitFreeQueue from = new WaitFreeQueue();
    WaitFreeQueue to = new WaitFreeQueue();
    assertThat(to.enqueueAll(from.splice())).isFalse();
    for (int i = 0; i < 4; i++) {
      from.enqueue(item(i));
    }
    to.enqueue(item(-1));
    WaitFreeQueue.Batch batch = from.splice();
    assertThat(number(batch.poll())).isZero();
    assertThat(to.enqueueAll(batch)).isTrue();
    assertThat(batch.isEmpty()).isTrue();
    assertThat(to.enqueueAll(batch)).as("an empty batch changes nothing").isTrue();
    to.enqueue(item(4));
    assertThat(walk(to.splice())).containsExactly(-1, 1, 2, 3, 4);
    from.enqueue(item(7));
    assertThat(to.enqueueAll(from.splice())).isFalse();
    assertThat(number(to.dequeueBlocking())).isEqualTo(7);
    assertThat(to.isEmpty()).isTrue();
  }

  @Test
  void aProducerBetweenItsStepsMakesTheFirstNodeUnreachable() throws Exception {
    WaitFreeQueue queue = new WaitFreeQueue();
    HalfEnqueue half = new HalfEnqueue(queue, item(1));
    assertThat(queue.isEmpty()).isFalse();
    assertThat(queue.dequeueNonBlocking(WOULD_BLOCK)).isSameAs(WOULD_BLOCK);
    queue.enqueue(item(2));
    assertThat(queue.dequeueNonBlocking(WOULD_BLOCK)).isSameAs(WOULD_BLOCK);
    AtomicReference<WaitFreeQueue.@Nullable Node> got = new AtomicReference<>();
    Thread consumer = Thread.ofPlatform().start(() -> got.set(queue.dequeueBlocking()));
    consumer.join(30);
    assertThat(consumer.isAlive()).as("waits for the store").isTrue();
    half.finish();
    consumer.join();
    assertThat(number(got.get())).isEqualTo(1);
    assertThat(number(queue.dequeueBlocking())).isEqualTo(2);
  }

  @Test
  void aProducerBetweenItsStepsBehindTheLastNodeHoldsThatNode() throws Exception {
    WaitFreeQueue queue = new WaitFreeQueue();
    queue.enqueue(item(1));
    HalfEnqueue half = new HalfEnqueue(queue, item(2));
    for (int i = 0; i < 3; i++) { // a refusal changes nothing
      assertThat(queue.dequeueNonBlocking(WOULD_BLOCK)).isSameAs(WOULD_BLOCK);
      assertThat(queue.isEmpty()).isFalse();
    }
    AtomicReference<WaitFreeQueue.@Nullable Node> got = new AtomicReference<>();
    Thread consumer = Thread.ofPlatform().start(() -> got.set(queue.dequeueBlocking()));
    consumer.join(30);
    assertThat(consumer.isAlive()).isTrue();
    half.finish();
    consumer.join();
    assertThat(number(got.get())).isEqualTo(1);
    assertThat(number(queue.dequeueNonBlocking(WOULD_BLOCK))).isEqualTo(2);
    assertThat(queue.dequeueNonBlocking(WOULD_BLOCK)).isNull();
  }

  @Test
  void aSplicedBatchWaitsForTheLinksThatAreMissing() throws Exception {
    WaitFreeQueue queue = new WaitFreeQueue();
    queue.enqueue(item(1));
    HalfEnqueue half = new HalfEnqueue(queue, item(2));
    queue.enqueue(item(3));
    WaitFreeQueue.Batch batch = queue.splice();
    assertThat(queue.isEmpty()).isTrue();
    List<Integer> got = new ArrayList<>();
    Thread consumer = Thread.ofPlatform().start(() -> got.addAll(walk(batch)));
    consumer.join(30);
    assertThat(consumer.isAlive()).isTrue();
    half.finish();
    consumer.join();
    assertThat(got).containsExactly(1, 2, 3);
  }

  @Test
  void manyProducersOneConsumerAndNodesUsedAgain() throws Exception {
    int producers = 3;
    int each = 60_000;
    WaitFreeQueue queue = new WaitFreeQueue();
    List<WaitFreeQueue> spares = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int p = 0; p < producers; p++) {
      WaitFreeQueue spare = new WaitFreeQueue();
      spares.add(spare);
      int producer = p;
      for (int i = 0; i < 64; i++) {
        spare.enqueue(new Item(producer, 0));
      }
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < each; ) {
                      if (spare.dequeueBlocking() instanceof Item node) {
                        node.number = i++;
                        queue.enqueue(node);
                      } else {
                        Thread.yield();
                      }
                    }
                  }));
    }
    int[] expected = new int[producers];
    int got = 0;
    for (int turn = 0; got < producers * each; turn++) {
      WaitFreeQueue.Batch batch =
          switch (turn % 3) {
            case 0 -> queue.splice();
            case 1 -> one(queue.dequeueBlocking());
            default -> one(queue.dequeueNonBlocking(WOULD_BLOCK));
          };
      if (batch.isEmpty()) {
        Thread.yield();
      }
      while (batch.poll() instanceof Item node) {
        assertThat(node.number).isEqualTo(expected[node.producer]++);
        spares.get(node.producer).enqueue(node);
        got++;
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(queue.isEmpty()).isTrue();
    assertThat(expected).containsOnly(each);
  }

  private static WaitFreeQueue.Batch one(WaitFreeQueue.@Nullable Node node) {
    return node == WOULD_BLOCK
        ? new WaitFreeQueue.Batch(null, null)
        : new WaitFreeQueue.Batch(node, node);
  }

  /** A node that its owner keeps must not keep everything that was ever queued behind it. */
  @Test
  void aDequeuedNodeKeepsNothingAlive() throws Exception {
    WaitFreeQueue queue = new WaitFreeQueue();
    List<WaitFreeQueue.@Nullable Node> kept = new ArrayList<>();
    List<WeakReference<Item>> gone = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      queue.enqueue(item(1));
      Item second = item(2);
      gone.add(new WeakReference<>(second));
      queue.enqueue(second);
      if (round == 0) {
        kept.add(queue.dequeueBlocking());
        queue.dequeueBlocking();
      } else {
        WaitFreeQueue.Batch batch = queue.splice();
        kept.add(batch.poll());
        batch.poll();
      }
    }
    for (int i = 0; i < 100 && gone.stream().anyMatch(item -> item.get() != null); i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertThat(gone).allSatisfy(item -> assertThat(item.get()).isNull());
    assertThat(kept).hasSize(2);
  }
}
