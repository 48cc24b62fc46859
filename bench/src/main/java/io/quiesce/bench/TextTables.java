package io.quiesce.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A report for a terminal. */
public final class TextTables {
  private TextTables() {}

  /**
   * Renders a report: for each cell the subjects from best to worst, then the gains.
   *
   * @param report what was found
   * @return lines
   */
  public static String render(Report report) {
    StringBuilder out = new StringBuilder();
    for (Experiment experiment : report.experiments()) {
      out.append('\n').append(experiment.name()).append("  ").append(experiment.title());
      out.append('\n');
      for (List<Report.Row> cell : cells(report, experiment)) {
        table(report, cell, experiment.extras(), out);
      }
    }
    return out.toString();
  }

  /**
   * The rows of an experiment by cell.
   *
   * @param report what was found
   * @param experiment whose rows
   * @return a list for each cell, in the order of running
   */
  public static List<List<Report.Row>> cells(Report report, Experiment experiment) {
    Map<List<Object>, List<Report.Row>> cells = new LinkedHashMap<>();
    for (Report.Row row : report.rows()) {
      if (row.experiment().equals(experiment.name())) {
        cells.computeIfAbsent(List.of(row.cell(), row.measure()), k -> new ArrayList<>()).add(row);
      }
    }
    return new ArrayList<>(cells.values());
  }

  /**
   * Best first, those without a figure last.
   *
   * @param cell the rows of a cell
   * @return a sorted copy
   */
  public static List<Report.Row> ranked(List<Report.Row> cell) {
    return cell.stream()
        .sorted(
            Comparator.comparingDouble(
                row -> {
                  Statistics figure = row.figure();
                  if (figure == null) {
                    return Double.MAX_VALUE;
                  }
                  return row.measure().lowerIsBetter() ? figure.median() : -figure.median();
                }))
        .toList();
  }

  /**
   * What tables show beside a row's figure.
   *
   * @param row whose
   * @param extras the experiment's
   * @return such as {@code kept 120,000, lost 0}; empty if it told none of them
   */
  public static String extras(Report.Row row, List<String> extras) {
    return extras.stream()
        .filter(key -> row.others().containsKey(key) && !key.equals(row.measure().key()))
        .map(key -> key + " " + extra(row.others().getOrDefault(key, 0.0)))
        .collect(Collectors.joining(", "));
  }

  /** Counts are whole numbers. */
  private static String extra(double value) {
    return value == Math.rint(value) ? String.format(Locale.ROOT, "%,.0f", value) : number(value);
  }

  private static void table(
      Report report, List<Report.Row> cell, List<String> extras, StringBuilder out) {
    Report.Row first = cell.getFirst();
    Measure measure = first.measure();
    out.append("\n  ").append(first.cell().toString().isEmpty() ? "" : first.cell() + ", ");
    out.append(measure.unit()).append(", ").append(measure.better()).append(" is better\n");
    int width = cell.stream().mapToInt(row -> row.subject().length()).max().orElse(0);
    for (Report.Row row : ranked(cell)) {
      Statistics figure = row.figure();
      out.append("    ").append(pad(row.subject(), width)).append("  ");
      if (figure == null) {
        out.append("-  ").append(row.note()).append('\n');
      } else {
        out.append(left(number(figure.median()), 10))
            .append("  (")
            .append(number(figure.min()))
            .append(" to ")
            .append(number(figure.max()))
            .append(")");
        String more = extras(row, extras);
        out.append(more.isEmpty() ? "" : "  " + more).append('\n');
      }
    }
    for (Report.Comparison comparison : report.comparisons()) {
      if (comparison.experiment().equals(first.experiment())
          && comparison.cell().equals(first.cell())
          && comparison.measure().equals(measure)) {
        out.append("      ")
            .append(left(factor(comparison.gain().median()), 8))
            .append(" times as good: ")
            .append(comparison.subject())
            .append(" against ")
            .append(comparison.against())
            .append("  (")
            .append(factor(comparison.gain().min()))
            .append(" to ")
            .append(factor(comparison.gain().max()))
            .append(")\n");
      }
    }
  }

  /**
   * A figure with about three significant digits and grouped thousands.
   *
   * @param value the figure
   * @return text
   */
  public static String number(double value) {
    double size = Math.abs(value);
    String format = size < 10 ? "%.2f" : size < 100 ? "%.1f" : "%,.0f";
    return String.format(Locale.ROOT, format, value);
  }

  /**
   * A ratio.
   *
   * @param gain how many times
   * @return text
   */
  public static String factor(double gain) {
    return String.format(Locale.ROOT, gain < 10 ? "%.2f" : gain < 100 ? "%.1f" : "%,.0f", gain);
  }

  private static String pad(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }

  private static String left(String text, int width) {
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }
}
