package io.quiesce.percpu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A multi-producer queue whose enqueue is wait-free: one exchange and one store, whatever others
 * do.
 *
 * <h2>Algorithm</h2>
 *
 * The queue is a singly linked list that begins with a dummy node. {@code tail} names the last
 * node. To enqueue, a producer <em>exchanges</em> {@code tail} for its node and only then stores
 * its node into {@code next} of the node that it got back:
 *
 * <pre>
 *   dummy -> a -> b      c          tail = c, b.next not stored yet
 *                    ^ the producer of c stands between its exchange and its store
 * </pre>
 *
 * Between the two, the list is cut: a consumer that reaches {@code b} sees no next node although
 * {@code tail} says that there is one. It then either waits for the store (the <em>blocking</em>
 * forms: they spin, then yield, since the producer has one store to go) or says so (the
 * <em>non-blocking</em> forms). A queue is empty when {@code tail} is the dummy; that test never
 * waits and is what a sleeping consumer must look at, because the exchange on {@code tail} is the
 * producer's full barrier ({@code docs/ordering.md}, Q.1).
 *
 * <p>The last node can leave only together with {@code tail}: the consumer takes it by
 * compare-and-swap of {@code tail} back to the dummy, and if that fails a producer has already
 * exchanged it, so its store is waited for.
 *
 * <p>Splicing takes everything at once: {@code dummy.next} is cut off and {@code tail} is exchanged
 * for the dummy; what is between is the {@link Batch}.
 *
 * <p>Enqueue: any number of threads. Everything else: one consumer at a time (callers that have
 * several hold a lock of their own). A node may be in one queue at a time, and may be enqueued
 * again as soon as it has been dequeued.
 *
 * <p>Source: the {@code wfcqueue} of userspace RCU, as described by its authors (Desnoyers, Lai);
 * the {@code call_rcu} patch of June 2011.
 */
public final class WaitFreeQueue {
  private static final VarHandle TAIL;
  private static final VarHandle NEXT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(Tail.class, "tail", Node.class);
      NEXT = lookup.findVarHandle(Node.class, "next", Node.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** How often a blocking form looks at a missing link before it starts to yield. */
  private static final int SPINS = 128;

  /** The link that an element of the queue carries. Extend it; the queue allocates nothing. */
  public abstract static class Node {
    private @Nullable Node next;

    /** For subclasses. */
    protected Node() {}

    final @Nullable Node nextAcquire() {
      return (Node) NEXT.getAcquire(this);
    }
  }

  private static final class Dummy extends Node {}

  /** Keeps the word that all producers write off the lines that the consumer reads. */
  @SuppressWarnings("UnusedVariable")
  private static class Before {
    long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
  }

  private static class Tail extends Before {
    Node tail;

    Tail(Node first) {
      this.tail = first;
    }
  }

  @SuppressWarnings("UnusedVariable")
  private static final class PaddedTail extends Tail {
    long q00, q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, q11, q12, q13, q14, q15;

    PaddedTail(Node first) {
      super(first);
    }
  }

  private final Node dummy = new Dummy();
  private final Tail end = new PaddedTail(dummy);

  /** Creates an empty queue. */
  public WaitFreeQueue() {}

  /**
   * Adds a node at the end. Wait-free; a full barrier stands between the addition and everything
   * after it (Q.1).
   *
   * @param node a node that is in no queue
   * @return whether the queue held anything before
   */
  public boolean enqueue(Node node) {
    NEXT.set(node, null); // nobody else can see the node yet
    return append(node, node);
  }

  /**
   * Adds a whole batch at the end, in its order. Wait-free. The batch is empty afterwards.
   *
   * @param batch what {@link #splice()} returned, of this or another queue
   * @return whether the queue held anything before
   */
  public boolean enqueueAll(Batch batch) {
    Node first = batch.first;
    Node last = batch.last;
    if (first == null || last == null) {
      return !isEmpty();
    }
    batch.first = null;
    batch.last = null;
    return append(first, last);
  }

  private boolean append(Node first, Node last) {
    // Q.1: full barrier; the consumer that reads this tail, or does not, is ordered by it.
    Node previous = (Node) TAIL.getAndSet(end, last);
    // Q.2: release; pairs with the acquire in nextAcquire, so that the node's fields are seen.
    NEXT.setRelease(previous, first);
    return previous != dummy;
  }

  /**
   * Whether nothing is queued. Never waits, any thread; volatile read of the tail.
   *
   * @return true if the queue was empty at some moment during the call
   */
  public boolean isEmpty() {
    return TAIL.getVolatile(end) == dummy;
  }

  /** What {@link #dequeueNonBlocking(Node)} gives back where it would have to wait. */
  private static final Node WOULD_BLOCK = new Dummy();

  /**
   * Takes the first node, waiting for a producer that is between its two steps.
   *
   * @return the node, or null if the queue is empty
   */
  public @Nullable Node dequeueBlocking() {
    return dequeue(true);
  }

  /**
   * Takes the first node if that needs no waiting.
   *
   * @param wouldBlock what to return when a producer stands between its two steps; must not be null
   * @return the node, null if the queue is empty, or {@code wouldBlock}
   */
  public @Nullable Node dequeueNonBlocking(Node wouldBlock) {
    Node node = dequeue(false);
    return node == WOULD_BLOCK ? wouldBlock : node;
  }

  private @Nullable Node dequeue(boolean block) {
    Node first = dummy.nextAcquire();
    if (first == null) {
      if (isEmpty()) {
        return null;
      }
      if (!block) {
        return WOULD_BLOCK;
      }
      first = awaitNext(dummy);
    }
    Node second = first.nextAcquire();
    if (second == null) {
      // The first node may be the last. Cut it off before tail moves back, never after: once tail
      // is the dummy again a producer may store into dummy.next.
      NEXT.setOpaque(dummy, null);
      if (TAIL.compareAndSet(end, first, dummy)) {
        return first;
      }
      // A producer exchanged the tail in between; its store into first.next is on its way.
      if (!block) {
        second = first.nextAcquire();
        if (second == null) {
          NEXT.setOpaque(dummy, first);
          return WOULD_BLOCK;
        }
      } else {
        second = awaitNext(first);
      }
    }
    NEXT.setOpaque(dummy, second);
    NEXT.set(first, null); // who keeps the node must not keep everything behind it
    return first;
  }

  /**
   * Takes everything that is queued, in order, waiting at most for the first link to be stored.
   * Links inside the batch that are still missing are waited for while it is walked.
   *
   * @return the batch, empty if the queue was
   */
  public Batch splice() {
    if (isEmpty()) {
      return new Batch(null, null);
    }
    Node first = dummy.nextAcquire();
    if (first == null) {
      first = awaitNext(dummy);
    }
    Batch batch = new Batch(first, null); // before the cut: no memory, no change
    NEXT.setOpaque(dummy, null);
    batch.last = (Node) TAIL.getAndSet(end, dummy);
    return batch;
  }

  private static Node awaitNext(Node node) {
    Node next = node.nextAcquire();
    for (int i = 0; next == null; i++) {
      if (i < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
      next = node.nextAcquire();
    }
    return next;
  }

  /** What was spliced: a private list, walked once by one thread. */
  public static final class Batch {
    private @Nullable Node first;
    private @Nullable Node last;

    Batch(@Nullable Node first, @Nullable Node last) {
      this.first = first;
      this.last = last;
    }

    /**
     * Whether nothing is left.
     *
     * @return true if {@link #poll()} would return null
     */
    public boolean isEmpty() {
      return first == null;
    }

    /**
     * Takes the next node. When it has been returned, the batch holds no reference to it: it may be
     * enqueued again at once.
     *
     * @return the node, or null at the end
     */
    public @Nullable Node poll() {
      Node node = first;
      if (node != null) {
        if (node == last) {
          first = null;
          last = null;
        } else {
          first = awaitNext(node);
          NEXT.set(node, null); // who keeps the node must not keep everything behind it
        }
      }
      return node;
    }
  }
}
