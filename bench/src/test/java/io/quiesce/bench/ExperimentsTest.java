package io.quiesce.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.bench.experiments.TraceEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class ExperimentsTest {
  private record Shown(Cell.View cell, Params params, Cell.Pair pair) {}

  private static List<Shown> comparisons(String experiment, Predicate<Cell.Pair> which) {
    List<Shown> found = new ArrayList<>();
    for (Cell cell : Experiments.find(experiment).orElseThrow().cells(Plan.quick(2))) {
      for (Cell.View view : cell.views()) {
        view.pairs().stream()
            .filter(which)
            .forEach(
                pair -> {
                  Contestant subject =
                      cell.contestants().stream()
                          .filter(c -> c.subject().equals(pair.subject()))
                          .findFirst()
                          .orElseThrow();
                  found.add(new Shown(view, subject.params(), pair));
                });
      }
    }
    return found;
  }

  private static List<Shown> comparisons(String experiment, String subject, String against) {
    return comparisons(experiment, p -> p.equals(new Cell.Pair(subject, against)));
  }

  /** The comparisons that the project promises, by the names that checks use. */
  @Test
  void whatMustBeShownIsMeasured() {
    assertThat(comparisons("rcu.read", "quiesce membarrier implicit", "liburcu bp")).hasSize(2);
    assertThat(comparisons("rcu.read", "quiesce membarrier explicit", "liburcu memb")).hasSize(2);
    assertThat(comparisons("rcu.read", "quiesce qsbr", "liburcu qsbr")).hasSize(2);
    assertThat(comparisons("rcu.read", "quiesce qsbr", "bare dereference")).hasSize(2);
    assertThat(comparisons("rcu.read", "quiesce membarrier implicit", "ReentrantReadWriteLock"))
        .anyMatch(shown -> shown.cell().params().get("threads", 0) == 2);
    assertThat(comparisons("rcu.synchronize", "quiesce membarrier", "liburcu memb"))
        .anyMatch(shown -> shown.cell().params().get("readers", 0) == 1);
    for (String measure : List.of("enqueue", "throughput", "idle-latency", "idle-barrier")) {
      List<Shown> calls =
          comparisons("rcu.call", "quiesce membarrier", "liburcu memb").stream()
              .filter(shown -> shown.cell().params().get("measure", "").equals(measure))
              .toList();
      assertThat(calls).as(measure).hasSize(1);
      assertThat(calls.getFirst().params().get("worker", "")).isEqualTo("default");
    }
    assertThat(
            comparisons("rcu.close", "quiesce guarded", "Arena.ofShared").stream()
                .map(Shown::cell)
                .map(Cell.View::params)
                .filter(params -> params.get("measure", "").equals("closer"))
                .map(params -> params.get("readers", "") + "+" + params.get("idle", "")))
        .containsExactlyInAnyOrder("1+0", "2+0", "1+1000");
  }

  /** The values of a parameter with which a comparison is made. */
  private static List<String> values(
      String experiment, String subject, String against, String key, String... others) {
    return comparisons(experiment, subject, against).stream()
        .map(shown -> shown.cell().params())
        .filter(params -> params.words().containsAll(List.of(others)))
        .map(params -> params.get(key, ""))
        .toList();
  }

  @Test
  void whatMustBeShownOfPerCpuData() {
    assertThat(values("percpu.add", "quiesce counter", "LongAdder", "threads"))
        .containsExactly("1", "2", "8");
    assertThat(values("percpu.memory", "quiesce counter", "LongAdder", "threads"))
        .containsExactly("8");
    assertThat(values("percpu.list", "quiesce stack", "ConcurrentLinkedQueue", "threads"))
        .containsExactly("1", "2", "8");
  }

  @Test
  void whatMustBeShownOfAllocators() {
    String ours = "quiesce allocator";
    assertThat(values("alloc.pair", ours, "glibc malloc", "threads", "measure=pair"))
        .containsExactly("1", "2");
    assertThat(values("alloc.pair", ours, "glibc malloc", "threads", "measure=batch")).isEmpty();
    for (String peer : List.of("Netty pooled", "Netty adaptive", "glibc malloc", "jemalloc")) {
      for (String measure : List.of("ops", "rss")) {
        assertThat(
                values(
                    "alloc.ttest1", ours, peer, "threads", "kind=platform", "measure=" + measure))
            .as(peer)
            .containsExactly("2", "8", "100");
      }
      assertThat(values("alloc.ttest1", ours, peer, "threads", "kind=virtual", "measure=ops"))
          .containsExactly("1000");
    }
    for (String peer : List.of("glibc malloc", "jemalloc", "Netty pooled")) {
      assertThat(values("alloc.idle", ours, peer, "measure", "threads=500"))
          .containsExactly("ops", "rss");
    }
  }

  @Test
  void whatMustBeShownOfLocks() {
    String nmcs = "quiesce nmcs";
    String mcs = "quiesce mcs";
    String unfair = "ReentrantLock unfair";
    String fair = "ReentrantLock fair";
    assertThat(values("locks.uncontended", nmcs, unfair, "threads")).containsExactly("1");
    assertThat(values("locks.uncontended", mcs, fair, "threads")).containsExactly("1");
    assertThat(values("locks.uncontended", nmcs, "Concurrency Kit MCS", "threads"))
        .containsExactly("1");
    String rate = "measure=throughput";
    assertThat(values("locks.contended", nmcs, unfair, "threads", "cs=50", rate)).contains("8");
    assertThat(values("locks.contended", nmcs, unfair, "threads", "cs=1000", rate))
        .contains("8", "32");
    for (String wait : List.of("measure=p999-wait", "measure=longest-wait")) {
      assertThat(values("locks.contended", nmcs, unfair, "threads", "cs=1000", wait))
          .as(wait)
          .containsExactly("8", "32");
    }
    assertThat(values("locks.contended", mcs, fair, "threads", "cs=50")).containsExactly("2", "8");
    assertThat(values("locks.contended", nmcs, "Concurrency Kit MCS", "measure", "threads=8"))
        .containsExactly("throughput", "throughput");
    assertThat(values("locks.hackbench", nmcs, unfair, "kind", "groups=25"))
        .containsExactly("platform");
  }

  @Test
  void theTracersPeersAreMeasured() {
    String cpu = "measure=cpu";
    assertThat(
            values("trace.event", "JFR", "LTTng-UST", "mode", "event=two-ints", "threads=1", cpu))
        .containsExactly("overwrite", "discard");
    assertThat(values("trace.event", "Log4j2 async", "LTTng JUL", "threads", "event=text", cpu))
        .containsExactly("1");
    assertThat(values("trace.event", "JFR", "empty loop", "measure")).containsExactly("disabled");
    assertThat(values("trace.event", "JFR", "LTTng-UST", "threads", "measure=wall"))
        .containsExactly("1", "2", "1", "1");
    assertThat(values("trace.sustained", "JFR", "LTTng-UST", "mode", "event=two-ints", cpu))
        .containsExactly("discard");
  }

  /** Who is slower than his own writer pauses too, so that all do the same work. */
  @Test
  void allWhoDiscardPauseAlikeAndOthersNever() {
    for (String name : List.of("trace.event", "trace.sustained")) {
      boolean some = false;
      for (Cell cell : Experiments.find(name).orElseThrow().cells(Plan.full(2))) {
        boolean pauses =
            name.equals("trace.event") && cell.params().get("mode", "").equals("discard");
        some |= pauses;
        assertThat(cell.contestants())
            .as(cell.params().toString())
            .allSatisfy(
                contestant ->
                    assertThat(contestant.launch().params().get("burst", 0) > 0).isEqualTo(pauses));
      }
      assertThat(some).isEqualTo(name.equals("trace.event"));
    }
  }

  /** Waits for the tracer: it need only be named among the contestants. */
  @Test
  void whatMustBeShownOfTheTracer() {
    String ours = TraceEvent.OURS;
    assumeTrue(
        Experiments.find("trace.event").orElseThrow().cells(Plan.quick(2)).stream()
            .flatMap(cell -> cell.contestants().stream())
            .anyMatch(contestant -> contestant.subject().equals(ours)),
        "skipped: the tracer does not take part yet");
    String overwrite = "mode=overwrite";
    for (String measure : List.of("measure=cpu", "measure=wall")) {
      assertThat(
              values(
                  "trace.event",
                  ours,
                  "LTTng-UST",
                  "threads",
                  "event=two-ints",
                  overwrite,
                  measure))
          .as(measure)
          .containsExactly("1", "2");
      assertThat(
              values(
                  "trace.event",
                  ours,
                  "LTTng-UST",
                  "threads",
                  "event=long-string",
                  overwrite,
                  measure))
          .as(measure)
          .contains("1");
      assertThat(
              values("trace.event", ours, "JFR", "threads", "event=two-ints", overwrite, measure))
          .as(measure)
          .contains("1");
      assertThat(values("trace.event", ours, "JFR", "mode", "event=two-ints", "threads=1", measure))
          .as(measure)
          .containsExactly("overwrite", "discard");
      assertThat(values("trace.event", ours, "LTTng JUL", "threads", "event=text", measure))
          .as(measure)
          .contains("1");
    }
    assertThat(values("trace.event", ours, "empty loop", "measure")).containsExactly("disabled");
  }

  /** Waits are better when they are shorter, and the median of at least five longest ones. */
  @Test
  void waitsAreLessIsBetterAndOfFiveRounds() {
    for (Plan plan : List.of(Plan.quick(2), Plan.full(2))) {
      assertThat(plan.rounds()).isGreaterThanOrEqualTo(5);
      assertThat(
              Experiments.find("locks.contended").orElseThrow().cells(plan).stream()
                  .flatMap(cell -> cell.views().stream())
                  .filter(view -> !view.params().get("measure", "").equals("throughput")))
          .isNotEmpty()
          .allMatch(view -> view.measure().lowerIsBetter());
    }
  }

  @Test
  void everyExperimentTellsHowItIsMeasuredAndHasPeers() {
    for (Plan plan : List.of(Plan.quick(1), Plan.quick(2), Plan.full(64))) {
      for (Experiment experiment : Experiments.all()) {
        assertThat(experiment.name()).matches("[a-z]+\\.[a-z0-9]+");
        assertThat(experiment.method()).hasSizeGreaterThan(100);
        assertThat(experiment.cells(plan)).isNotEmpty().allMatch(cell -> !cell.pairs().isEmpty());
      }
    }
  }

  @Test
  void javaSubjectsExist() {
    for (Experiment experiment : Experiments.all()) {
      for (Cell cell : experiment.cells(Plan.full(4))) {
        for (Contestant contestant : cell.contestants()) {
          if (!contestant.launch().isNative()) {
            assertThat(Subjects.create(contestant.launch().program())).isNotNull();
          }
        }
      }
    }
  }
}
