package io.quiesce.verify.stress;

import io.quiesce.percpu.WaitFreeQueue;
import io.quiesce.rcu.WakeWords;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * Who queues against the worker that goes to sleep (W.1). "asleep" means that the worker decided to
 * sleep, the callback is in the queue, and nobody has raised the word or will: it sleeps for ever.
 */
final class WakeUps {
  private WakeUps() {}

  private static final class Item extends WaitFreeQueue.Node {}

  /** The library's word and the library's queue, in the order of the worker's loop. */
  @JCStressTest
  @Outcome(
      id = {"found", "woken"},
      expect = Expect.ACCEPTABLE,
      desc = "It will run.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost wake-up.")
  @State
  public static class ParkWord {
    private final WaitFreeQueue queue = new WaitFreeQueue();
    private final WakeWords word = WakeWords.park();
    private boolean sleeps;

    @Actor
    public void producer() {
      queue.enqueue(new Item());
      word.wake();
    }

    @Actor
    public void worker() {
      word.lower();
      if (queue.isEmpty()) {
        sleeps = true;
      } else {
        word.raise();
      }
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = !sleeps ? "found" : word.isAwake() ? "woken" : "asleep";
    }
  }

  /** A copy of the word with a seam for each fault. */
  static class Copy {
    private static final VarHandle WORD;

    static {
      try {
        WORD = MethodHandles.lookup().findVarHandle(Copy.class, "word", int.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    final WaitFreeQueue queue = new WaitFreeQueue();
    private volatile int word;
    boolean sleeps;
    boolean wakes;

    void lower() {
      WORD.getAndAdd(this, -1);
    }

    void enqueueAndWake() {
      queue.enqueue(new Item());
      if (word == -1) {
        word = 0;
        wakes = true;
      }
    }

    String end() {
      return !sleeps ? "found" : wakes ? "woken" : "asleep";
    }
  }

  /** The copy, healthy. */
  @JCStressTest
  @Outcome(
      id = {"found", "woken"},
      expect = Expect.ACCEPTABLE,
      desc = "It will run.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Lost wake-up.")
  @State
  public static class HealthyCopy extends Copy {
    @Actor
    public void producer() {
      enqueueAndWake();
    }

    @Actor
    public void worker() {
      lower();
      sleeps = queue.isEmpty();
    }

    @Arbiter
    public void result(L_Result r) {
      r.r1 = end();
    }
  }

  /** Broken as the first version of the source's patch: nobody ever stores -1. */
  @JCStressTest
  @Outcome(
      id = {"found", "woken"},
      expect = Expect.ACCEPTABLE,
      desc = "It will run.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Lost wake-up.")
  @State
  public static class NeverLowersTwin extends Copy {
    @Actor
    public void producer() {
      enqueueAndWake();
    }

    @Actor
    public void worker() {
      sleeps = queue.isEmpty();
    }

    @Arbiter
    public void result(L_Result r) {
      r.r1 = end();
    }
  }

  /** Broken: the worker looks and then lowers the word. */
  @JCStressTest
  @Outcome(
      id = {"found", "woken"},
      expect = Expect.ACCEPTABLE,
      desc = "It will run.")
  @Outcome(expect = Expect.ACCEPTABLE_INTERESTING, desc = "Lost wake-up.")
  @State
  public static class LooksFirstTwin extends Copy {
    @Actor
    public void producer() {
      enqueueAndWake();
    }

    @Actor
    public void worker() {
      sleeps = queue.isEmpty();
      lower();
    }

    @Arbiter
    public void result(L_Result r) {
      r.r1 = end();
    }
  }
}
