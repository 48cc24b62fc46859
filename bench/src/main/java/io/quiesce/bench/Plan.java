package io.quiesce.bench;

import java.time.Duration;
import java.util.List;

/**
 * How thoroughly to measure.
 *
 * @param quick whether minutes matter more than narrow spreads
 * @param rounds alternating rounds that count
 * @param warmUp the longest warm-up of a subject
 * @param threads numbers of threads to try, where an experiment varies them; none given: its usual
 *     ones
 * @param cpus how many CPUs this process may use
 */
public record Plan(boolean quick, int rounds, Duration warmUp, List<Integer> threads, int cpus) {

  /** The least number of rounds that a median with a spread makes sense of. */
  public static final int LEAST_ROUNDS = 5;

  /**
   * All experiments within six minutes on a small machine.
   *
   * @param cpus how many CPUs this process may use
   * @return the plan
   */
  public static Plan quick(int cpus) {
    return new Plan(true, LEAST_ROUNDS, Duration.ofMillis(1600), List.of(), cpus);
  }

  /**
   * Narrower spreads, more parameters.
   *
   * @param cpus how many CPUs this process may use
   * @return the plan
   */
  public static Plan full(int cpus) {
    return new Plan(false, 15, Duration.ofSeconds(4), List.of(), cpus);
  }

  /**
   * With another number of rounds.
   *
   * @param count at least 1
   * @return a copy
   */
  public Plan withRounds(int count) {
    return new Plan(quick, count, warmUp, threads, cpus);
  }

  /**
   * With other numbers of threads than the experiments' usual ones.
   *
   * @param counts at least one
   * @return a copy
   */
  public Plan withThreads(List<Integer> counts) {
    return new Plan(quick, rounds, warmUp, List.copyOf(counts), cpus);
  }

  /**
   * The numbers of threads to try.
   *
   * @param usual an experiment's own
   * @return those, unless others were asked for
   */
  public List<Integer> threadsOr(Integer... usual) {
    return threads.isEmpty() ? List.of(usual) : threads;
  }

  /**
   * The length of a round.
   *
   * @param quickMillis in a quick plan
   * @param fullMillis in a full one
   * @return the one that applies
   */
  public Duration round(int quickMillis, int fullMillis) {
    return Duration.ofMillis(quick ? quickMillis : fullMillis);
  }
}
