package io.quiesce.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs cells: starts every contestant, lets them take turns, keeps the figures of each round.
 *
 * <p>Machines drift by far more than what is to be told apart, within a minute. So no subject is
 * measured "first" and another "later": in each round all of them run once, shortly after each
 * other, in an order that rotates from round to round; a gain is computed within a round, and only
 * then medians are taken.
 */
public final class Runner {

  /** How the command line of a contestant's process is found; tests put other programs in. */
  @FunctionalInterface
  interface Commands {
    List<String> of(Contestant.Launch launch, String experiment) throws SubjectProcess.Failure;
  }

  private final Plan plan;
  private final Commands commands;
  private final SubjectProcess.Patience patience;
  private final Progress progress;
  private int done;
  private int total;

  /**
   * Prepares a run.
   *
   * @param plan how thoroughly
   * @param peers the native programs
   * @param progress who is told how far it is
   */
  public Runner(Plan plan, NativePeers peers, Progress progress) {
    this(plan, realCommands(plan, peers), SubjectProcess.Patience.DEFAULT, progress);
  }

  Runner(Plan plan, Commands commands, SubjectProcess.Patience patience, Progress progress) {
    this.plan = plan;
    this.commands = commands;
    this.patience = patience;
    this.progress = progress;
  }

  /** The commands that {@code bench} runs. */
  static Commands realCommands(Plan plan, NativePeers peers) {
    return (launch, experiment) -> {
      List<String> command = new ArrayList<>();
      if (!launch.within().isEmpty()) {
        Optional<Path> script = peers.script(launch.within());
        if (script.isEmpty()) {
          throw new SubjectProcess.Failure(peers.whyMissing(launch.within()));
        }
        command.addAll(List.of("sh", script.get().toString(), "run"));
      }
      if (!launch.isNative()) {
        command.addAll(JavaLauncher.command(launch.program(), experiment, launch.params(), plan));
        return command;
      }
      Optional<Path> program = peers.program(launch.program());
      if (program.isEmpty()) {
        throw new SubjectProcess.Failure(peers.whyMissing(launch.program()));
      }
      command.add(program.get().toString());
      command.add(experiment);
      command.addAll(launch.params().words());
      return command;
    };
  }

  /**
   * Runs experiments.
   *
   * @param experiments in this order
   * @return the figures
   * @throws InterruptedException if interrupted; every process is ended
   */
  public Report run(List<Experiment> experiments) throws InterruptedException {
    long start = System.nanoTime();
    Map<Experiment, List<Cell>> cells = new LinkedHashMap<>();
    for (Experiment experiment : experiments) {
      cells.put(experiment, experiment.cells(plan));
    }
    total =
        cells.values().stream()
            .flatMap(List::stream)
            .mapToInt(cell -> cell.contestants().size() * (plan.rounds() + 2))
            .sum();
    List<Report.Row> rows = new ArrayList<>();
    List<Report.Comparison> comparisons = new ArrayList<>();
    for (Map.Entry<Experiment, List<Cell>> entry : cells.entrySet()) {
      for (Cell cell : entry.getValue()) {
        run(entry.getKey().name(), cell, rows, comparisons);
      }
    }
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    return new Report(Machine.read(), plan, took, experiments, rows, comparisons);
  }

  private void run(
      String experiment, Cell cell, List<Report.Row> rows, List<Report.Comparison> comparisons)
      throws InterruptedException {
    List<Entrant> entrants = new ArrayList<>();
    List<Measure> measures = cell.views().stream().map(Cell.View::measure).toList();
    int cellEnd = done + cell.contestants().size() * (plan.rounds() + 2);
    try {
      for (Contestant contestant : cell.contestants()) {
        step(experiment, cell, contestant);
        Entrant entrant = new Entrant(contestant);
        entrants.add(entrant);
        entrant.start(experiment);
      }
      for (int round = -1; round < plan.rounds(); round++) { // the first one settles caches
        for (int i = 0; i < entrants.size(); i++) {
          Entrant entrant = entrants.get(Math.floorMod(i + round, entrants.size()));
          step(experiment, cell, entrant.contestant);
          entrant.round(cell.roundTime(), measures, round >= 0);
        }
      }
    } finally {
      entrants.forEach(Entrant::close);
    }
    done = cellEnd;
    for (Cell.View view : cell.views()) {
      for (Entrant entrant : entrants) {
        rows.add(entrant.row(experiment, view));
      }
      compare(experiment, view, entrants, comparisons);
    }
  }

  private void step(String experiment, Cell cell, Contestant contestant) {
    progress.step(
        done++, total, (experiment + " " + cell.params()).strip() + ": " + contestant.subject());
  }

  private static void compare(
      String experiment,
      Cell.View view,
      List<Entrant> entrants,
      List<Report.Comparison> comparisons) {
    Map<String, Entrant> byName = new LinkedHashMap<>();
    entrants.forEach(entrant -> byName.put(entrant.contestant.subject(), entrant));
    for (Cell.Pair pair : view.pairs()) {
      Entrant subject = Objects.requireNonNull(byName.get(pair.subject()));
      Entrant against = Objects.requireNonNull(byName.get(pair.against()));
      if (subject.note.isEmpty() && against.note.isEmpty()) {
        List<Double> gains = gains(view.measure(), subject.values(view), against.values(view));
        Statistics gain = Statistics.of(gains);
        boolean better = gain.median() > 1;
        comparisons.add(
            new Report.Comparison(
                experiment,
                subject.params(view),
                view.params(),
                view.measure(),
                pair.subject(),
                pair.against(),
                gain,
                (int) gains.stream().filter(each -> each > 1 == better).count()));
      }
    }
  }

  /** One gain per round: neighbours in time are compared, never medians of different times. */
  static List<Double> gains(Measure measure, List<Double> subject, List<Double> against) {
    List<Double> gains = new ArrayList<>();
    for (int i = 0; i < Math.min(subject.size(), against.size()); i++) {
      gains.add(measure.gain(subject.get(i), against.get(i)));
    }
    return gains;
  }

  /** A contestant in a running cell. A failure is a note, and it sits out the rest. */
  private final class Entrant {
    final Contestant contestant;
    final List<Map<String, Double>> rounds = new ArrayList<>();
    String note = "";
    @Nullable SubjectProcess process;
    @Nullable SubjectProcess disturber;

    Entrant(Contestant contestant) {
      this.contestant = contestant;
    }

    void start(String experiment) throws InterruptedException {
      try {
        process = SubjectProcess.start(commands.of(contestant.launch(), experiment), patience);
        Contestant.Launch other = contestant.disturber();
        if (other != null) {
          disturber = SubjectProcess.start(commands.of(other, experiment), patience);
        }
      } catch (SubjectProcess.Failure e) {
        fail(e);
      }
    }

    void round(Duration time, List<Measure> measures, boolean counts) throws InterruptedException {
      SubjectProcess measured = process;
      if (measured == null || !note.isEmpty()) {
        return;
      }
      try {
        Map<String, Double> values = turn(measured, time);
        for (Measure measure : measures) {
          Double value = values.get(measure.key());
          if (value == null || value <= 0) {
            throw new SubjectProcess.Failure(
                "told " + values + ", where a positive " + measure.key() + " was expected");
          }
        }
        if (counts) {
          rounds.add(values);
        }
      } catch (SubjectProcess.Failure e) {
        fail(e);
      }
    }

    private Map<String, Double> turn(SubjectProcess measured, Duration time)
        throws SubjectProcess.Failure, InterruptedException {
      SubjectProcess other = disturber;
      if (other == null) {
        measured.request(time);
        return measured.result(time);
      }
      Duration margin = Duration.ofMillis(15); // the measured round lies within the other's
      Duration longer = time.plus(margin.multipliedBy(2));
      other.request(longer);
      Thread.sleep(margin);
      measured.request(time);
      Map<String, Double> values = measured.result(time);
      other.result(longer);
      return values;
    }

    private void fail(SubjectProcess.Failure failure) {
      note = Objects.requireNonNull(failure.getMessage());
      close();
    }

    void close() {
      for (SubjectProcess one : new @Nullable SubjectProcess[] {process, disturber}) {
        if (one != null) {
          one.close();
        }
      }
      process = null;
      disturber = null;
    }

    Params params(Cell.View view) {
      Map<String, String> all = new LinkedHashMap<>(view.params().values());
      all.putAll(contestant.params().values());
      return new Params(all);
    }

    List<Double> values(Cell.View view) {
      return rounds.stream()
          .map(round -> Objects.requireNonNull(round.get(view.measure().key())))
          .toList();
    }

    Report.Row row(String experiment, Cell.View view) {
      boolean measured = note.isEmpty() && !rounds.isEmpty();
      Map<String, Double> others = new LinkedHashMap<>();
      if (measured) {
        for (String key : rounds.getFirst().keySet()) {
          List<Double> values =
              rounds.stream().map(r -> r.get(key)).filter(Objects::nonNull).toList();
          if (!key.equals(view.measure().key())) {
            others.put(key, Statistics.of(values).median());
          }
        }
      }
      return new Report.Row(
          experiment,
          contestant.subject(),
          contestant.kind(),
          params(view),
          view.params(),
          view.measure(),
          measured ? Statistics.of(values(view)) : null,
          others,
          note);
    }
  }
}
