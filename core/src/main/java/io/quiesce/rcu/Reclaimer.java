package io.quiesce.rcu;

/**
 * What retired off-heap blocks are handed to when no reader can see them any more: an allocator's
 * free. Called on a callback worker, one block at a time; whatever it throws is logged and harms no
 * other block.
 */
@FunctionalInterface
public interface Reclaimer {
  /**
   * Frees a block.
   *
   * @param address where it begins, as given to {@link Rcu#retire}
   * @param bytes its size in bytes, as given to {@link Rcu#retire}
   */
  void reclaim(long address, long bytes);
}
