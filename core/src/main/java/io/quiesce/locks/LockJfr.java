package io.quiesce.locks;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** The JFR events of locks; reached through {@link LockEvents} only. */
final class LockJfr {
  private LockJfr() {}

  @Name("io.quiesce.LockWait")
  @Label("Long wait for a lock")
  @Description("A thread waited for a lock for longer than quiesce.locks.longWaitMillis")
  @Category({"Quiesce", "Locks"})
  @StackTrace
  static final class LockWaitEvent extends Event {
    @Label("Lock")
    String lock = "";

    @Label("Kind")
    String kind = "";

    @Label("Owner at the beginning")
    @Nullable Thread owner;

    @Label("Length")
    @Timespan
    long length;

    @Label("Acquired")
    boolean acquired;
  }

  static void waited(
      String lock, String kind, @Nullable Thread owner, long nanos, boolean acquired) {
    LockWaitEvent event = new LockWaitEvent();
    if (event.shouldCommit()) {
      event.lock = lock;
      event.kind = kind;
      event.owner = owner;
      event.length = nanos;
      event.acquired = acquired;
      event.commit();
    }
  }
}
