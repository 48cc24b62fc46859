package io.quiesce.trace;

/**
 * What became of a session's events. Immutable; exact once the traced threads are quiet.
 *
 * @param written events in the files; 0 for a flight recorder
 * @param full lost since the consumer was behind
 * @param wrap lost since an older event in the same place was not stored to its end
 * @param big lost since one event was larger than a sub-buffer
 * @param other lost since there was no space for a CPU's buffer, or storing the event failed
 * @param failures how often a packet could not be written, tries included
 */
public record TraceCounts(long written, long full, long wrap, long big, long other, long failures) {
  /**
   * All that was lost.
   *
   * @return events
   */
  public long lost() {
    return full + wrap + big + other;
  }
}
