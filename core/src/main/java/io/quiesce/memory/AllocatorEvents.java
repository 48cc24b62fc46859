package io.quiesce.memory;

import io.quiesce.internal.Facilities;

/** The way to JFR, closed where it is absent and until somebody records. */
final class AllocatorEvents {
  private AllocatorEvents() {}

  /** Has the statistics recorded from here on, if somebody records; cheap to ask again. */
  static void watch() {
    if (Facilities.isRecording()) {
      AllocatorJfr.watch();
    }
  }

  static void trim(String allocator, String cause, long blocks, long bytes, long begunNanos) {
    if (Facilities.isRecording()) {
      AllocatorJfr.trim(allocator, cause, blocks, bytes, begunNanos);
    }
  }

  static void outOfMemory(String allocator, long wanted, long limit, String reason) {
    if (Facilities.isRecording()) {
      AllocatorJfr.outOfMemory(allocator, wanted, limit, reason);
    }
  }

  static void corruption(String allocator, String kind, long address, long bytes, String report) {
    if (Facilities.isRecording()) {
      AllocatorJfr.corruption(allocator, kind, address, bytes, report);
    }
  }
}
