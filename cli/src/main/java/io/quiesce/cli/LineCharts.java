package io.quiesce.cli;

import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Report;
import io.quiesce.bench.Statistics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Lines over the number of threads, where at least three tables of an experiment differ in nothing
 * else. The figures stand in those tables.
 */
final class LineCharts {
  private static final String AXIS = "threads";
  private static final int LEAST_POINTS = 3;

  /**
   * A chart.
   *
   * @param title its heading
   * @param measure what the lines are of
   * @param json what the script draws
   */
  record Chart(String title, Measure measure, Map<String, Object> json) {}

  /** Tables that differ in the number of threads only. */
  private record Family(Params others, Measure measure) {}

  /** A subject's figures, with a gap where it has none. */
  private record Line(String subject, String kind, List<@Nullable Double> values) {
    Map<String, Object> json() {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("subject", subject);
      json.put("kind", kind);
      json.put("values", values);
      return json;
    }
  }

  private LineCharts() {}

  static List<Chart> of(List<List<Report.Row>> cells) {
    Map<Family, SortedMap<Integer, List<Report.Row>>> families = new LinkedHashMap<>();
    for (List<Report.Row> cell : cells) {
      Report.Row first = cell.getFirst();
      String count = first.cell().get(AXIS, "");
      if (count.matches("[0-9]{1,9}")) {
        Map<String, String> others = new LinkedHashMap<>(first.cell().values());
        others.remove(AXIS);
        families
            .computeIfAbsent(new Family(new Params(others), first.measure()), k -> new TreeMap<>())
            .put(Integer.valueOf(count), cell);
      }
    }
    List<Chart> charts = new ArrayList<>();
    families.forEach(
        (family, points) -> {
          if (points.size() >= LEAST_POINTS) {
            chart(family, points, charts);
          }
        });
    return charts;
  }

  private static void chart(
      Family family, SortedMap<Integer, List<Report.Row>> points, List<Chart> charts) {
    Map<String, Line> lines = new LinkedHashMap<>();
    double least = Double.MAX_VALUE;
    double most = 0;
    int place = 0;
    for (List<Report.Row> cell : points.values()) {
      for (Report.Row row : cell) {
        Statistics figure = row.figure();
        if (figure != null) {
          lines
              .computeIfAbsent(
                  row.subject(), name -> new Line(name, row.kind().label(), gaps(points.size())))
              .values()
              .set(place, figure.median());
          least = Math.min(least, figure.median());
          most = Math.max(most, figure.median());
        }
      }
      place++;
    }
    if (lines.isEmpty()) {
      return;
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("axis", AXIS);
    json.put("points", List.copyOf(points.keySet()));
    json.put("unit", family.measure().unit());
    json.put("log", most > 40 * least);
    json.put("floor", Math.pow(10, Math.floor(Math.log10(least * 0.8))));
    json.put("lines", lines.values().stream().map(Line::json).toList());
    String others = family.others().toString().replace(" ", ", ");
    String title = "By number of threads" + (others.isEmpty() ? "" : ": " + others);
    charts.add(new Chart(title, family.measure(), json));
  }

  private static List<@Nullable Double> gaps(int count) {
    List<@Nullable Double> gaps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      gaps.add(null);
    }
    return gaps;
  }
}
