package io.quiesce.bench;

import io.quiesce.bench.subjects.ArenaSubject;
import io.quiesce.bench.subjects.BarrierSubject;
import io.quiesce.bench.subjects.BystanderSubject;
import io.quiesce.bench.subjects.CallSubject;
import io.quiesce.bench.subjects.CloseSubject;
import io.quiesce.bench.subjects.ReadSubject;
import io.quiesce.bench.subjects.SynchronizeSubject;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The programs that {@link SubjectHost} can host. */
final class Subjects {
  private static final Map<String, Supplier<Subject>> ALL =
      new TreeMap<>(
          Map.of(
              "arena", ArenaSubject::new,
              "barrier", BarrierSubject::new,
              "bystander", BystanderSubject::new,
              "call", CallSubject::new,
              "close", CloseSubject::new,
              "read", ReadSubject::new,
              "synchronize", SynchronizeSubject::new));

  private Subjects() {}

  static Subject create(String program) {
    Supplier<Subject> made = ALL.get(program);
    if (made == null) {
      throw new IllegalArgumentException(
          "no subject is called '" + program + "'; there are " + ALL.keySet());
    }
    return made.get();
  }
}
