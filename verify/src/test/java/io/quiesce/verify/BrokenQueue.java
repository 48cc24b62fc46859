package io.quiesce.verify;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The broken twin of {@link io.quiesce.percpu.WaitFreeQueue}: the same list and the same access
 * modes, but a producer loads the tail and then stores it, where it must exchange it. Two producers
 * can get the same last node, and one of them is lost.
 */
public final class BrokenQueue {
  private static final VarHandle TAIL;
  private static final VarHandle NEXT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(BrokenQueue.class, "tail", Node.class);
      NEXT = lookup.findVarHandle(Node.class, "next", Node.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private static final class Node {
    final int value;
    @Nullable Node next;

    Node(int value) {
      this.value = value;
    }
  }

  private final Node dummy = new Node(0);
  private Node tail = dummy;

  /**
   * Adds a value at the end, or loses it.
   *
   * @param value above 0
   * @return whether the queue held anything before
   */
  public boolean enqueue(int value) {
    Node node = new Node(value);
    Node previous = (Node) TAIL.getVolatile(this);
    TAIL.setVolatile(this, node);
    NEXT.setRelease(previous, node);
    return previous != dummy;
  }

  /**
   * Takes the first value, by one consumer; never waits, so that a lost node does not hang it.
   *
   * @return the value, or 0 if nothing can be reached
   */
  public int dequeue() {
    Node first = (Node) NEXT.getAcquire(dummy);
    if (first == null) {
      return 0;
    }
    Node second = (Node) NEXT.getAcquire(first);
    if (second == null) {
      NEXT.setOpaque(dummy, null);
      if (TAIL.compareAndSet(this, first, dummy)) {
        return first.value;
      }
      second = (Node) NEXT.getAcquire(first);
    }
    NEXT.setOpaque(dummy, second);
    return first.value;
  }
}
