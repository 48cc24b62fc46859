package io.quiesce.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One run of alternating rounds: parameters, those who take turns, and who is compared with whom.
 *
 * @param params of every row
 * @param measure what is measured
 * @param roundTime the length of a round
 * @param contestants those who take turns
 * @param pairs who is compared with whom
 * @param also what else the same rounds yield, each a table of its own
 */
public record Cell(
    Params params,
    Measure measure,
    Duration roundTime,
    List<Contestant> contestants,
    List<Pair> pairs,
    List<View> also) {

  /**
   * Two subjects of one cell.
   *
   * @param subject whose gain it is
   * @param against the peer
   */
  public record Pair(String subject, String against) {}

  /**
   * One table of a cell: speed and memory, say, come from the same rounds.
   *
   * @param params of every row of it
   * @param measure what is measured
   * @param pairs who is compared with whom
   */
  public record View(Params params, Measure measure, List<Pair> pairs) {}

  /** Copies the lists and drops pairs that name somebody who does not take part. */
  public Cell {
    contestants = List.copyOf(contestants);
    List<String> names = contestants.stream().map(Contestant::subject).toList();
    pairs = known(pairs, names);
    also =
        also.stream()
            .map(view -> new View(view.params(), view.measure(), known(view.pairs(), names)))
            .toList();
    if (names.stream().distinct().count() != names.size()) {
      throw new IllegalArgumentException("a subject takes part twice in " + params + ": " + names);
    }
  }

  /**
   * A cell with one table.
   *
   * @param params of every row
   * @param measure what is measured
   * @param roundTime the length of a round
   * @param contestants those who take turns
   * @param pairs who is compared with whom
   */
  public Cell(
      Params params,
      Measure measure,
      Duration roundTime,
      List<Contestant> contestants,
      List<Pair> pairs) {
    this(params, measure, roundTime, contestants, pairs, List.of());
  }

  private static List<Pair> known(List<Pair> pairs, List<String> names) {
    return pairs.stream()
        .filter(p -> names.contains(p.subject()) && names.contains(p.against()))
        .toList();
  }

  /**
   * All its tables.
   *
   * @return its own first
   */
  public List<View> views() {
    List<View> views = new ArrayList<>();
    views.add(new View(params, measure, pairs));
    views.addAll(also);
    return views;
  }
}
