package io.quiesce.trace.ring;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.CpuSet;
import io.quiesce.linux.MonotonicClock;
import io.quiesce.linux.NativeCode;
import io.quiesce.linux.Tsc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * What events are stamped with: the time stamp counter, or nanoseconds of {@code CLOCK_MONOTONIC}.
 *
 * <p>The counter costs a third of the clock. It is taken where {@link Tsc#isAvailable()} says that
 * the kernel uses it, and in one more case: the kernel uses a paravirtual clock that is computed
 * from the counter, the CPU flags say that it ticks at one rate and never stops, and a trial finds
 * that counter and clock keep the same distance on every CPU that this process may run on. Whatever
 * the counters do later shows in the anchors ({@link Anchors}).
 */
public enum Stamps {
  /** Nanoseconds of {@code CLOCK_MONOTONIC}. */
  NANOS(0),
  /** Ticks of the time stamp counter. */
  TSC(1);

  private final int code;

  Stamps(int code) {
    this.code = code;
  }

  /** As the buffers' file has it. */
  int code() {
    return code;
  }

  /** Clocks that a hypervisor computes from the counter. */
  private static final Set<String> PARAVIRTUAL =
      Set.of("kvm-clock", "hyperv_clocksource_tsc_page", "xen");

  private static final List<String> FLAGS = List.of("constant_tsc", "nonstop_tsc");
  private static final Path SOURCE =
      Path.of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  private static final Path CPUS = Path.of("/proc/cpuinfo");

  /** How far apart the counters of two CPUs may seem; an anchor is that good. */
  private static final long TOLERANCE_NANOS = 2_000;

  /** More CPUs than this are tried in part: the trial visits each. */
  private static final int MOST_TRIED = 64;

  private static final class Choice {
    static final Stamps BEST = isCounterGood() ? TSC : NANOS;
  }

  /** The cheapest one that can be trusted here. The first call takes about 20 ms. */
  public static Stamps best() {
    return Choice.BEST;
  }

  /** The one with a code. */
  static Stamps of(int code) {
    return code == TSC.code ? TSC : NANOS;
  }

  /** Now, not before anything that this thread has seen. */
  long nowOrdered() {
    return this == TSC ? Tsc.readOrdered() : MonotonicClock.nanos();
  }

  /** Now. */
  long now() {
    return this == TSC ? Tsc.read() : MonotonicClock.nanos();
  }

  private static boolean isCounterGood() {
    if (!NativeCode.isAvailable() || "off".equals(System.getProperty("quiesce.tsc"))) {
      return false;
    }
    if (Tsc.isAvailable()) {
      return true;
    }
    try {
      return isComputed(Files.readString(SOURCE), Files.readString(CPUS)) && agrees();
    } catch (IOException | RuntimeException _) {
      return false;
    }
  }

  /** Whether the kernel's clock is computed from a counter that ticks evenly on every CPU. */
  static boolean isComputed(String source, String cpus) {
    return PARAVIRTUAL.contains(source.strip()) && hasFlags(cpus);
  }

  private static boolean hasFlags(String cpus) {
    return cpus.lines()
        .filter(line -> line.startsWith("flags"))
        .allMatch(line -> Set.of(line.split("\\s+")).containsAll(FLAGS));
  }

  /** Whether all CPUs' counters have the same distance to the clock. */
  private static boolean agrees() {
    if (!CpuAffinity.isAvailable()) {
      return false;
    }
    boolean[] good = new boolean[1];
    // In a thread of its own: it goes from CPU to CPU.
    Thread visitor =
        Thread.ofPlatform().daemon().name("quiesce-trace-clock").start(() -> good[0] = visit());
    try {
      visitor.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
    return good[0];
  }

  private static boolean visit() {
    try {
      long rate = Tsc.ticksPerSecond();
      Tsc.Anchor first = Tsc.anchor();
      int[] cpus = CpuAffinity.get().toArray();
      for (int i = 0; i < cpus.length && i < MOST_TRIED; i++) {
        CpuAffinity.set(CpuSet.of(cpus[i]));
        Tsc.Anchor here = Tsc.anchor();
        double nanos = (here.tsc() - first.tsc()) * 1e9 / rate;
        // The rate is measured to some parts per million; a visit takes far less than a second.
        if (Math.abs(first.monotonicNanos() + nanos - here.monotonicNanos())
            > TOLERANCE_NANOS + nanos / 50_000) {
          return false;
        }
      }
      return true;
    } catch (RuntimeException _) {
      return false;
    }
  }
}
