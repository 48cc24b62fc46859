package io.quiesce.verify.stress;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The tracer's ring: publication of a record (R.1), and compare-and-swap with a flush (R.2, R.3).
 */
final class TraceRings {
  private static final int COMMITTED = 2;
  private static final int PADDING = 4;

  private TraceRings() {}

  /** One sub-buffer on the heap, with the access modes of the library; a record is one place. */
  static class Ring {
    private static final VarHandle OFFSET;
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(int[].class);
    private static final int END = 4;

    static {
      try {
        OFFSET = MethodHandles.lookup().findVarHandle(Ring.class, "offset", long.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    private final int[] words = new int[END];
    private final int[] fields = new int[END];
    private long offset;

    final void commit(int at) {
      fields[at] = 1;
      WORD.setRelease(words, at, COMMITTED);
    }

    /** The broken twin. */
    final void commitFirst(int at) {
      WORD.setRelease(words, at, COMMITTED);
      fields[at] = 1;
    }

    final void look(II_Result r) {
      r.r1 = (int) WORD.getAcquire(words, 0);
      r.r2 = fields[0];
    }

    /** 1 if the event was refused, since the sub-buffer is at its end. */
    final int emit(boolean swap) {
      while (true) {
        long at = (long) OFFSET.getVolatile(this);
        if (at >= END) {
          return 1;
        }
        if (swap) {
          if (!OFFSET.compareAndSet(this, at, at + 1)) {
            continue;
          }
        } else {
          OFFSET.setVolatile(this, at + 1); // the broken twin
        }
        commit((int) at);
        return 0;
      }
    }

    final void flush() {
      long at = (long) OFFSET.getVolatile(this);
      while (at > 0 && at < END) {
        if (OFFSET.compareAndSet(this, at, (long) END)) {
          WORD.setRelease(words, (int) at, PADDING);
          return;
        }
        at = (long) OFFSET.getVolatile(this);
      }
    }

    final int committed() {
      int found = 0;
      for (int i = 0; i < END && words[i] != PADDING; i++) {
        found += words[i] == COMMITTED ? fields[i] : 0;
      }
      return found;
    }
  }

  /** A record that is seen committed has its fields. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "2, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "Not committed, or whole.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Committed without its fields.")
  @State
  public static class RecordCommit extends Ring {
    @Actor
    public void producer() {
      commit(0);
    }

    @Actor
    public void walker(II_Result r) {
      look(r);
    }
  }

  /** Broken: committed before the fields. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "2, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "Not committed, or whole.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Committed without its fields.")
  @State
  public static class RecordCommitFirstTwin extends Ring {
    @Actor
    public void producer() {
      commitFirst(0);
    }

    @Actor
    public void walker(II_Result r) {
      look(r);
    }
  }

  /** Two producers and a flush: each event is stored or refused. */
  @JCStressTest
  @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "Each once.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "One is lost, or there in spite of a refusal.")
  @State
  public static class SwapAndFlush extends Ring {
    private int refusedOne;
    private int refusedTwo;

    @Actor
    public void one() {
      refusedOne = emit(true);
    }

    @Actor
    public void two() {
      flush(); // here, as jcstress wants a CPU for each actor
      refusedTwo = emit(true);
    }

    @Arbiter
    public void end(I_Result r) {
      r.r1 = committed() + refusedOne + refusedTwo;
    }
  }

  /** Broken: the offset is loaded and stored. */
  @JCStressTest
  @Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "Each once.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "One is lost.")
  @State
  public static class LoadAndStoreTwin extends Ring {
    private int refusedOne;
    private int refusedTwo;

    @Actor
    public void one() {
      refusedOne = emit(false);
    }

    @Actor
    public void two() {
      flush(); // here, as jcstress wants a CPU for each actor
      refusedTwo = emit(false);
    }

    @Arbiter
    public void end(I_Result r) {
      r.r1 = committed() + refusedOne + refusedTwo;
    }
  }
}
