package io.quiesce.percpu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Opens the package-private {@link TaggedStack} to the tests of other packages, with links in an
 * array on the heap, where Lincheck can follow them. Nodes are numbers from 1.
 */
public final class TaggedStacks {
  private static final VarHandle LINK = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int WORD = 8;

  private final TaggedStack stack;

  private static class Healthy extends TaggedStack {
    private final long[] links;
    private final int spins;

    Healthy(int nodes, int spins) {
      links = new long[nodes + 1];
      this.spins = spins;
    }

    @Override
    long link(long node) {
      long next = (long) LINK.getOpaque(links, (int) node / WORD);
      for (int i = 0; i < spins; i++) {
        Thread.onSpinWait(); // what makes ABA likely: others work between the two steps of a pop
      }
      return next;
    }

    @Override
    void setLink(long node, long next) {
      LINK.setOpaque(links, (int) node / WORD, next);
    }
  }

  /** The broken twin: the tag never changes. */
  private static final class Untagged extends Healthy {
    Untagged(int nodes, int spins) {
      super(nodes, spins);
    }

    @Override
    long nextTag(long tag) {
      return tag;
    }
  }

  private TaggedStacks(TaggedStack stack) {
    this.stack = stack;
  }

  /**
   * The library's stack.
   *
   * @param nodes how many there are
   * @param spins between the loads and the store of a pop
   * @return a new one, empty
   */
  public static TaggedStacks healthy(int nodes, int spins) {
    return new TaggedStacks(new Healthy(nodes, spins));
  }

  /**
   * The broken twin, whose tag never changes.
   *
   * @param nodes how many there are
   * @param spins between the loads and the store of a pop
   * @return a new one, empty
   */
  public static TaggedStacks untagged(int nodes, int spins) {
    return new TaggedStacks(new Untagged(nodes, spins));
  }

  /**
   * Pushes.
   *
   * @param node from 1
   * @return false when closed
   */
  public boolean push(int node) {
    return stack.push((long) node * WORD);
  }

  /**
   * Pops.
   *
   * @return the node, or 0
   */
  public int pop() {
    return (int) (stack.pop() / WORD);
  }

  /**
   * Takes all.
   *
   * @return the first node, or 0
   */
  public int takeAll() {
    return (int) (stack.takeAll() / WORD);
  }

  /**
   * Closes and takes all.
   *
   * @return the first node, or 0
   */
  public int close() {
    return (int) (stack.close() / WORD);
  }

  /**
   * What a node is linked to; for whoever owns it.
   *
   * @param node from 1
   * @return the next, or 0
   */
  public int next(int node) {
    return (int) (stack.link((long) node * WORD) / WORD);
  }
}
