package io.quiesce.trace.reader;

/** What to do about damage: throw it, or keep it and go on without what is damaged. */
@FunctionalInterface
interface Damage {
  /** Nothing damaged is accepted. */
  Damage STRICT =
      damage -> {
        throw damage;
      };

  /** Throws it, or returns if the work is to go on. */
  void found(TraceFormatException damage) throws TraceFormatException;
}
