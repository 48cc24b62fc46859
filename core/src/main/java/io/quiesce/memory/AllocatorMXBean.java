package io.quiesce.memory;

/**
 * An allocator's figures through JMX, as {@code io.quiesce:type=PerCpuAllocator,name="NAME"}. See
 * {@link AllocatorStatistics} for what they mean. Each attribute looks at all of the allocator,
 * which takes some microseconds.
 */
public interface AllocatorMXBean {
  /**
   * The limit.
   *
   * @return bytes; {@link Long#MAX_VALUE} for none
   */
  long getLimit();

  /**
   * Memory that users hold.
   *
   * @return bytes
   */
  long getInUseBytes();

  /**
   * Memory taken from the kernel, which counts against the limit.
   *
   * @return bytes
   */
  long getBackedBytes();

  /**
   * Free blocks in the caches of the CPUs.
   *
   * @return bytes
   */
  long getCachedBytes();

  /**
   * Free blocks in transfer arrays.
   *
   * @return bytes
   */
  long getTransferBytes();

  /**
   * Free blocks in spans.
   *
   * @return bytes
   */
  long getFreeInSpansBytes();

  /**
   * Pages in no span that may have memory behind them.
   *
   * @return bytes
   */
  long getIdleBytes();

  /**
   * Given back to the kernel in all.
   *
   * @return bytes
   */
  long getReturnedBytes();

  /**
   * Blocks of whole pages.
   *
   * @return the number
   */
  long getLargeBlocks();

  /**
   * Their bytes.
   *
   * @return bytes
   */
  long getLargeBytes();

  /**
   * Blocks with a mapping of their own.
   *
   * @return the number
   */
  long getHugeBlocks();

  /**
   * Their bytes.
   *
   * @return bytes
   */
  long getHugeBytes();

  /**
   * Times a cache was empty.
   *
   * @return the number
   */
  long getRefills();

  /**
   * Times a cache was full.
   *
   * @return the number
   */
  long getOverflows();

  /**
   * Times a cache was emptied from elsewhere.
   *
   * @return the number
   */
  long getDrains();

  /**
   * Times everything was given back.
   *
   * @return the number
   */
  long getTrims();

  /**
   * Allocations that failed.
   *
   * @return the number
   */
  long getOutOfMemory();

  /**
   * Blocks that were freed wrongly and found.
   *
   * @return the number
   */
  long getCorruptFrees();

  /**
   * Faults that the hardening mode found.
   *
   * @return the number
   */
  long getFaults();

  /**
   * Freed blocks that the hardening mode holds back.
   *
   * @return bytes
   */
  long getQuarantinedBytes();

  /**
   * Empties all caches and gives idle pages back, as {@link PerCpuAllocator#trim}.
   *
   * @return how many bytes went to the kernel; 0 when the allocator is closed
   */
  long trim();

  /**
   * The figures as a text, as {@link PerCpuAllocator#report}.
   *
   * @return several lines; empty when the allocator is gone
   */
  String report();
}
