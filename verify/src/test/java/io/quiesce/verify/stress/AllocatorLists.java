package io.quiesce.verify.stress;

import io.quiesce.memory.CentralLists;
import io.quiesce.percpu.LockedRows;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** An allocator's central list, and the draining of a cache: each block is in one place. */
final class AllocatorLists {
  private AllocatorLists() {}

  /** Two threads take a block each. */
  static class Refills {
    private final CentralLists list;
    private int one;
    private int two;

    Refills(boolean locked) {
      list = new CentralLists(locked);
      list.putAll();
    }

    final void first() {
      one = list.refill();
    }

    final void second() {
      two = list.refill();
    }

    final String verdict() {
      int left = list.end();
      return one != two && left == CentralLists.BLOCKS - 2 ? "once" : one + "," + two + "," + left;
    }
  }

  /** The library's list. */
  @JCStressTest
  @Outcome(id = "once", expect = Expect.ACCEPTABLE, desc = "Two blocks, two left.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "A block twice, or lost.")
  @State
  public static class CentralRefills extends Refills {
    public CentralRefills() {
      super(true);
    }

    @Actor
    public void one() {
      first();
    }

    @Actor
    public void two() {
      second();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict();
    }
  }

  /** Broken: no lock. */
  @JCStressTest
  @Outcome(id = "once", expect = Expect.ACCEPTABLE, desc = "Two blocks, two left.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "A block twice, or lost.")
  @State
  public static class UnlockedRefillsTwin extends Refills {
    public UnlockedRefillsTwin() {
      super(false);
    }

    @Actor
    public void one() {
      first();
    }

    @Actor
    public void two() {
      second();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict();
    }
  }

  /** Two threads give a block each. */
  static class Overflows {
    private final CentralLists list;

    Overflows(boolean locked) {
      list = new CentralLists(locked);
    }

    final void give(int number) {
      list.overflow(number);
    }

    final String verdict() {
      int left = list.end();
      return left == 2 ? "both" : left + " of 2";
    }
  }

  /** The library's list. */
  @JCStressTest
  @Outcome(id = "both", expect = Expect.ACCEPTABLE, desc = "Both are there.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost.")
  @State
  public static class CentralOverflows extends Overflows {
    public CentralOverflows() {
      super(true);
    }

    @Actor
    public void one() {
      give(0);
    }

    @Actor
    public void two() {
      give(1);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict();
    }
  }

  /** Broken: no lock. */
  @JCStressTest
  @Outcome(id = "both", expect = Expect.ACCEPTABLE, desc = "Both are there.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "One is lost.")
  @State
  public static class UnlockedOverflowsTwin extends Overflows {
    public UnlockedOverflowsTwin() {
      super(false);
    }

    @Actor
    public void one() {
      give(0);
    }

    @Actor
    public void two() {
      give(1);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict();
    }
  }

  /** One gives a block while another takes one; it may be the same. */
  @JCStressTest
  @Outcome(id = "once", expect = Expect.ACCEPTABLE, desc = "Each block in one place.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "A block twice, or lost.")
  @State
  public static class CentralExchange {
    private final CentralLists list = new CentralLists(true);
    private int got;

    public CentralExchange() {
      list.overflow(0);
    }

    @Actor
    public void give() {
      list.overflow(1);
    }

    @Actor
    public void take() {
      got = list.refill();
    }

    @Arbiter
    public void end(L_Result r) {
      int left = list.end();
      r.r1 = (got == 0 || got == 1) && left == 1 ? "once" : got + "," + left;
    }
  }

  /** A push and a pop against a drain; the value 1 is there before, the value 2 comes. */
  static class Drain {
    private final LockedRows row = new LockedRows();
    private final boolean closing;
    private boolean pushed;
    private int popped;
    private int drained;

    Drain(boolean closing) {
      this.closing = closing;
      row.makeArray(1);
    }

    final void pushAndPop() {
      pushed = row.arrayPush(2);
      popped = row.arrayPop();
    }

    final void drain() {
      drained = row.drain(closing);
    }

    /** Each value must be in one place; places are added up as bits, so that twice shows. */
    final String verdict() {
      int sum = drained + (popped == 0 ? 0 : 1 << popped) + row.drain(true);
      return sum == (pushed ? 2 + 4 : 2) ? "once" : pushed + "," + popped + "," + drained;
    }
  }

  /** As the allocator does it (P.3, P.4). */
  @JCStressTest
  @Outcome(id = "once", expect = Expect.ACCEPTABLE, desc = "Each value in one place.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "A value twice, or lost.")
  @State
  public static class ClosedDrain extends Drain {
    public ClosedDrain() {
      super(true);
    }

    @Actor
    public void one() {
      pushAndPop();
    }

    @Actor
    public void two() {
      drain();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict();
    }
  }

  /** Broken: the row is neither closed nor fenced. */
  @JCStressTest
  @Outcome(id = "once", expect = Expect.ACCEPTABLE, desc = "Each value in one place.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "A value twice, or lost.")
  @State
  public static class OpenDrainTwin extends Drain {
    public OpenDrainTwin() {
      super(false);
    }

    @Actor
    public void one() {
      pushAndPop();
    }

    @Actor
    public void two() {
      drain();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict();
    }
  }
}
