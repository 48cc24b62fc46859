package io.quiesce.memory;

import io.quiesce.internal.Facilities;
import io.quiesce.internal.Listeners;

/** The ways to listeners and to JFR; the latter is closed until somebody records. */
final class AllocatorEvents {
  private AllocatorEvents() {}

  /** Has the statistics recorded from here on, if somebody records; cheap to ask again. */
  static void watch() {
    if (Facilities.isRecording()) {
      AllocatorJfr.watch();
    }
  }

  static void trim(String allocator, String cause, long blocks, long bytes, long begunNanos) {
    if (Listeners.isAnybody()) {
      long nanos = System.nanoTime() - begunNanos;
      Listeners.tell(
          listener ->
              listener.allocatorTrimmed(allocator, cause, blocks, bytes, begunNanos, nanos));
    }
    if (Facilities.isRecording()) {
      AllocatorJfr.trim(allocator, cause, blocks, bytes, begunNanos);
    }
  }

  static void outOfMemory(String allocator, long wanted, long limit, String reason) {
    if (Listeners.isAnybody()) {
      Listeners.tell(listener -> listener.allocatorExhausted(allocator, wanted, limit, reason));
    }
    if (Facilities.isRecording()) {
      AllocatorJfr.outOfMemory(allocator, wanted, limit, reason);
    }
  }

  static void corruption(String allocator, String kind, long address, long bytes, String report) {
    if (Listeners.isAnybody()) {
      Listeners.tell(listener -> listener.memoryFault(allocator, kind, address, bytes, report));
    }
    if (Facilities.isRecording()) {
      AllocatorJfr.corruption(allocator, kind, address, bytes, report);
    }
  }
}
