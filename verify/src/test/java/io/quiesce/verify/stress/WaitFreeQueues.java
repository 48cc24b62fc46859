package io.quiesce.verify.stress;

import io.quiesce.percpu.WaitFreeQueue;
import io.quiesce.verify.BrokenQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * {@link WaitFreeQueue}: nothing lost, nothing twice, each producer's nodes in its order, contents
 * of a node seen by whoever takes it (Q.1, Q.2). Two actors at a time, so that they run on two
 * CPUs; Lincheck has three.
 */
final class WaitFreeQueues {
  private WaitFreeQueues() {}

  /** A node with a plain field: it must be seen by the consumer (Q.2). */
  static final class Item extends WaitFreeQueue.Node {
    int value;

    Item(int value) {
      this.value = value;
    }
  }

  static char take(WaitFreeQueue queue) {
    Item item = (Item) queue.dequeueBlocking();
    return item == null ? '-' : (char) ('0' + item.value);
  }

  static char next(WaitFreeQueue.Batch batch) {
    Item item = (Item) batch.poll();
    return item == null ? '-' : (char) ('0' + item.value);
  }

  /** Two producers. */
  @JCStressTest
  @Outcome(id = "12-", expect = Expect.ACCEPTABLE, desc = "One order.")
  @Outcome(id = "21-", expect = Expect.ACCEPTABLE, desc = "The other.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, twice, or not seen.")
  @State
  public static class TwoProducers {
    private final WaitFreeQueue queue = new WaitFreeQueue();

    @Actor
    public void one() {
      queue.enqueue(new Item(1));
    }

    @Actor
    public void two() {
      queue.enqueue(new Item(2));
    }

    @Arbiter
    public void rest(L_Result r) {
      r.r1 = "" + take(queue) + take(queue) + take(queue);
    }
  }

  /** A producer of two against a consumer that dequeues two. */
  @JCStressTest
  @Outcome(
      id = {"12/--", "1-/2-", "--/12", "-1/2-"},
      expect = Expect.ACCEPTABLE,
      desc = "In order.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, twice, out of order, or not seen.")
  @State
  public static class ProducerAndConsumer {
    private final WaitFreeQueue queue = new WaitFreeQueue();
    private String taken = "";

    @Actor
    public void producer() {
      queue.enqueue(new Item(1));
      queue.enqueue(new Item(2));
    }

    @Actor
    public void consumer() {
      taken = "" + take(queue) + take(queue);
    }

    @Arbiter
    public void rest(L_Result r) {
      r.r1 = taken + "/" + take(queue) + take(queue);
    }
  }

  /** The same with the form that does not wait; '?' is "would have to". */
  @JCStressTest
  @Outcome(
      id = "12/--|1[-?]/2-|[-?]{2}/12|[-?]1/2-",
      expect = Expect.ACCEPTABLE,
      desc = "In order.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, twice, out of order, or not seen.")
  @State
  public static class ProducerAndNonBlockingConsumer {
    private static final Item FULL = new Item('?' - '0');
    private final WaitFreeQueue queue = new WaitFreeQueue();
    private String taken = "";

    @Actor
    public void producer() {
      queue.enqueue(new Item(1));
      queue.enqueue(new Item(2));
    }

    @Actor
    public void consumer() {
      taken = "" + tryTake() + tryTake();
    }

    private char tryTake() {
      Item item = (Item) queue.dequeueNonBlocking(FULL);
      return item == null ? '-' : (char) ('0' + item.value);
    }

    @Arbiter
    public void rest(L_Result r) {
      r.r1 = taken + "/" + take(queue) + take(queue);
    }
  }

  /** A producer of two against a splice. */
  @JCStressTest
  @Outcome(
      id = {"12-/--", "1--/2-", "---/12"},
      expect = Expect.ACCEPTABLE,
      desc = "In order.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, twice, out of order, or not seen.")
  @State
  public static class ProducerAndSplice {
    private final WaitFreeQueue queue = new WaitFreeQueue();
    private String taken = "";

    @Actor
    public void producer() {
      queue.enqueue(new Item(1));
      queue.enqueue(new Item(2));
    }

    @Actor
    public void consumer() {
      WaitFreeQueue.Batch batch = queue.splice();
      taken = "" + next(batch) + next(batch) + next(batch);
    }

    @Arbiter
    public void rest(L_Result r) {
      r.r1 = taken + "/" + take(queue) + take(queue);
    }
  }

  /** Broken: the tail is loaded and stored where it must be exchanged. */
  @JCStressTest
  @Outcome(id = "3", expect = Expect.ACCEPTABLE, desc = "Both are there.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "One is lost.")
  @State
  public static class NoExchangeTwin {
    private final BrokenQueue queue = new BrokenQueue();

    @Actor
    public void one() {
      queue.enqueue(1);
    }

    @Actor
    public void two() {
      queue.enqueue(2);
    }

    @Arbiter
    public void rest(I_Result r) {
      r.r1 = queue.dequeue() + queue.dequeue();
    }
  }
}
