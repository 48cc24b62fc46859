package io.quiesce.linux;

/**
 * The membarrier system call: a full memory barrier on every CPU that runs a thread of this
 * process, bought by the caller so that the other side needs none.
 *
 * <pre>
 *   reader (often)                      writer (seldom)
 *   store mine, opaque                  store theirs, opaque
 *   (compiler barrier only)             Membarrier.fence()   -- interrupts CPUs that run us
 *   load theirs, opaque                 load mine, opaque
 *   at least one of the two loads sees the other side's store
 * </pre>
 *
 * <p>All methods are safe from any thread; concurrent callers queue inside the kernel, so callers
 * that can share one fence should. A call costs about half a microsecond when no sibling runs and
 * some 5 us otherwise; the first of each kind registers the process, which takes up to 16 ms, once.
 * Calls are ordinary downcalls: a virtual thread holds its carrier meanwhile.
 *
 * <p>Errors: {@link UnsupportedOperationException} with the cure where the facility is off (see
 * {@link #isAvailable()}), {@link LinuxException} when the kernel refuses. Source: the
 * membarrier(2) manual page and the kernel's {@code linux/membarrier.h}.
 */
public final class Membarrier {
  /** Bit of {@link #query()}: {@link #global()}. */
  public static final int GLOBAL = 1;

  /** Bit of {@link #query()}: {@link #globalExpedited()}. */
  public static final int GLOBAL_EXPEDITED = 1 << 1;

  /** Bit of {@link #query()} and {@link #registrations()}. */
  public static final int REGISTER_GLOBAL_EXPEDITED = 1 << 2;

  /** Bit of {@link #query()}: {@link #fence()}. */
  public static final int PRIVATE_EXPEDITED = 1 << 3;

  /** Bit of {@link #query()} and {@link #registrations()}. */
  public static final int REGISTER_PRIVATE_EXPEDITED = 1 << 4;

  /** Bit of {@link #query()}: {@link #syncCore()}. */
  public static final int PRIVATE_EXPEDITED_SYNC_CORE = 1 << 5;

  /** Bit of {@link #query()} and {@link #registrations()}. */
  public static final int REGISTER_PRIVATE_EXPEDITED_SYNC_CORE = 1 << 6;

  /** Bit of {@link #query()}: {@link #fenceRseq()} and {@link #fenceCpu(int)}. */
  public static final int PRIVATE_EXPEDITED_RSEQ = 1 << 7;

  /** Bit of {@link #query()} and {@link #registrations()}. */
  public static final int REGISTER_PRIVATE_EXPEDITED_RSEQ = 1 << 8;

  /** Bit of {@link #query()}: {@link #registrations()}. */
  public static final int GET_REGISTRATIONS = 1 << 9;

  private static final int QUERY = 0;
  private static final int FLAG_CPU = 1;

  private Membarrier() {}

  /** Whether the call may be tried at all; registers nothing. */
  private static final class Base {
    static final Facility FACILITY = probe();

    private static Facility probe() {
      Facility calls = Platform.kernelCalls();
      if (!calls.on()) {
        return calls;
      }
      if (Settings.off("quiesce.membarrier")) {
        return Facility.off(
            "switched off by -Dquiesce.membarrier=off; remove the property or set auto");
      }
      try {
        long commands = Syscall.call(Syscall.MEMBARRIER, QUERY, 0, 0);
        return commands >= 0
            ? Facility.on("the kernel offers commands 0x" + Long.toHexString(commands))
            : refused("membarrier(QUERY)", (int) -commands);
      } catch (LinkageError e) {
        return Facility.off("the C library has no syscall function (" + e.getMessage() + ")");
      }
    }
  }

  private static Facility refused(String call, int errno) {
    return Facility.off(Errno.describe(call, errno));
  }

  /** Registers for a kind, then proves that it works by using it once. */
  private static Facility register(String name, int registration, int command) {
    if (!Base.FACILITY.on()) {
      return Base.FACILITY;
    }
    long result = Syscall.call(Syscall.MEMBARRIER, registration, 0, 0);
    if (result < 0) {
      return refused("membarrier(REGISTER_" + name + ")", (int) -result);
    }
    result = Syscall.call(Syscall.MEMBARRIER, command, 0, 0);
    return result < 0
        ? refused("membarrier(" + name + ")", (int) -result)
        : Facility.on("registered and tried: " + name);
  }

  // One holder class per kind: the JVM's class initialisation is the "once", and the result is a
  // constant for the compiler. Registering twice is harmless to the kernel (HotSpot's own
  // UseSystemMemoryBarrier may have been first).

  /** Registration of {@link #fence()}. */
  static final class Private {
    static final Facility FACILITY =
        register("PRIVATE_EXPEDITED", REGISTER_PRIVATE_EXPEDITED, PRIVATE_EXPEDITED);

    private Private() {}
  }

  /** Registration of {@link #fenceRseq()}. */
  static final class RseqFence {
    static final Facility FACILITY =
        register("PRIVATE_EXPEDITED_RSEQ", REGISTER_PRIVATE_EXPEDITED_RSEQ, PRIVATE_EXPEDITED_RSEQ);

    private RseqFence() {}
  }

  /** Registration of {@link #syncCore()}. */
  private static final class SyncCore {
    static final Facility FACILITY =
        register(
            "PRIVATE_EXPEDITED_SYNC_CORE",
            REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
            PRIVATE_EXPEDITED_SYNC_CORE);
  }

  /** Registration of {@link #globalExpedited()}. */
  private static final class GlobalExpedited {
    static final Facility FACILITY =
        register("GLOBAL_EXPEDITED", REGISTER_GLOBAL_EXPEDITED, GLOBAL_EXPEDITED);
  }

  /**
   * Whether {@link #fence()} works here. The first call registers the process.
   *
   * @return the same as {@link Platform#membarrier()}
   */
  public static boolean isAvailable() {
    return Platform.membarrier();
  }

  /**
   * Whether {@link #fenceRseq()} and its relatives work here. The first call registers the process.
   *
   * @return true when the kernel (5.10 or later) accepted the registration
   */
  public static boolean isRseqAvailable() {
    Platform.verify();
    return RseqFence.FACILITY.on();
  }

  /**
   * A full memory barrier on every CPU that runs a thread of this process, and on the calling one
   * before and after. When it returns, each other thread has executed a full barrier at some point
   * between the call and the return, or was not running.
   *
   * @throws UnsupportedOperationException where it is not available
   */
  public static void fence() {
    if (!Platform.membarrier()) {
      throw Private.FACILITY.unsupported("Membarrier.fence()");
    }
    command("membarrier(PRIVATE_EXPEDITED)", PRIVATE_EXPEDITED, 0, 0);
  }

  /**
   * The commands that the kernel offers.
   *
   * @return a set of the bits above
   * @throws UnsupportedOperationException where the call is not available
   */
  public static int query() {
    return commandOf(Base.FACILITY, "membarrier(QUERY)", QUERY);
  }

  /**
   * What this process is registered for; kernel 6.3 or later.
   *
   * @return a set of the {@code REGISTER_} bits above
   * @throws UnsupportedOperationException where the call is not available
   * @throws LinuxException on an older kernel (EINVAL)
   */
  public static int registrations() {
    return commandOf(Base.FACILITY, "membarrier(GET_REGISTRATIONS)", GET_REGISTRATIONS);
  }

  /**
   * The old, not expedited command: waits until every running thread of the system has passed
   * through a state of full order. Takes milliseconds (8 ms measured); needs no registration.
   *
   * @throws UnsupportedOperationException where the call is not available
   * @throws LinuxException when the kernel refuses it, as one built for full tick-less CPUs does
   */
  public static void global() {
    commandOf(Base.FACILITY, "membarrier(GLOBAL)", GLOBAL);
  }

  /**
   * The expedited command over all processes that registered for it, among them this one. <b>Do not
   * use it:</b> it was seen to miss CPUs that ran registered threads, after a registration in a
   * process with one thread or after a thread's exit, and it interrupts other processes. It is here
   * so that this can be measured.
   *
   * @throws UnsupportedOperationException where it is not available
   */
  public static void globalExpedited() {
    commandOf(GlobalExpedited.FACILITY, "membarrier(GLOBAL_EXPEDITED)", GLOBAL_EXPEDITED);
  }

  /**
   * As {@link #fence()}, and every thread of this process also executes a core-serialising
   * instruction before it returns to user code; for code that writes machine code.
   *
   * @throws UnsupportedOperationException where it is not available
   */
  public static void syncCore() {
    commandOf(
        SyncCore.FACILITY, "membarrier(PRIVATE_EXPEDITED_SYNC_CORE)", PRIVATE_EXPEDITED_SYNC_CORE);
  }

  /**
   * Restarts every restartable sequence of this process that is under way on any CPU, and orders
   * memory as {@link #fence()} does: afterwards each running sequence has either committed or will
   * read again whatever was stored before the call.
   *
   * @throws UnsupportedOperationException where it is not available
   */
  public static void fenceRseq() {
    commandOf(RseqFence.FACILITY, "membarrier(PRIVATE_EXPEDITED_RSEQ)", PRIVATE_EXPEDITED_RSEQ);
  }

  /**
   * As {@link #fenceRseq()} for one CPU. A CPU that is offline, or that this machine does not have,
   * runs no sequence and needs no fence: nothing happens then. Not sound for finding RCU readers.
   *
   * @param cpu CPU number, 0 or above
   * @throws IllegalArgumentException for a negative number
   * @throws UnsupportedOperationException where it is not available
   */
  public static void fenceCpu(int cpu) {
    if (cpu < 0) {
      throw new IllegalArgumentException("CPU " + cpu + " is negative; pass a number from 0");
    }
    if (!isRseqAvailable()) {
      throw RseqFence.FACILITY.unsupported("Membarrier.fenceCpu(int)");
    }
    if (Syscall.plain(Syscall.MEMBARRIER, PRIVATE_EXPEDITED_RSEQ, FLAG_CPU, cpu) >= 0) {
      return;
    }
    long result = Syscall.call(Syscall.MEMBARRIER, PRIVATE_EXPEDITED_RSEQ, FLAG_CPU, cpu);
    // The kernel returns 0 for a CPU that is offline or beyond its highest number; should one
    // answer EINVAL, a CPU outside the possible ones still cannot run anything.
    if (result < 0 && !(result == -Errno.EINVAL && !CpuTopology.possible().contains(cpu))) {
      throw new LinuxException(
          "membarrier(PRIVATE_EXPEDITED_RSEQ, CPU " + cpu + ")", (int) -result);
    }
  }

  /**
   * As {@link #fenceRseq()} for some CPUs: one call each, or one broadcast once there are so many
   * that it is cheaper. The limit is measured at first use (under 5 ms) or taken from {@code
   * -Dquiesce.membarrier.threshold}.
   *
   * @param cpus the CPUs; an empty set does nothing
   * @throws UnsupportedOperationException where it is not available
   */
  public static void fenceCpus(CpuSet cpus) {
    if (!isRseqAvailable()) {
      throw RseqFence.FACILITY.unsupported("Membarrier.fenceCpus(CpuSet)");
    }
    if (cpus.size() > singleCallLimit()) {
      fenceRseq();
    } else {
      cpus.forEach(Membarrier::fenceCpu);
    }
  }

  /**
   * Up to how many CPUs {@link #fenceCpus} fences one by one.
   *
   * @return at least 1
   */
  public static int singleCallLimit() {
    return Threshold.LIMIT;
  }

  /** The limit, measured when first asked for. */
  private static final class Threshold {
    private static final int ROUNDS = 64;
    private static final long BUDGET_NANOS = 2_000_000;

    static final int LIMIT = chosen();

    private static int chosen() {
      int wanted = Settings.positive("quiesce.membarrier.threshold", 0);
      return wanted > 0 ? wanted : measure();
    }

    private static int measure() {
      if (!RseqFence.FACILITY.on()) {
        return 1;
      }
      int[] online = CpuTopology.online().toArray();
      int self = Rseq.cpu();
      long broadcast = cost(Membarrier::fenceRseq);
      long single = 0;
      int targets = 0;
      for (int cpu : online) {
        // A CPU fences itself by another, dearer path that says nothing about remote ones.
        if (cpu != self && targets < 4) {
          single += cost(() -> fenceCpu(cpu));
          targets++;
        }
      }
      return targets == 0 ? 1 : limit(broadcast, single / targets, online.length);
    }

    private static long cost(Runnable fence) {
      long best = Long.MAX_VALUE;
      long end = System.nanoTime() + BUDGET_NANOS / 5;
      for (int i = 0; i < ROUNDS; i++) {
        long before = System.nanoTime();
        fence.run();
        long after = System.nanoTime();
        best = Math.min(best, after - before);
        if (after - end > 0) {
          break;
        }
      }
      return best;
    }
  }

  /** How many single calls cost at most one broadcast; between 1 and the number of CPUs. */
  static int limit(long broadcastNanos, long singleNanos, int cpus) {
    long fit = broadcastNanos / Math.max(1, singleNanos);
    return Math.clamp(fit, 1, Math.max(1, cpus));
  }

  private static int commandOf(Facility facility, String name, int command) {
    Platform.verify();
    if (!facility.on()) {
      throw facility.unsupported(name);
    }
    return command(name, command, 0, 0);
  }

  private static int command(String name, int command, int flags, int cpu) {
    long result = Syscall.plain(Syscall.MEMBARRIER, command, flags, cpu);
    // Repeating is harmless (a second barrier) and spares the usual call the capture of errno.
    return (int)
        (result >= 0 ? result : Syscall.checked(name, Syscall.MEMBARRIER, command, flags, cpu));
  }
}
