package io.quiesce.bench;

import java.time.Duration;
import java.util.List;

/**
 * One run of alternating rounds: parameters, those who take turns, and who is compared with whom.
 *
 * @param params of every row
 * @param measure what is measured
 * @param roundTime the length of a round
 * @param contestants those who take turns
 * @param pairs who is compared with whom
 */
public record Cell(
    Params params,
    Measure measure,
    Duration roundTime,
    List<Contestant> contestants,
    List<Pair> pairs) {

  /**
   * Two subjects of one cell.
   *
   * @param subject whose gain it is
   * @param against the peer
   */
  public record Pair(String subject, String against) {}

  /** Copies the lists and checks that the pairs name contestants. */
  public Cell {
    contestants = List.copyOf(contestants);
    List<String> names = contestants.stream().map(Contestant::subject).toList();
    pairs =
        pairs.stream()
            .filter(p -> names.contains(p.subject()) && names.contains(p.against()))
            .toList();
    if (names.stream().distinct().count() != names.size()) {
      throw new IllegalArgumentException("a subject takes part twice in " + params + ": " + names);
    }
  }
}
