package io.quiesce.bench;

import java.time.Duration;
import java.util.Map;

/**
 * One thing that is measured, in a process of its own. Between rounds it must be idle: no thread of
 * it runs.
 */
public interface Subject extends AutoCloseable {

  /**
   * Thrown by {@link #setUp} where this machine cannot run the subject; the message is the cure.
   */
  final class UnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * Says why.
     *
     * @param sentence why, and what to do about it
     */
    public UnavailableException(String sentence) {
      super(sentence);
    }
  }

  /**
   * Prepares everything but the warm-up, which the host does by running rounds.
   *
   * @param params of the experiment
   * @throws Exception fails the subject, with its message
   */
  void setUp(Params params) throws Exception;

  /**
   * Works for about a time.
   *
   * @param time how long; may be exceeded where a single measurement takes longer
   * @return figure by name ({@code ns}, {@code rate}, {@code p99} ...)
   * @throws Exception fails the subject, with its message
   */
  Map<String, Double> round(Duration time) throws Exception;

  /** Ends the subject. The process ends soon after in any case. */
  @Override
  default void close() {}
}
