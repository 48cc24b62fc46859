package io.quiesce.linux;

import io.quiesce.percpu.PerCpuOps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/** Prints what a JVM found; each line is {@code name=value}. Run in a child JVM. */
public final class PlatformProbe {
  private static final long PRCTL = 157;

  private PlatformProbe() {}

  /** With {@code -Dprobe.sandbox}, first forbids something to itself. */
  public static void main(String[] args) throws Exception {
    switch (System.getProperty("probe.sandbox", "none")) {
      case "no-new-code" -> System.out.println("sandbox=" + Syscall.call(PRCTL, 65, 1, 0));
      case "membarrier" -> System.out.println("sandbox=" + seccomp(324));
      case "futex" -> System.out.println("sandbox=" + seccomp(202));
      default -> {}
    }
    Platform.report().forEach((name, text) -> System.out.println(name + "=" + text));
    System.out.println("cpu=" + attempt(() -> "" + Rseq.cpu()));
    System.out.println("node=" + attempt(() -> "" + Rseq.node()));
    System.out.println("cid=" + attempt(() -> "" + Rseq.concurrencyId()));
    System.out.println("add=" + attempt(PlatformProbe::add));
    System.out.println("tsc.read=" + attempt(() -> "" + Tsc.read()));
    System.out.println("fence=" + attempt(PlatformProbe::fence));
    System.out.println("fenceRseq=" + attempt(PlatformProbe::fenceRseq));
    System.out.println("offheap=" + attempt(() -> "" + OffHeap.isAvailable()));
    System.out.println("allocate=" + attempt(PlatformProbe::allocate));
    System.out.println("affinity=" + attempt(() -> CpuAffinity.get().toString()));
    System.out.println("await=" + attempt(() -> "" + Futex.await(0, 0, 0)));
    System.out.println("table=" + CpuTopology.tableSize());
    System.out.println("clock=" + MonotonicClock.nanos());
    System.out.println("sequences=" + NativeCode.sequences());
    System.out.println("pages=" + executableAnonymous());
  }

  private static String add() {
    long table = OffHeap.isAvailable() ? OffHeap.allocate(PerCpuOps.rows() * 8L, 8) : 0;
    boolean added = PerCpuOps.add(table, 8, 1);
    return "" + (added && Platform.rseq());
  }

  private static String fence() {
    Membarrier.fence();
    return "done";
  }

  private static String fenceRseq() {
    Membarrier.fenceRseq();
    return "done";
  }

  private static String allocate() {
    OffHeap.free(OffHeap.allocate(64, 64));
    return "done";
  }

  private static String attempt(java.util.concurrent.Callable<String> action) throws Exception {
    try {
      return action.call();
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName() + ": " + e.getMessage();
    }
  }

  /** Private anonymous r-x mappings of exactly one page. */
  private static long executableAnonymous() throws Exception {
    Path maps = Path.of("/proc/self/maps");
    if (!Files.exists(maps)) {
      return 0;
    }
    return Files.readAllLines(maps).stream().filter(PlatformProbe::onePage).count();
  }

  private static boolean onePage(String line) {
    String[] parts = line.split("\\s+", -1);
    int dash = parts[0].indexOf('-');
    long start = Long.parseUnsignedLong(parts[0].substring(0, dash), 16);
    long end = Long.parseUnsignedLong(parts[0].substring(dash + 1), 16);
    return parts[1].equals("r-xp") && end - start == 4096 && parts[4].equals("0");
  }

  /** Makes one system call fail with EPERM for this process, as a container's profile does. */
  private static long seccomp(int call) {
    Syscall.call(PRCTL, 38, 1, 0);
    try (Arena arena = Arena.ofConfined()) {
      long[] program = {
        instruction(0x20, 0, 0, 0), // load the call's number
        instruction(0x15, 0, 1, call), // equal?
        instruction(0x06, 0, 0, 0x00050000 | 1), // then errno EPERM
        instruction(0x06, 0, 0, 0x7fff0000), // else allow
      };
      MemorySegment code = arena.allocateFrom(ValueLayout.JAVA_LONG, program);
      MemorySegment head = arena.allocate(16, 8);
      head.set(ValueLayout.JAVA_SHORT, 0, (short) program.length);
      head.set(ValueLayout.JAVA_LONG, 8, code.address());
      return Syscall.call(PRCTL, 22, 2, head.address());
    }
  }

  private static long instruction(int code, int ifTrue, int ifFalse, int value) {
    return code | (long) ifTrue << 16 | (long) ifFalse << 24 | (long) value << 32;
  }
}
