package io.quiesce.verify.stress;

import io.quiesce.locks.RawLocks;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Two threads add to two plain fields under each lock (L.1, L.2), and two give up one after the
 * other behind a holder (L.3): then the lock must be free.
 *
 * <p>x86-64 keeps the order of stores and of loads, so a twin whose release or acquire is merely
 * weaker would show nothing there. The twins' acquisitions lack the atomicity, or the look, that
 * makes them acquire anything.
 */
final class Locks {
  private Locks() {}

  /** The section, long enough for two to meet. */
  static class Sum {
    private final RawLocks.Raw lock;
    private int first;
    private int second;

    Sum(RawLocks.Raw lock) {
      this.lock = lock;
    }

    final void add() {
      lock.lock();
      int seen = first;
      for (int i = 0; i < 4; i++) {
        Thread.onSpinWait();
      }
      first = seen + 1;
      second++;
      lock.unlock();
    }

    final void result(II_Result r) {
      r.r1 = first;
      r.r2 = second;
    }
  }

  /** The library's. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Two at once, or one that did not see.")
  @State
  public static class SpinSum extends Sum {
    public SpinSum() {
      super(RawLocks.spin());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** Broken: see {@link RawLocks#spinTwin}. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Two at once, or one that did not see.")
  @State
  public static class SpinSumTwin extends Sum {
    public SpinSumTwin() {
      super(RawLocks.spinTwin());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** The library's. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Two at once, or one that did not see.")
  @State
  public static class TicketSum extends Sum {
    public TicketSum() {
      super(RawLocks.ticket());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** Broken: see {@link RawLocks#ticketTwin}. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Two at once, or one that did not see.")
  @State
  public static class TicketSumTwin extends Sum {
    public TicketSumTwin() {
      super(RawLocks.ticketTwin());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** The library's. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Two at once, or one that did not see.")
  @State
  public static class ClhSum extends Sum {
    public ClhSum() {
      super(RawLocks.clh());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** Broken: see {@link RawLocks#clhTwin}. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Two at once, or one that did not see.")
  @State
  public static class ClhSumTwin extends Sum {
    public ClhSumTwin() {
      super(RawLocks.clhTwin());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** The library's. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Two at once, or one that did not see.")
  @State
  public static class McsSum extends Sum {
    public McsSum() {
      super(RawLocks.mcs());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** Broken: see {@link RawLocks#mcsTwin}. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Two at once, or one that did not see.")
  @State
  public static class McsSumTwin extends Sum {
    public McsSumTwin() {
      super(RawLocks.mcsTwin());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** The library's. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Two at once, or one that did not see.")
  @State
  public static class NodelessSum extends Sum {
    public NodelessSum() {
      super(RawLocks.nodeless());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** Broken: see {@link RawLocks#nodelessTwin}. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "One after the other.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Two at once, or one that did not see.")
  @State
  public static class NodelessSumTwin extends Sum {
    public NodelessSumTwin() {
      super(RawLocks.nodelessTwin());
    }

    @Actor
    public void one() {
      add();
    }

    @Actor
    public void two() {
      add();
    }

    @Arbiter
    public void end(II_Result r) {
      result(r);
    }
  }

  /** Two that give up behind a holder; when it is done the lock is free. */
  @JCStressTest
  @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Free.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Nobody has it, and it cannot be taken.")
  @State
  public static class ClhGivenUp {
    private final RawLocks.Healthy lock = RawLocks.clh();

    public ClhGivenUp() {
      lock.lock();
    }

    @Actor
    public void one() {
      lock.queueFor(1);
    }

    @Actor
    public void two() {
      lock.queueFor(1);
    }

    @Arbiter
    public void end(I_Result r) {
      lock.unlock();
      r.r1 = lock.tryLock() ? 1 : 0;
    }
  }

  /** Two that give up behind a holder; when it is done the lock is free. */
  @JCStressTest
  @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Free.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Nobody has it, and it cannot be taken.")
  @State
  public static class McsGivenUp {
    private final RawLocks.Healthy lock = RawLocks.mcs();

    public McsGivenUp() {
      lock.lock();
    }

    @Actor
    public void one() {
      lock.queueFor(1);
    }

    @Actor
    public void two() {
      lock.queueFor(1);
    }

    @Arbiter
    public void end(I_Result r) {
      lock.unlock();
      r.r1 = lock.tryLock() ? 1 : 0;
    }
  }

  /** Two that give up behind a holder; when it is done the lock is free. */
  @JCStressTest
  @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Free.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Nobody has it, and it cannot be taken.")
  @State
  public static class NodelessGivenUp {
    private final RawLocks.Healthy lock = RawLocks.nodeless();

    public NodelessGivenUp() {
      lock.lock();
    }

    @Actor
    public void one() {
      lock.queueFor(1);
    }

    @Actor
    public void two() {
      lock.queueFor(1);
    }

    @Arbiter
    public void end(I_Result r) {
      lock.unlock();
      r.r1 = lock.tryLock() ? 1 : 0;
    }
  }
}
