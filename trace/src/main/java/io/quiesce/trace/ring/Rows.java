package io.quiesce.trace.ring;

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

  static int row() {
    return CPU
        ? Rseq.cpu()
        : (int) (((Thread.currentThread().threadId() * 0x9e3779b97f4a7c15L) >>> 33) % COUNT);
  }
}
