package io.quiesce.bench;

import io.quiesce.bench.subjects.ArenaSubject;
import io.quiesce.bench.subjects.BarrierSubject;
import io.quiesce.bench.subjects.BystanderSubject;
import io.quiesce.bench.subjects.CallSubject;
import io.quiesce.bench.subjects.CloseSubject;
import io.quiesce.bench.subjects.CountMemorySubject;
import io.quiesce.bench.subjects.CountSubject;
import io.quiesce.bench.subjects.HackbenchSubject;
import io.quiesce.bench.subjects.IdleSubject;
import io.quiesce.bench.subjects.ListSubject;
import io.quiesce.bench.subjects.LockSubject;
import io.quiesce.bench.subjects.PairSubject;
import io.quiesce.bench.subjects.ReadSubject;
import io.quiesce.bench.subjects.SynchronizeSubject;
import io.quiesce.bench.subjects.TTest1Subject;
import io.quiesce.bench.subjects.TraceSubject;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The programs that {@link SubjectHost} can host. */
final class Subjects {
  private static final Map<String, Supplier<Subject>> ALL =
      new TreeMap<>(
          Map.ofEntries(
              entry("arena", ArenaSubject::new),
              entry("barrier", BarrierSubject::new),
              entry("bystander", BystanderSubject::new),
              entry("call", CallSubject::new),
              entry("close", CloseSubject::new),
              entry("count", CountSubject::new),
              entry("count-memory", CountMemorySubject::new),
              entry("hackbench", HackbenchSubject::new),
              entry("idle", IdleSubject::new),
              entry("list", ListSubject::new),
              entry("lock", LockSubject::new),
              entry("pair", PairSubject::new),
              entry("read", ReadSubject::new),
              entry("synchronize", SynchronizeSubject::new),
              entry("trace", TraceSubject::new),
              entry("ttest1", TTest1Subject::new)));

  private Subjects() {}

  private static Map.Entry<String, Supplier<Subject>> entry(String name, Supplier<Subject> made) {
    return Map.entry(name, made);
  }

  static Subject create(String program) {
    Supplier<Subject> made = ALL.get(program);
    if (made == null) {
      throw new IllegalArgumentException(
          "no subject is called '" + program + "'; there are " + ALL.keySet());
    }
    return made.get();
  }
}
