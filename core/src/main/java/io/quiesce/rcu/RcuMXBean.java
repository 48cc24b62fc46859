package io.quiesce.rcu;

/**
 * A domain's gauges through JMX, as {@code io.quiesce:type=Rcu,name="DOMAIN"}. See {@link
 * RcuStatistics} for what they mean.
 */
public interface RcuMXBean {
  /**
   * The flavour.
   *
   * @return its name
   */
  String getFlavour();

  /**
   * Grace periods that have ended.
   *
   * @return the number
   */
  long getGracePeriods();

  /**
   * Threads with a record.
   *
   * @return the number
   */
  int getRegisteredReaders();

  /**
   * Callbacks queued and not yet run.
   *
   * @return the number
   */
  long getPendingCallbacks();

  /**
   * Retired blocks not yet reclaimed.
   *
   * @return the number
   */
  long getPendingBlocks();

  /**
   * Bytes of those blocks.
   *
   * @return bytes
   */
  long getPendingBytes();

  /**
   * How long the oldest callback or block has waited, at most.
   *
   * @return milliseconds
   */
  long getOldestPendingMillis();

  /**
   * Stall reports made.
   *
   * @return the number
   */
  long getStalls();
}
