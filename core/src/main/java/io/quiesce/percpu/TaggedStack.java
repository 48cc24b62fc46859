package io.quiesce.percpu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock-free stack of nodes by address (Treiber's), with a tag against ABA in the same 64 bits.
 *
 * <pre>
 *   head:  [ tag : 20 bits | address / 8 : 44 bits ]
 *                                    |
 *                                    +--> node: link --> node: link --> 0
 * </pre>
 *
 * <h2>Algorithm</h2>
 *
 * A push links the node to the first one and replaces the head, by compare-and-set, with the node
 * and a tag that is one higher. A pop loads the head and the first node's link, and replaces the
 * head with the link under the same tag.
 *
 * <p>Between a pop's two steps others may pop the node, and push it again on top of something else.
 * The address is the same then, but the tag is not, so the pop fails and starts over. Every push
 * raises the tag, hence only a pop that sleeps while exactly 1,048,576 pushes (or a multiple) go
 * by, the last of them of the very node it looks at, would store a stale link. Java has no 16-byte
 * compare-and-set, with which a tag would have 64 bits; for what this is used for, the overflow of
 * per-CPU rows, 20 bits at a million pushes per sleep have to do.
 *
 * <p>A pop may load the link of a node that somebody has just popped. What it loads is then thrown
 * away, but the node must still be mapped: nodes may be reused at once, and unmapped only when no
 * pop can be under way.
 *
 * <p>Addresses are multiples of 8 below 2^47, as user space has them on x86-64 and, unless a
 * program asks for more, on arm64. Closing exchanges the head for one that no node can have.
 *
 * <p>Only the links go through the two abstract methods, so that the algorithm runs on heap arrays
 * under jcstress and Lincheck. Source: Treiber, "Systems Programming: Coping with Parallelism",
 * IBM, 1986.
 */
abstract class TaggedStack {
  private static final int ADDRESS_BITS = 44;
  private static final int ALIGNMENT_BITS = 3;
  private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;

  /** What may not be set in an address. */
  private static final long NO_ADDRESS = ~(ADDRESS_MASK << ALIGNMENT_BITS);

  /** The largest address with the largest tag: above user space, so nobody's. */
  private static final long CLOSED = -1;

  private static final VarHandle HEAD;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(TaggedStack.class, "head", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  @SuppressWarnings("unused") // through HEAD
  private volatile long head;

  /** Loads a node's link; opaque, since another thread may be storing it. */
  abstract long link(long node);

  /** Stores a node's link; opaque. */
  abstract void setLink(long node, long next);

  /** Whether a node could be one: an address that fits, and not 0. */
  static boolean isNode(long node) {
    return node != 0 && (node & NO_ADDRESS) == 0 && node >>> ALIGNMENT_BITS != ADDRESS_MASK;
  }

  private static long address(long head) {
    return (head & ADDRESS_MASK) << ALIGNMENT_BITS;
  }

  private static long tag(long head) {
    return head & ~ADDRESS_MASK;
  }

  private static long pack(long tag, long node) {
    return tag | node >>> ALIGNMENT_BITS;
  }

  /** Full barrier; what was stored before is seen by whoever pops the node (T.1). */
  final boolean push(long node) {
    while (true) {
      long before = (long) HEAD.getAcquire(this);
      if (before == CLOSED) {
        return false;
      }
      setLink(node, address(before));
      if (HEAD.compareAndSet(this, before, pack(nextTag(tag(before)), node))) {
        return true;
      }
    }
  }

  /** The tag of a push; a broken twin overrides it. */
  long nextTag(long tag) {
    return tag + (1L << ADDRESS_BITS); // wraps around by itself: nothing is above it
  }

  /** The node pushed last, or 0. */
  final long pop() {
    while (true) {
      long before = (long) HEAD.getAcquire(this); // T.1: its link is no older
      long node = address(before);
      if (before == CLOSED || node == 0) {
        return 0;
      }
      if (HEAD.compareAndSet(this, before, pack(tag(before), link(node)))) {
        return node;
      }
    }
  }

  /** All nodes, linked, the last pushed first; or 0. */
  final long takeAll() {
    while (true) {
      long before = (long) HEAD.getAcquire(this);
      long node = address(before);
      if (before == CLOSED || node == 0) {
        return 0;
      }
      if (HEAD.compareAndSet(this, before, tag(before))) {
        return node;
      }
    }
  }

  /** All nodes, as {@link #takeAll()}; pushes return false from here on. */
  final long close() {
    long before = (long) HEAD.getAndSet(this, CLOSED);
    return before == CLOSED ? 0 : address(before);
  }

  /** A look without promise. */
  final boolean isEmpty() {
    long now = (long) HEAD.getOpaque(this);
    return now == CLOSED || address(now) == 0;
  }
}
