package io.quiesce.verify.stress;

import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.Reader;
import io.quiesce.rcu.Section;
import io.quiesce.verify.stress.MiniRcu.UpdaterBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Reader against updater: the reader follows the reference and looks at what it found a little
 * later; the updater replaces it, waits for a grace period and poisons what it replaced. The reader
 * may see the old value or the new one, whole; it must never see poison (A, G, S) or a value before
 * it was filled in (B.1).
 *
 * <p>Every flavour of the library, then the copies of the protocols, healthy and broken. Not here,
 * because this machine's kind could not show it: a reader that leaves by an opaque store in place
 * of A.2's release store. On x86-64 every store is a release store; the twin is in the Spin model
 * and would show on AArch64.
 */
final class Publication {
  private Publication() {}

  private static final int OLD = 1;
  private static final int NEW = 2;
  private static final int POISON = 3;

  /** What readers find. */
  static final class Payload {
    static final VarHandle VALUE;

    static {
      try {
        VALUE = MethodHandles.lookup().findVarHandle(Payload.class, "value", int.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    @SuppressWarnings("UnusedVariable") // through VALUE
    private int value;

    Payload(int value) {
      VALUE.set(this, value);
    }

    /** Dawdles, as a reader that works does, and looks. */
    int look() {
      for (int i = 0; i < 4; i++) {
        Thread.onSpinWait();
      }
      return (int) VALUE.getOpaque(this);
    }

    void poison() {
      VALUE.setOpaque(this, POISON);
    }
  }

  /** A published payload without a domain, for the copies. */
  static class Place {
    static final VarHandle PAYLOAD;

    static {
      try {
        PAYLOAD = MethodHandles.lookup().findVarHandle(Place.class, "payload", Payload.class);
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }

    @SuppressWarnings("UnusedVariable") // through PAYLOAD
    private Payload payload = new Payload(OLD);

    /** Lines that both sides write: they fill the store buffer, so that what follows shows late. */
    private final long[] noise = new long[72];

    void makeNoise() {
      for (int i = 0; i < noise.length; i += 8) {
        noise[i] = i;
      }
    }

    Payload get() {
      return (Payload) PAYLOAD.getAcquire(this);
    }

    Payload replace() {
      Payload next = new Payload(NEW);
      return (Payload) PAYLOAD.getAndSet(this, next);
    }
  }

  /** The default flavour, reader looked up. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class Membarrier {
    private static final Rcu RCU =
        Rcu.builder("stress-membarrier").flavour(Rcu.Flavour.MEMBARRIER).build();
    private final RcuRef<Payload> ref = RCU.ref(new Payload(OLD));

    @Actor
    public void reader(I_Result r) {
      try (Section section = RCU.read()) {
        r.r1 = ref.get(section).look();
      }
    }

    @Actor
    public void updater() {
      Payload old = ref.getAndSet(new Payload(NEW));
      RCU.synchronize();
      old.poison();
    }
  }

  /** The default flavour, explicit reader. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class MembarrierExplicit {
    private static final Rcu RCU =
        Rcu.builder("stress-membarrierexplicit").flavour(Rcu.Flavour.MEMBARRIER).build();
    private final RcuRef<Payload> ref = RCU.ref(new Payload(OLD));

    @Actor
    public void reader(I_Result r) {
      try (Section section = RCU.reader().read()) {
        r.r1 = ref.get(section).look();
      }
    }

    @Actor
    public void updater() {
      Payload old = ref.getAndSet(new Payload(NEW));
      RCU.synchronize();
      old.poison();
    }
  }

  /** The portable flavour. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class Fenced {
    private static final Rcu RCU = Rcu.builder("stress-fenced").flavour(Rcu.Flavour.FENCED).build();
    private final RcuRef<Payload> ref = RCU.ref(new Payload(OLD));

    @Actor
    public void reader(I_Result r) {
      try (Section section = RCU.read()) {
        r.r1 = ref.get(section).look();
      }
    }

    @Actor
    public void updater() {
      Payload old = ref.getAndSet(new Payload(NEW));
      RCU.synchronize();
      old.poison();
    }
  }

  /** Event loops: a reader that goes online and offline. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class Qsbr {
    private static final Rcu RCU = Rcu.builder("stress-qsbr").flavour(Rcu.Flavour.QSBR).build();
    private final RcuRef<Payload> ref = RCU.ref(new Payload(OLD));

    @Actor
    public void reader(I_Result r) {
      Reader reader = RCU.reader();
      reader.online();
      r.r1 = ref.get(reader).look();
      reader.offline();
    }

    @Actor
    public void updater() {
      Payload old = ref.getAndSet(new Payload(NEW));
      RCU.synchronize();
      old.poison();
    }
  }

  /** Event loops' flavour, an ordinary section. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class QsbrSection {
    private static final Rcu RCU =
        Rcu.builder("stress-qsbrsection").flavour(Rcu.Flavour.QSBR).build();
    private final RcuRef<Payload> ref = RCU.ref(new Payload(OLD));

    @Actor
    public void reader(I_Result r) {
      try (Section section = RCU.read()) {
        r.r1 = ref.get(section).look();
      }
    }

    @Actor
    public void updater() {
      Payload old = ref.getAndSet(new Payload(NEW));
      RCU.synchronize();
      old.poison();
    }
  }

  /** Counted sections. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class Sleepable {
    private static final Rcu RCU =
        Rcu.builder("stress-sleepable").flavour(Rcu.Flavour.SLEEPABLE).build();
    private final RcuRef<Payload> ref = RCU.ref(new Payload(OLD));

    @Actor
    public void reader(I_Result r) {
      try (Section section = RCU.read()) {
        r.r1 = ref.get(section).look();
      }
    }

    @Actor
    public void updater() {
      Payload old = ref.getAndSet(new Payload(NEW));
      RCU.synchronize();
      old.poison();
    }
  }

  /** The copy of the default flavour, healthy. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class MembarrierCopy {
    private final MiniRcu rcu = new MiniRcu(false, UpdaterBarrier.PROCESS_WIDE);
    private final Place place = new Place();

    @Actor
    public void reader(I_Result r) {
      place.makeNoise();
      rcu.enter();
      r.r1 = place.get().look();
      rcu.exit();
    }

    @Actor
    public void updater() {
      place.makeNoise();
      Payload old = place.replace();
      rcu.synchronize();
      old.poison();
    }
  }

  /** Broken: the updater runs a fence of its own and no process-wide barrier. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class NoMembarrierTwin {
    private final MiniRcu rcu = new MiniRcu(false, UpdaterBarrier.FULL_FENCE);
    private final Place place = new Place();

    @Actor
    public void reader(I_Result r) {
      place.makeNoise();
      rcu.enter();
      r.r1 = place.get().look();
      rcu.exit();
    }

    @Actor
    public void updater() {
      place.makeNoise();
      Payload old = place.replace();
      rcu.synchronize();
      old.poison();
    }
  }

  /** The copy of the portable flavour, healthy. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class FencedCopy {
    private final MiniRcu rcu = new MiniRcu(true, UpdaterBarrier.FULL_FENCE);
    private final Place place = new Place();

    @Actor
    public void reader(I_Result r) {
      place.makeNoise();
      rcu.enter();
      r.r1 = place.get().look();
      rcu.exit();
    }

    @Actor
    public void updater() {
      place.makeNoise();
      Payload old = place.replace();
      rcu.synchronize();
      old.poison();
    }
  }

  /** Broken: the portable flavour without the reader's fence. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class NoFenceTwin {
    private final MiniRcu rcu = new MiniRcu(false, UpdaterBarrier.NONE);
    private final Place place = new Place();

    @Actor
    public void reader(I_Result r) {
      place.makeNoise();
      rcu.enter();
      r.r1 = place.get().look();
      rcu.exit();
    }

    @Actor
    public void updater() {
      place.makeNoise();
      Payload old = place.replace();
      rcu.synchronize();
      old.poison();
    }
  }

  /** The copy of the counts, healthy. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.FORBIDDEN, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class CountsCopy {
    private final MiniCounts rcu = new MiniCounts(UpdaterBarrier.PROCESS_WIDE);
    private final Place place = new Place();

    @Actor
    public void reader(I_Result r) {
      place.makeNoise();
      int generation = rcu.enter();
      r.r1 = place.get().look();
      rcu.exit(generation);
    }

    @Actor
    public void updater() {
      place.makeNoise();
      Payload old = place.replace();
      rcu.synchronize();
      old.poison();
    }
  }

  /** Broken: the counts without the process-wide barriers. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = Expect.ACCEPTABLE,
      desc = "Old or new.")
  @Outcome(id = "3", expect = Expect.ACCEPTABLE_INTERESTING, desc = "Freed under the reader.")
  @Outcome(expect = Expect.FORBIDDEN, desc = "Not filled in.")
  @State
  public static class NoCountsBarrierTwin {
    private final MiniCounts rcu = new MiniCounts(UpdaterBarrier.FULL_FENCE);
    private final Place place = new Place();

    @Actor
    public void reader(I_Result r) {
      place.makeNoise();
      int generation = rcu.enter();
      r.r1 = place.get().look();
      rcu.exit(generation);
    }

    @Actor
    public void updater() {
      place.makeNoise();
      Payload old = place.replace();
      rcu.synchronize();
      old.poison();
    }
  }
}
