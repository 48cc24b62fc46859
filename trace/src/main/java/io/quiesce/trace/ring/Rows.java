package io.quiesce.trace.ring;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.CpuSet;
import io.quiesce.linux.CpuTopology;
import io.quiesce.linux.Rseq;

/** Which row of the table a thread uses: its CPU's where the kernel tells it cheaply. */
final class Rows {
  private static final boolean CPU = Rseq.isAvailable();
  private static final int COUNT =
      CPU ? CpuTopology.tableSize() : Runtime.getRuntime().availableProcessors();

  private Rows() {}

  static int count() {
    return COUNT;
  }

  /** Whether a row is a CPU's; else threads are spread over them. */
  static boolean ofCpus() {
    return CPU;
  }

  static int row() {
    return CPU
        ? Rseq.cpu()
        : (int) (((Thread.currentThread().threadId() * 0x9e3779b97f4a7c15L) >>> 33) % COUNT);
  }

  /** Those that this process may use. */
  static CpuSet allowed() {
    return CPU && CpuAffinity.isAvailable() ? CpuAffinity.get() : CpuSet.range(0, COUNT - 1);
  }
}
