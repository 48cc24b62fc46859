package io.quiesce.verify.stress;

import io.quiesce.percpu.LockedRows;
import io.quiesce.percpu.TaggedStacks;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * The stack with a tag that per-CPU stacks share (T.1), and locked rows with the manager that
 * closes them (P.3, P.4).
 */
final class PerCpuRows {
  private static final int SPINS = 8;

  private PerCpuRows() {}

  /** One pops; the other pops two and pushes the first back, which is ABA. */
  static class Aba {
    private final TaggedStacks stack;
    private final int[] popped = new int[2];

    Aba(TaggedStacks stack) {
      this.stack = stack;
      stack.push(2);
      stack.push(1);
    }

    final void pop() {
      popped[0] = stack.pop();
    }

    final void popTwoPushFirst() {
      int first = stack.pop();
      popped[1] = stack.pop();
      if (first != 0) {
        stack.push(first);
      }
    }

    /** Each of the two nodes must be in one place. */
    final String places() {
      int[] times = new int[3];
      times[popped[0]]++;
      times[popped[1]]++;
      int node = stack.pop();
      for (int i = 0; node != 0 && i < 4; i++) {
        times[node]++;
        node = stack.pop();
      }
      return times[1] == 1 && times[2] == 1 ? "once" : times[1] + "," + times[2];
    }
  }

  /** The library's stack. */
  @JCStressTest
  @Outcome(id = "once", expect = Expect.ACCEPTABLE, desc = "Each node in one place.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "A node twice, or lost.")
  @State
  public static class TaggedAba extends Aba {
    public TaggedAba() {
      super(TaggedStacks.healthy(2, SPINS));
    }

    @Actor
    public void one() {
      pop();
    }

    @Actor
    public void two() {
      popTwoPushFirst();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = places();
    }
  }

  /** Broken: the tag stays the same. */
  @JCStressTest
  @Outcome(id = "once", expect = Expect.ACCEPTABLE, desc = "Each node in one place.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "A node twice, or lost: ABA.")
  @State
  public static class UntaggedAbaTwin extends Aba {
    public UntaggedAbaTwin() {
      super(TaggedStacks.untagged(2, SPINS));
    }

    @Actor
    public void one() {
      pop();
    }

    @Actor
    public void two() {
      popTwoPushFirst();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = places();
    }
  }

  /** Closing against a push: it is taken by the closing, or refused. */
  @JCStressTest
  @Outcome(
      id = {"pushed/1", "refused/0"},
      expect = Expect.ACCEPTABLE,
      desc = "In or out.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, or there in spite of a refusal.")
  @State
  public static class TaggedClose {
    private final TaggedStacks stack = TaggedStacks.healthy(1, 0);
    private boolean pushed;
    private int taken;

    @Actor
    public void push() {
      pushed = stack.push(1);
    }

    @Actor
    public void close() {
      taken = stack.close();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = (pushed ? "pushed/" : "refused/") + (taken + stack.pop());
    }
  }

  /** Two additions on one row: both are there, or one found the row busy and says so. */
  @JCStressTest
  @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "Both.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost.")
  @State
  public static class LockedAdd {
    private final LockedRows row = new LockedRows();
    private int busyOne;
    private int busyTwo;

    @Actor
    public void one() {
      busyOne = row.add();
    }

    @Actor
    public void two() {
      busyTwo = row.add();
    }

    @Arbiter
    public void end(I_Result r) {
      r.r1 = row.count() + busyOne + busyTwo;
    }
  }

  /** Broken: no lock. */
  @JCStressTest
  @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "Both.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "One is lost.")
  @State
  public static class UnlockedAddTwin {
    private final LockedRows row = new LockedRows();

    @Actor
    public void one() {
      row.addUnlocked();
    }

    @Actor
    public void two() {
      row.addUnlocked();
    }

    @Arbiter
    public void end(I_Result r) {
      r.r1 = row.count();
    }
  }

  /** A push against a manager that closes, fences, takes and opens. */
  @JCStressTest
  @Outcome(id = "right", expect = Expect.ACCEPTABLE, desc = "Taken, left, or refused.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost, or the closed row moved.")
  @State
  public static class ClosedRow {
    private final LockedRows row = new LockedRows();
    private boolean pushed;
    private int taken;

    @Actor
    public void push() {
      pushed = row.push(1);
    }

    @Actor
    public void manager() {
      taken = row.takeClosed();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict(pushed, taken, row.left());
    }
  }

  /** Broken: the push takes no lock, so that there is nothing to fence. */
  @JCStressTest
  @Outcome(id = "right", expect = Expect.ACCEPTABLE, desc = "Taken, left, or refused.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Lost, or the closed row moved.")
  @State
  public static class ClosedRowUnlockedTwin {
    private final LockedRows row = new LockedRows();
    private boolean pushed;
    private int taken;

    @Actor
    public void push() {
      pushed = row.pushUnlocked(1);
    }

    @Actor
    public void manager() {
      taken = row.takeClosed();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = verdict(pushed, taken, row.left());
    }
  }

  private static String verdict(boolean pushed, int taken, int left) {
    if (taken < 0) {
      return "moved";
    }
    return taken + left == (pushed ? 1 : 0) ? "right" : pushed + "," + taken + "," + left;
  }
}
