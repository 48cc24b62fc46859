package io.quiesce.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatisticsTest {

  @Test
  void medianOfOddAndEvenCounts() {
    assertThat(Statistics.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new Statistics(2, 1, 3, 3));
    assertThat(Statistics.of(List.of(4.0, 1.0, 2.0, 9.0))).isEqualTo(new Statistics(3, 1, 9, 4));
    assertThat(Statistics.of(List.of(5.0))).isEqualTo(new Statistics(5, 5, 5, 1));
  }

  @Test
  void refusesNothingAndNonsense() {
    assertThatIllegalArgumentException().isThrownBy(() -> Statistics.of(List.of()));
    assertThatIllegalArgumentException().isThrownBy(() -> Statistics.of(List.of(1.0, Double.NaN)));
  }

  @Test
  void gainSaysHowManyTimesBetterWhateverTheDirection() {
    assertThat(Measure.NS.gain(2, 6)).isEqualTo(3);
    assertThat(Measure.NS.gain(6, 2)).isLessThan(1);
    assertThat(Measure.rate("calls").gain(6, 2)).isEqualTo(3);
  }

  /** The machine slows down threefold half-way: within a round both sides see it. */
  @Test
  void gainsAreComputedWithinARound() {
    List<Double> ours = List.of(1.0, 1.0, 3.0, 3.0, 3.0);
    List<Double> peers = List.of(2.0, 2.0, 6.0, 6.0, 6.0);
    assertThat(Statistics.of(Runner.gains(Measure.NS, ours, peers)))
        .isEqualTo(new Statistics(2, 2, 2, 5));
  }

  @Test
  void verdictNeedsFourRoundsInFive() {
    assertThat(verdict(1.5, 5, 5)).isEqualTo("win");
    assertThat(verdict(1.5, 4, 5)).isEqualTo("win");
    assertThat(verdict(1.5, 3, 5)).isEqualTo("even");
    assertThat(verdict(1.01, 5, 5)).isEqualTo("even");
    assertThat(verdict(0.5, 4, 5)).isEqualTo("loss");
    assertThat(verdict(0.5, 3, 5)).isEqualTo("even");
  }

  private static String verdict(double median, int agreeing, int rounds) {
    return new Report.Comparison(
            "x",
            Params.NONE,
            Params.NONE,
            Measure.NS,
            "a",
            "b",
            new Statistics(median, 0.1, 10, rounds),
            agreeing)
        .verdict();
  }
}
