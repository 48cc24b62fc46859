package io.quiesce.memory;

import java.util.List;

/**
 * Live blocks that were allocated in one place; see {@link PerCpuAllocator#leaks}.
 *
 * @param blocks how many
 * @param bytes of them together, as asked for
 * @param stack of the allocation, the innermost caller first; empty if it was not kept
 */
public record AllocatorLeak(long blocks, long bytes, List<StackTraceElement> stack) {
  /** Copies the list. */
  public AllocatorLeak {
    stack = List.copyOf(stack);
  }

  /** As text: the sums and the stack, a line for each frame. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(blocks).append(" blocks, ").append(bytes).append(" bytes\n");
    FaultReport.stack(text, stack);
    return text.toString();
  }
}
