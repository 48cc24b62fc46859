package io.quiesce.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a run found.
 *
 * @param machine where
 * @param plan how thoroughly
 * @param took how long
 * @param experiments what was run, in order
 * @param rows a figure for each subject
 * @param comparisons gains, from rounds that alternate
 */
public record Report(
    Machine machine,
    Plan plan,
    Duration took,
    List<Experiment> experiments,
    List<Row> rows,
    List<Comparison> comparisons) {

  /** Copies the lists. */
  public Report {
    experiments = List.copyOf(experiments);
    rows = List.copyOf(rows);
    comparisons = List.copyOf(comparisons);
  }

  /**
   * A subject's figure.
   *
   * @param experiment its experiment
   * @param subject its name
   * @param kind whose it is
   * @param params of the cell and of its own
   * @param cell the parameters of the cell
   * @param measure what was measured
   * @param figure the median over rounds, or null with a note
   * @param others medians of what else the subject told, such as {@code p99}
   * @param note why there is no figure, else empty
   */
  public record Row(
      String experiment,
      String subject,
      Contestant.Kind kind,
      Params params,
      Params cell,
      Measure measure,
      @Nullable Statistics figure,
      Map<String, Double> others,
      String note) {}

  /**
   * How many times better a subject is than a peer.
   *
   * @param experiment their experiment
   * @param params of the subject
   * @param cell the parameters of the cell
   * @param measure what was measured
   * @param subject whose gain it is
   * @param against the peer
   * @param gain over rounds
   */
  public record Comparison(
      String experiment,
      Params params,
      Params cell,
      Measure measure,
      String subject,
      String against,
      Statistics gain) {

    /**
     * What a reader may conclude.
     *
     * @return {@code win} or {@code loss} if every round says so and the median differs by more
     *     than 2 %, else {@code even}
     */
    public String verdict() {
      if (gain.min() > 1 && gain.median() > 1.02) {
        return "win";
      }
      return gain.max() < 1 && gain.median() < 0.98 ? "loss" : "even";
    }
  }
}
