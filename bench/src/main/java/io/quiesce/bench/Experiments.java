package io.quiesce.bench;

import io.quiesce.bench.experiments.AllocIdle;
import io.quiesce.bench.experiments.AllocPair;
import io.quiesce.bench.experiments.AllocTTest1;
import io.quiesce.bench.experiments.BarrierBystander;
import io.quiesce.bench.experiments.BarrierCost;
import io.quiesce.bench.experiments.LocksContended;
import io.quiesce.bench.experiments.LocksHackbench;
import io.quiesce.bench.experiments.LocksUncontended;
import io.quiesce.bench.experiments.PerCpuAdd;
import io.quiesce.bench.experiments.PerCpuList;
import io.quiesce.bench.experiments.PerCpuMemoryUse;
import io.quiesce.bench.experiments.RcuArenas;
import io.quiesce.bench.experiments.RcuCall;
import io.quiesce.bench.experiments.RcuClose;
import io.quiesce.bench.experiments.RcuRead;
import io.quiesce.bench.experiments.RcuSynchronize;
import io.quiesce.bench.experiments.TraceEvent;
import io.quiesce.bench.experiments.TraceHotpath;
import io.quiesce.bench.experiments.TraceSustained;
import java.util.List;
import java.util.Optional;

/** All experiments. */
public final class Experiments {
  private static final List<Experiment> ALL =
      List.of(
          new BarrierCost(),
          new BarrierBystander(),
          new RcuRead(),
          new RcuSynchronize(),
          new RcuCall(),
          new RcuClose(),
          new RcuArenas(),
          new PerCpuAdd(),
          new PerCpuMemoryUse(),
          new PerCpuList(),
          new AllocPair(),
          new AllocTTest1(),
          new AllocIdle(),
          new LocksUncontended(),
          new LocksContended(),
          new LocksHackbench(),
          new TraceEvent(),
          new TraceSustained(),
          new TraceHotpath());

  private Experiments() {}

  /**
   * All of them.
   *
   * @return in the order in which they run
   */
  public static List<Experiment> all() {
    return ALL;
  }

  /**
   * One of them.
   *
   * @param name its name
   * @return the experiment, if there is one of that name
   */
  public static Optional<Experiment> find(String name) {
    return ALL.stream().filter(experiment -> experiment.name().equals(name)).findFirst();
  }
}
