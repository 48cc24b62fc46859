package io.quiesce.memory;

import java.lang.StackWalker.StackFrame;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Stacks of callers, each kept once. They are few, however many blocks there are, and there is a
 * bound in case they are not. No class is kept from being unloaded.
 */
final class Traces {
  /** Who did something, and where. */
  record Where(String thread, List<StackTraceElement> stack) {}

  static final int DEPTH = 16;

  /** Some 20 MB at worst. */
  static final int MOST = 16_384;

  private static final StackWalker WALKER = StackWalker.getInstance();

  /** Frames that say nothing about the caller. */
  private static final Set<String> OURS =
      Set.of(
          PerCpuAllocator.class.getName(),
          AllocatorArena.class.getName(),
          AllocatorBean.class.getName(),
          Heap.class.getName(),
          Hardening.class.getName(),
          Traces.class.getName(),
          "java.lang.foreign.SegmentAllocator");

  /**
   * By a hash of 64 bits: two stacks with the same one would be confused, which does not happen.
   */
  private final ConcurrentHashMap<Long, List<StackTraceElement>> known = new ConcurrentHashMap<>();

  private final int most;

  Traces(int most) {
    this.most = most;
  }

  /** The calling thread and its stack, without the allocator's own frames. */
  Where here() {
    Thread thread = Thread.currentThread();
    String name = thread.getName();
    return new Where(name.isEmpty() ? "#" + thread.threadId() : name, stack());
  }

  private List<StackTraceElement> stack() {
    StackFrame[] frames = WALKER.walk(Traces::callers);
    long hash = 0;
    for (StackFrame frame : frames) {
      hash = mix(hash, frame.getClassName().hashCode());
      hash = mix(hash, frame.getMethodName().hashCode());
      hash = mix(hash, frame.getByteCodeIndex());
    }
    List<StackTraceElement> stack = known.get(hash);
    if (stack == null) {
      if (known.size() >= most) {
        return List.of();
      }
      List<StackTraceElement> mine =
          Stream.of(frames).map(StackFrame::toStackTraceElement).toList();
      stack = known.putIfAbsent(hash, mine);
      if (stack == null) { // else another thread was faster, and leaks are put together by identity
        return mine;
      }
    }
    return stack;
  }

  private static StackFrame[] callers(Stream<StackFrame> all) {
    return all.dropWhile(frame -> OURS.contains(frame.getClassName()))
        .limit(DEPTH)
        .toArray(StackFrame[]::new);
  }

  /** Every step is a bijection of the sum. */
  private static long mix(long hash, int value) {
    long x = (hash + value) * 0x9e3779b97f4a7c15L;
    return x ^ (x >>> 29);
  }
}
