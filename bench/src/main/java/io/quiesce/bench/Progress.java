package io.quiesce.bench;

/** Who is told how far a run is. */
public interface Progress {
  /** Tells nobody. */
  Progress SILENT = (done, total, what) -> {};

  /**
   * Called after each step: a subject that started, or a round.
   *
   * @param done steps behind
   * @param total all steps
   * @param what is being run now
   */
  void step(int done, int total, String what);
}
