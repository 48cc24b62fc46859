package io.quiesce.verify.stress;

import io.quiesce.linux.Membarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The shape under every pairing of A.1, A.3 and W.1: each side stores its own word, then loads the
 * other's; (0, 0) means that neither saw the other. The reader's side is what {@code Reader.enter}
 * does, the updater's what {@code GracePeriod.run} does. The own loop in {@code
 * io.quiesce.verify.StoreBufferingLitmus} runs the first of them more often.
 */
final class StoreBuffering {
  private StoreBuffering() {}

  static class Words {
    static final VarHandle X;
    static final VarHandle Y;

    static {
      try {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        X = lookup.findVarHandle(Words.class, "x", int.class);
        Y = lookup.findVarHandle(Words.class, "y", int.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    int x;
    int y;
  }

  /** A.1: no fence in the reader, the process-wide barrier in the updater. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "Neither saw the other.")
  @Outcome(id = ".*", expect = Expect.ACCEPTABLE, desc = "One saw the other.")
  @State
  public static class WithMembarrier extends Words {
    @Actor
    public void reader(II_Result r) {
      X.setOpaque(this, 1);
      r.r1 = (int) Y.getOpaque(this);
    }

    @Actor
    public void updater(II_Result r) {
      Y.setOpaque(this, 1);
      Membarrier.fence();
      r.r2 = (int) X.getOpaque(this);
    }
  }

  /** A.3: a full fence on both sides. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "Neither saw the other.")
  @Outcome(id = ".*", expect = Expect.ACCEPTABLE, desc = "One saw the other.")
  @State
  public static class WithFences extends Words {
    @Actor
    public void reader(II_Result r) {
      X.setOpaque(this, 1);
      VarHandle.fullFence();
      r.r1 = (int) Y.getOpaque(this);
    }

    @Actor
    public void updater(II_Result r) {
      Y.setOpaque(this, 1);
      VarHandle.fullFence();
      r.r2 = (int) X.getOpaque(this);
    }
  }

  /** Broken: the updater runs no barrier. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Neither saw the other.")
  @Outcome(id = ".*", expect = Expect.ACCEPTABLE, desc = "One saw the other.")
  @State
  public static class NoBarrierTwin extends Words {
    @Actor
    public void reader(II_Result r) {
      X.setOpaque(this, 1);
      r.r1 = (int) Y.getOpaque(this);
    }

    @Actor
    public void updater(II_Result r) {
      Y.setOpaque(this, 1);
      r.r2 = (int) X.getOpaque(this);
    }
  }

  /** Broken: the fenced flavour whose reader lost its fence. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Neither saw the other.")
  @Outcome(id = ".*", expect = Expect.ACCEPTABLE, desc = "One saw the other.")
  @State
  public static class NoReaderFenceTwin extends Words {
    @Actor
    public void reader(II_Result r) {
      X.setOpaque(this, 1);
      r.r1 = (int) Y.getOpaque(this);
    }

    @Actor
    public void updater(II_Result r) {
      Y.setOpaque(this, 1);
      VarHandle.fullFence();
      r.r2 = (int) X.getOpaque(this);
    }
  }
}
