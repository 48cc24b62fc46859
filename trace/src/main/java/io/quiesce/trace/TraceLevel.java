package io.quiesce.trace;

/**
 * How much a tracepoint matters, on LTTng's scale: the smaller the {@link #number}, the more. The
 * levels for debugging say what their events are about.
 */
public enum TraceLevel {
  /** The system is unusable. */
  EMERGENCY(0),
  /** Somebody must act at once. */
  ALERT(1),
  /** A critical condition. */
  CRITICAL(2),
  /** An error. */
  ERROR(3),
  /** A warning. */
  WARNING(4),
  /** Normal, but worth a notice. */
  NOTICE(5),
  /** Information. */
  INFO(6),
  /** For debugging: about the whole system, such as traffic between hosts. */
  DEBUG_SYSTEM(7),
  /** For debugging: about the program as a whole. */
  DEBUG_PROGRAM(8),
  /** For debugging: about a process or a large service. */
  DEBUG_PROCESS(9),
  /** For debugging: about a module. */
  DEBUG_MODULE(10),
  /** For debugging: about a class or file. */
  DEBUG_UNIT(11),
  /** For debugging: about a method. */
  DEBUG_FUNCTION(12),
  /** For debugging: about a line. */
  DEBUG_LINE(13),
  /** For debugging: anything. */
  DEBUG(14);

  private final int number;

  TraceLevel(int number) {
    this.number = number;
  }

  /**
   * As traces have it.
   *
   * @return 0 for {@link #EMERGENCY} to 14 for {@link #DEBUG}
   */
  public int number() {
    return number;
  }
}
