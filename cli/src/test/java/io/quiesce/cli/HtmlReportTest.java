package io.quiesce.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.bench.Cell;
import io.quiesce.bench.Contestant.Kind;
import io.quiesce.bench.Experiment;
import io.quiesce.bench.Machine;
import io.quiesce.bench.Measure;
import io.quiesce.bench.Params;
import io.quiesce.bench.Plan;
import io.quiesce.bench.Report;
import io.quiesce.bench.Statistics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HtmlReportTest {
  private static final Params CELL = Params.of("threads", 1);

  private record Named(String name) implements Experiment {
    @Override
    public String title() {
      return "Is a < b & \"c\"?";
    }

    @Override
    public String method() {
      return "How <script>alert(1)</script> it was measured.";
    }

    @Override
    public List<Cell> cells(Plan plan) {
      return List.of();
    }
  }

  private static Report.Row row(
      String subject, Kind kind, @Nullable Statistics figure, String note) {
    return new Report.Row(
        "rcu.read", subject, kind, CELL, CELL, Measure.NS, figure, Map.of("p99", 9.0), note);
  }

  private static Report.Comparison gain(String against, double median) {
    return new Report.Comparison(
        "rcu.read",
        CELL,
        CELL,
        Measure.NS,
        "quiesce one",
        against,
        new Statistics(median, median * 0.9, median * 1.05, 5),
        5);
  }

  private static String html() throws Failure {
    return HtmlReport.render(
        new Report(
            new Machine(Map.of("kernel", "Linux <6>", "cpus", 2, "jdk", "25")),
            Plan.quick(2),
            Duration.ofSeconds(61),
            List.of(new Named("rcu.read")),
            List.of(
                row("quiesce one", Kind.QUIESCE, new Statistics(2, 1.5, 2.5, 5), ""),
                row("slow peer", Kind.JAVA, new Statistics(200, 150, 250, 5), ""),
                row("absent peer", Kind.NATIVE, null, "Not built: install liburcu-dev.")),
            List.of(gain("slow peer", 100), gain("quick peer", 0.5))));
  }

  @Test
  void standsAlone() throws Failure {
    String html = html();
    String markup =
        Pattern.compile("(?s)(<script[^>]*>).*?</script>").matcher(html).replaceAll("$1");
    assertThat(markup).doesNotContainPattern("(?i)<(link|img|iframe|object|embed)\\b");
    assertThat(markup).doesNotContainPattern("(?i)\\bsrc\\s*=");
    assertThat(markup).doesNotContainPattern("(?i)(https?:|url\\(|@import)");
    assertThat(html).contains("echarts", "Apache License");
    assertThat(html.split("</script>", -1)).hasSize(1 + 3); // one chart, the library, ours
  }

  @Test
  void isReadableWithoutScripts() throws Failure {
    String plain =
        Pattern.compile("(?s)<(script|style)\\b.*?</\\1>").matcher(html()).replaceAll("");
    assertThat(plain)
        .contains("quiesce one", "2.00", "1.50", "2.50", "slow peer", "200", "9.00")
        .contains("Not built: install liburcu-dev.")
        .contains("Is a &lt; b &amp; &quot;c&quot;?")
        .contains("Linux &lt;6&gt;")
        .contains("1 min 1 s");
  }

  @Test
  void threeNumbersOfThreadsMakeALine() throws Failure {
    List<Report.Row> rows = new ArrayList<>();
    for (int threads : List.of(8, 2, 100)) {
      Params params = Params.of("threads", threads, "measure", "ops");
      for (String subject : List.of("ours", "theirs")) {
        Statistics figure =
            subject.equals("theirs") && threads == 8
                ? null
                : new Statistics(threads, threads, threads, 5);
        rows.add(
            new Report.Row(
                "alloc.ttest1",
                subject,
                Kind.JAVA,
                params,
                params,
                Measure.NS,
                figure,
                Map.of(),
                ""));
      }
    }
    String html =
        HtmlReport.render(
            new Report(
                new Machine(Map.of()),
                Plan.quick(2),
                Duration.ZERO,
                List.of(new Named("alloc.ttest1")),
                rows,
                List.of()));
    assertThat(html).contains("By number of threads: measure=ops");
    assertThat(html.replaceAll("\\s+", ""))
        .contains("\"points\":[2,8,100]")
        .containsPattern("\"ours\",\"kind\":\"java\",\"values\":\\[2[.0]*,8[.0]*,100[.0]*]")
        .containsPattern("\"theirs\",\"kind\":\"java\",\"values\":\\[2[.0]*,null,100[.0]*]");
    assertThat(html()).doesNotContain("By number of threads");
  }

  @Test
  void lossesLookLikeWins() throws Failure {
    assertThat(html())
        .contains("<span class=\"badge win\">▲ 100</span>")
        .contains("<span class=\"badge loss\">▼ 0.50</span>");
  }
}
