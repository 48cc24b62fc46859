package io.quiesce.cli;

import io.quiesce.bench.Contestant;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Json;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Report;
import io.quiesce.bench.Statistics;
import io.quiesce.bench.TextTables;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * A report as one HTML file that needs nothing else: no network, and no script to be read, since
 * every chart stands above a table with its figures. Losses look like wins, in another colour.
 */
final class HtmlReport {
  private static final String ECHARTS =
      "/META-INF/resources/webjars/echarts/5.3.1/dist/echarts.min.js";

  private final Report report;
  private final StringBuilder out = new StringBuilder(1 << 21);

  private HtmlReport(Report report) {
    this.report = report;
  }

  static String render(Report report) throws Failure {
    HtmlReport html = new HtmlReport(report);
    html.page();
    return html.out.toString();
  }

  private void page() throws Failure {
    out.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.append("<title>Quiesce: measured</title>\n<style>\n").append(resource("report.css"));
    out.append("</style>\n</head>\n<body>\n<main>\n");
    head();
    contents();
    for (Experiment experiment : report.experiments()) {
      experiment(experiment);
    }
    machine();
    out.append(
        "<footer>Charts: Apache ECharts 5.3.1, © The Apache Software Foundation, Apache License"
            + " 2.0. It stands inside this file; nothing is loaded.</footer>\n");
    out.append("</main>\n<script>\n").append(script(resource(ECHARTS))).append("\n</script>\n");
    out.append("<script>\n").append(script(resource("report.js"))).append("</script>\n");
    out.append("</body>\n</html>\n");
  }

  private void head() {
    Map<String, Object> facts = report.machine().facts();
    out.append("<h1>Quiesce, measured</h1>\n<p class=\"lead\">");
    text(
        ZonedDateTime.now(ZoneId.systemDefault())
            .format(DateTimeFormatter.ofPattern("d MMMM yyyy, HH:mm", Locale.ENGLISH)));
    out.append(" · ");
    text(facts.getOrDefault("cpu", "unknown CPU") + ", " + facts.get("cpus") + " CPUs");
    out.append(" · ");
    text(String.valueOf(facts.get("kernel")));
    out.append(" · ");
    text(String.valueOf(facts.get("jdk")));
    out.append("</p>\n<p>Every subject lived in a process of its own. Rounds that count: ")
        .append(report.plan().rounds())
        .append(
            ". In each, all subjects of a table ran once, one after another, in an order that rotated;"
                + " a figure is the median over rounds with the least and the greatest, and a gain"
                + " says how many times better, computed within each round. ")
        .append(report.plan().quick() ? "This was a quick run: spreads are wide. " : "")
        .append("Absolute figures do not carry over to other machines; ratios may.</p>\n");
    out.append("<p class=\"legend\">");
    legend("quiesce", "Quiesce");
    legend("java", "peer on the JVM");
    legend("native", "peer in C");
    out.append(
        "</p>\n<p class=\"legend\"><span><span class=\"badge win\">▲ 2.00</span> twice as"
            + " good</span> <span><span class=\"badge\">= 1.00</span> within 2 %, or fewer than four"
            + " rounds in five agree</span> <span><span class=\"badge loss\">▼ 0.50</span> half as"
            + " good</span></p>\n");
  }

  private void legend(String kind, String label) {
    out.append("<span class=\"").append(kind).append("\"><span class=\"dot\"></span>");
    out.append(label).append("</span>");
  }

  private void contents() {
    out.append("<section>\n<h2>What was asked</h2>\n<nav><ul>\n");
    for (Experiment experiment : report.experiments()) {
      out.append("<li><a class=\"name\" href=\"#").append(experiment.name()).append("\">");
      text(experiment.name());
      out.append("</a><span>");
      text(experiment.title());
      out.append("</span> ");
      Map<String, Integer> verdicts = new LinkedHashMap<>();
      verdicts.put("win", 0);
      verdicts.put("even", 0);
      verdicts.put("loss", 0);
      report.comparisons().stream()
          .filter(c -> c.experiment().equals(experiment.name()))
          .forEach(c -> verdicts.merge(c.verdict(), 1, Integer::sum));
      verdicts.forEach(
          (verdict, count) -> {
            if (count > 0) {
              out.append("<span class=\"badge ").append(verdict).append("\">");
              out.append(sign(verdict)).append(' ').append(count).append("</span>");
            }
          });
      out.append("</li>\n");
    }
    out.append("</ul></nav>\n</section>\n");
  }

  private void experiment(Experiment experiment) {
    out.append("<section id=\"").append(experiment.name()).append("\">\n<h2>");
    text(experiment.title());
    out.append("</h2>\n<p class=\"name\">");
    text(experiment.name());
    out.append("</p>\n<p class=\"method\">");
    text(experiment.method());
    out.append("</p>\n");
    List<List<Report.Row>> cells = TextTables.cells(report, experiment);
    for (LineCharts.Chart chart : LineCharts.of(cells)) {
      out.append("<h3>");
      text(chart.title());
      out.append(" <span class=\"unit\">");
      text(chart.measure().unit() + ", " + chart.measure().better() + " is better");
      out.append("</span></h3>\n<div class=\"chart\"><script type=\"application/json\">");
      out.append(Json.write(chart.json())).append("</script></div>\n");
    }
    for (List<Report.Row> cell : cells) {
      cell(TextTables.ranked(cell));
    }
    out.append("</section>\n");
  }

  private void cell(List<Report.Row> rows) {
    Report.Row first = rows.getFirst();
    Measure measure = first.measure();
    out.append("<h3>");
    text(first.cell().toString().replace(" ", ", "));
    out.append(" <span class=\"unit\">");
    text(measure.unit() + ", " + measure.better() + " is better");
    out.append("</span></h3>\n");
    List<Report.Row> measured = rows.stream().filter(row -> row.figure() != null).toList();
    if (!measured.isEmpty()) {
      out.append("<div class=\"chart\"><script type=\"application/json\">");
      out.append(Json.write(chart(measured)));
      out.append("</script></div>\n");
    }
    out.append(
        "<div class=\"wide\"><table>\n<thead><tr><th>subject</th><th class=\"n\">median</th>");
    out.append("<th class=\"n\">least</th><th class=\"n\">greatest</th><th class=\"n\">p99</th>");
    out.append("<th class=\"n\">rounds</th></tr></thead>\n<tbody>\n");
    rows.forEach(this::row);
    out.append("</tbody></table></div>\n");
    gains(first);
  }

  private static Map<String, Object> chart(List<Report.Row> rows) {
    double least = Double.MAX_VALUE;
    double most = 0;
    for (Report.Row row : rows) {
      Statistics figure = Objects.requireNonNull(row.figure());
      least = Math.min(least, figure.min());
      most = Math.max(most, figure.max());
    }
    Map<String, Object> chart = new LinkedHashMap<>();
    chart.put("unit", rows.getFirst().measure().unit());
    chart.put("log", most > 40 * least);
    chart.put("floor", Math.pow(10, Math.floor(Math.log10(least * 0.8))));
    chart.put(
        "rows",
        rows.stream()
            .map(
                row -> {
                  Statistics figure = Objects.requireNonNull(row.figure());
                  Map<String, Object> bar = new LinkedHashMap<>();
                  bar.put("subject", row.subject());
                  bar.put("kind", row.kind().label());
                  bar.put("median", figure.median());
                  bar.put("min", figure.min());
                  bar.put("max", figure.max());
                  bar.put("runs", figure.runs());
                  return bar;
                })
            .toList());
    return chart;
  }

  private void row(Report.Row row) {
    Statistics figure = row.figure();
    out.append("<tr class=\"").append(row.kind().label()).append("\"><td>");
    out.append("<span class=\"dot\"></span>");
    text(row.subject());
    String more = TextTables.extras(row, extras(row));
    if (!more.isEmpty()) {
      out.append(" <span class=\"unit\">");
      text(more);
      out.append("</span>");
    }
    out.append("</td>");
    if (figure == null) {
      out.append("<td class=\"note\" colspan=\"5\">");
      text(row.note());
      out.append("</td></tr>\n");
      return;
    }
    number(TextTables.number(figure.median()));
    number(TextTables.number(figure.min()));
    number(TextTables.number(figure.max()));
    Double p99 = row.others().get("p99");
    number(p99 == null ? "" : TextTables.number(p99));
    number(Integer.toString(figure.runs()));
    out.append("</tr>\n");
  }

  private List<String> extras(Report.Row row) {
    return report.experiments().stream()
        .filter(experiment -> experiment.name().equals(row.experiment()))
        .flatMap(experiment -> experiment.extras().stream())
        .toList();
  }

  private void number(String value) {
    out.append("<td class=\"n\">").append(value).append("</td>");
  }

  private void gains(Report.Row cell) {
    List<Report.Comparison> comparisons =
        report.comparisons().stream()
            .filter(
                c ->
                    c.experiment().equals(cell.experiment())
                        && c.cell().equals(cell.cell())
                        && c.measure().equals(cell.measure()))
            .toList();
    if (comparisons.isEmpty()) {
      return;
    }
    out.append("<h3>Gains <span class=\"unit\">times as good, within a round</span></h3>\n");
    out.append("<div class=\"wide\"><table>\n<thead><tr><th>subject</th><th>against</th>");
    out.append(
        "<th class=\"n\">median</th><th class=\"n\">least</th><th class=\"n\">greatest</th>");
    out.append("</tr></thead>\n<tbody>\n");
    for (Report.Comparison comparison : comparisons) {
      String kind =
          comparison.subject().startsWith(Contestant.Kind.QUIESCE.label()) ? "quiesce" : "";
      out.append("<tr class=\"").append(kind).append("\"><td>");
      text(comparison.subject());
      out.append("</td><td>");
      text(comparison.against());
      out.append("</td><td class=\"n\"><span class=\"badge ").append(comparison.verdict());
      out.append("\">").append(sign(comparison.verdict())).append(' ');
      out.append(TextTables.factor(comparison.gain().median())).append("</span></td>");
      number(TextTables.factor(comparison.gain().min()));
      number(TextTables.factor(comparison.gain().max()));
      out.append("</tr>\n");
    }
    out.append("</tbody></table></div>\n");
  }

  private static String sign(String verdict) {
    return switch (verdict) {
      case "win" -> "▲";
      case "loss" -> "▼";
      default -> "=";
    };
  }

  private void machine() {
    out.append("<section>\n<h2>Where</h2>\n<dl>\n");
    report
        .machine()
        .facts()
        .forEach(
            (name, fact) -> {
              out.append("<dt>");
              text(name.replace('_', ' '));
              out.append("</dt><dd>");
              text(String.valueOf(fact));
              out.append("</dd>\n");
            });
    out.append("<dt>flags of Java subjects</dt><dd><code>");
    text(String.join(" ", io.quiesce.bench.JavaLauncher.flags()));
    out.append("</code></dd>\n<dt>took</dt><dd>");
    out.append(report.took().toMinutes()).append(" min ").append(report.took().toSecondsPart());
    out.append(" s</dd>\n</dl>\n</section>\n");
  }

  private void text(String plain) {
    for (int i = 0; i < plain.length(); i++) {
      char c = plain.charAt(i);
      switch (c) {
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '&' -> out.append("&amp;");
        case '"' -> out.append("&quot;");
        default -> out.append(c);
      }
    }
  }

  /** Safe between script tags. */
  private static String script(String source) {
    return source.replace("</script", "<\\/script");
  }

  private static String resource(String name) throws Failure {
    try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new Failure("The file " + name + " is missing from this build; build it again");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new Failure("Cannot read " + name + " from this build (" + e + ")", e);
    }
  }
}
