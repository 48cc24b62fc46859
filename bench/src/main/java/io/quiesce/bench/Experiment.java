package io.quiesce.bench;

import java.util.List;

/** An experiment: what is asked, how it is measured, and its cells. */
public interface Experiment {

  /**
   * The name.
   *
   * @return {@code family.name}
   */
  String name();

  /**
   * The question, for headings.
   *
   * @return one short line
   */
  String title();

  /**
   * How it is measured, and what is counted.
   *
   * @return a few sentences
   */
  String method();

  /**
   * What else its subjects tell that tables show beside the figure.
   *
   * @return names of result lines, in order
   */
  default List<String> extras() {
    return List.of();
  }

  /**
   * What is run.
   *
   * @param plan how thoroughly
   * @return the cells in order
   */
  List<Cell> cells(Plan plan);
}
