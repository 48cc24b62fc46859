package io.quiesce.linux;

/**
 * The kernel's number of a thread: what {@code ps -L}, {@code top -H} and kernel traces show.
 *
 * <p>Safe from any thread. A virtual thread gets the number of its carrier, which another thread
 * may have at the next moment; a platform thread keeps its number for life, so callers that ask
 * often keep it: a call enters the kernel, about 200 ns. The number is that of the process's own
 * PID namespace. Source: the gettid(2) manual page.
 */
public final class KernelThread {
  private KernelThread() {}

  private static final class Probe {
    static final boolean ON = probe();

    private static boolean probe() {
      try {
        return Platform.kernelCalls().on() && Syscall.plain(Syscall.GETTID, 0, 0, 0) > 0;
      } catch (LinkageError e) {
        return false;
      }
    }
  }

  /**
   * The number of the thread that runs this.
   *
   * @return above 0, or -1 where the kernel cannot be asked, as without native access
   */
  public static int id() {
    return Probe.ON ? (int) Syscall.plain(Syscall.GETTID, 0, 0, 0) : -1;
  }
}
