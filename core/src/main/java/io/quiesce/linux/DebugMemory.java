package io.quiesce.linux;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * Which addresses are alive, kept only under {@code -Dquiesce.debug=true}.
 *
 * <p>A freed range stays known as freed until something new overlaps it, so that a late access is
 * told apart from a wild one. Best effort against races: an access that overlaps a concurrent free
 * may pass the check, and then reads poison or released memory.
 */
final class DebugMemory {
  /** What freed memory is filled with. */
  static final byte POISON = 0x5b;

  private record Range(long start, long bytes, boolean live) {
    long end() {
      return start + bytes;
    }
  }

  private static final ConcurrentSkipListMap<Long, Range> RANGES = new ConcurrentSkipListMap<>();

  private DebugMemory() {}

  static synchronized void add(long start, long bytes) {
    clear(start, bytes);
    RANGES.put(start, new Range(start, bytes, true));
  }

  static synchronized void remove(long start) {
    RANGES.computeIfPresent(start, (key, range) -> new Range(start, range.bytes, false));
  }

  /** Forgets whatever the new range overlaps: the allocator has evidently reused it. */
  private static void clear(long start, long bytes) {
    Map.@Nullable Entry<Long, Range> entry;
    while ((entry = RANGES.lowerEntry(start + Math.max(1, bytes))) != null
        && entry.getValue().end() > start) {
      RANGES.remove(entry.getKey());
    }
  }

  /** Throws unless the bytes lie inside one live range. */
  static void check(long address, long bytes) {
    Map.Entry<Long, Range> entry = RANGES.floorEntry(address);
    Range range = entry == null ? null : entry.getValue();
    if (range == null || address >= range.end()) {
      throw new IndexOutOfBoundsException(
          "address 0x" + Long.toHexString(address) + " is in no registered range");
    }
    if (!range.live) {
      throw new IllegalStateException(
          "address 0x"
              + Long.toHexString(address)
              + " was freed (range 0x"
              + Long.toHexString(range.start)
              + ", "
              + range.bytes
              + " bytes)");
    }
    if (bytes < 0 || bytes > range.end() - address) {
      throw new IndexOutOfBoundsException(
          bytes
              + " bytes at address 0x"
              + Long.toHexString(address)
              + " pass the end of the range 0x"
              + Long.toHexString(range.start)
              + " of "
              + range.bytes
              + " bytes");
    }
  }
}
