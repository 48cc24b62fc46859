package io.quiesce.trace.source;

import io.quiesce.QuiesceListener;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Quiesce's core tells of itself. The hot path of the tracer uses no lock, RCU domain or
 * allocator of it, so an event of these cannot lead to another.
 */
final class CoreEvents implements QuiesceListener {
  private static final String RCU = "quiesce_rcu";
  private static final String ALLOC = "quiesce_alloc";

  private static final Emitter BEGIN =
      Emitter.of(RCU, "gp_begin", 10, List.of("domain", "flavour"), List.of(), List.of());
  private static final Emitter END =
      Emitter.of(
          RCU,
          "gp_end",
          6,
          List.of("domain", "flavour"),
          List.of("begin_ns", "duration_ns", "readers"),
          List.of("expedited"));
  private static final Emitter STALL =
      Emitter.of(RCU, "stall", 4, List.of("domain", "report"), List.of("waited_ns"), List.of());
  private static final Emitter BATCH =
      Emitter.of(
          RCU,
          "batch",
          6,
          List.of("domain", "worker"),
          List.of("callbacks", "bytes", "begin_ns", "duration_ns"),
          List.of());
  private static final Emitter LOCK_WAIT =
      Emitter.of(
          "quiesce_lock",
          "wait",
          6,
          List.of("lock", "kind", "owner"),
          List.of("owner_tid", "duration_ns"),
          List.of("acquired"));
  private static final Emitter TRIM =
      Emitter.of(
          ALLOC,
          "trim",
          6,
          List.of("allocator", "cause"),
          List.of("blocks", "bytes", "begin_ns", "duration_ns"),
          List.of());
  private static final Emitter EXHAUSTED =
      Emitter.of(
          ALLOC,
          "out_of_memory",
          3,
          List.of("allocator", "reason"),
          List.of("wanted", "limit"),
          List.of());
  private static final Emitter FAULT =
      Emitter.of(
          ALLOC,
          "fault",
          2,
          List.of("allocator", "kind", "report"),
          List.of("address", "bytes"),
          List.of());

  @Override
  public void gracePeriodBegun(String domain, String flavour) {
    BEGIN.emit(domain, flavour, "", "", "");
  }

  @Override
  public void gracePeriodEnded(
      String domain, String flavour, long begun, long nanos, int waitedFor, boolean expedited) {
    END.emit(domain, flavour, "", "", "", begun, nanos, waitedFor, 0, expedited ? 1 : 0);
  }

  @Override
  public void gracePeriodStalled(String domain, long nanos, String report) {
    STALL.emit(domain, report, "", "", "", nanos, 0, 0, 0, 0);
  }

  @Override
  public void callbacksRun(
      String domain, String worker, long callbacks, long bytes, long begun, long nanos) {
    BATCH.emit(domain, worker, "", "", "", callbacks, bytes, begun, nanos, 0);
  }

  @Override
  public boolean wantsLockWaits() {
    return LOCK_WAIT.isOn();
  }

  @Override
  public void lockWaited(
      String lock, String kind, @Nullable Thread owner, long nanos, boolean acquired) {
    String name = owner == null ? "" : owner.getName();
    long id = owner == null ? 0 : owner.threadId();
    LOCK_WAIT.emit(lock, kind, name, "", "", id, nanos, 0, 0, acquired ? 1 : 0);
  }

  @Override
  public void allocatorTrimmed(
      String allocator, String cause, long blocks, long bytes, long begun, long nanos) {
    TRIM.emit(allocator, cause, "", "", "", blocks, bytes, begun, nanos, 0);
  }

  @Override
  public void allocatorExhausted(String allocator, long wanted, long limit, String reason) {
    EXHAUSTED.emit(allocator, reason, "", "", "", wanted, limit, 0, 0, 0);
  }

  @Override
  public void memoryFault(String allocator, String kind, long address, long bytes, String report) {
    FAULT.emit(allocator, kind, report, "", "", address, bytes, 0, 0, 0);
  }
}
