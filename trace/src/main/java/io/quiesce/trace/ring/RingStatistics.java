package io.quiesce.trace.ring;

/**
 * What became of a session's events. Each count is exact once the producers are quiet.
 *
 * @param events in the files
 * @param full lost since the consumer was behind
 * @param wrap lost since an older event in the same place was not yet committed
 * @param big lost since they are larger than a sub-buffer
 * @param other lost since there was no space for their CPU's buffer, or storing them failed
 * @param failures how often a packet could not be written, tries included
 */
public record RingStatistics(
    long events, long full, long wrap, long big, long other, long failures) {
  /** All that was lost. */
  public long lost() {
    return full + wrap + big + other;
  }
}
