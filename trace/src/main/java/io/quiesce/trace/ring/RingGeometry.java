package io.quiesce.trace.ring;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * How the buffers are cut. Immutable.
 *
 * @param rows one for each CPU that the machine may have
 * @param subBytes bytes in a sub-buffer, a power of two
 * @param subCount sub-buffers in a CPU's ring, a power of two, at least 2
 * @param overwrite whether old events give way to new ones, or new ones are lost
 */
record RingGeometry(int rows, long subBytes, int subCount, boolean overwrite) {
  static final long LEAST_SUB_BYTES = 4096;
  static final long MOST_SUB_BYTES = 1L << 28;
  static final int LEAST_COUNT = 2;
  private static final int MOST_ROWS = 1 << 16;

  RingGeometry {
    if (rows < 1 || rows > MOST_ROWS) {
      throw new IllegalArgumentException("Buffers for " + rows + " CPUs; 1 to " + MOST_ROWS);
    }
    if (Long.bitCount(subBytes) != 1 || subBytes < LEAST_SUB_BYTES || subBytes > MOST_SUB_BYTES) {
      throw new IllegalArgumentException(
          "A sub-buffer has a power of two of bytes, "
              + LEAST_SUB_BYTES
              + " to "
              + MOST_SUB_BYTES
              + ", not "
              + subBytes);
    }
    if (Integer.bitCount(subCount) != 1 || subCount < LEAST_COUNT || subCount > 1 << 16) {
      throw new IllegalArgumentException(
          "A ring has a power of two of sub-buffers, 2 to 65536, not " + subCount);
    }
  }

  /** The largest sub-buffers with which the rings of all CPUs stay within a budget in bytes. */
  static RingGeometry within(long budget, int rows, int subCount, boolean overwrite, long most) {
    long share = budget / rows / subCount;
    if (share < LEAST_SUB_BYTES) {
      throw new IllegalArgumentException(
          "A budget of "
              + budget
              + " bytes is too small for "
              + rows
              + " CPUs with "
              + subCount
              + " sub-buffers each; give at least "
              + LEAST_SUB_BYTES * rows * subCount);
    }
    return new RingGeometry(rows, Math.min(Long.highestOneBit(share), most), subCount, overwrite);
  }

  static RingGeometry read(Path file, MemorySegment header, long fileBytes) throws IOException {
    if (header.get(ValueLayout.JAVA_LONG, RingLayout.MAGIC_AT) != RingLayout.MAGIC) {
      throw new IOException(file + " is no file of trace buffers");
    }
    int version = header.get(ValueLayout.JAVA_INT, RingLayout.VERSION_AT);
    if (version != RingLayout.VERSION) {
      throw new IOException(
          file + " has version " + version + " of the layout; this program reads 1");
    }
    try {
      RingGeometry geometry =
          new RingGeometry(
              header.get(ValueLayout.JAVA_INT, RingLayout.ROWS_AT),
              header.get(ValueLayout.JAVA_LONG, RingLayout.SUB_BYTES_AT),
              header.get(ValueLayout.JAVA_INT, RingLayout.SUB_COUNT_AT),
              header.get(ValueLayout.JAVA_INT, RingLayout.MODE_AT) != 0);
      if (fileBytes < geometry.buffersAt()) {
        throw new IOException(file + " was cut off");
      }
      return geometry;
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " is damaged: " + e.getMessage(), e);
    }
  }

  void write(MemorySegment header) {
    header.set(ValueLayout.JAVA_INT, RingLayout.VERSION_AT, RingLayout.VERSION);
    header.set(ValueLayout.JAVA_INT, RingLayout.ROWS_AT, rows);
    header.set(ValueLayout.JAVA_LONG, RingLayout.SUB_BYTES_AT, subBytes);
    header.set(ValueLayout.JAVA_INT, RingLayout.SUB_COUNT_AT, subCount);
    header.set(ValueLayout.JAVA_INT, RingLayout.MODE_AT, overwrite ? 1 : 0);
    header.set(ValueLayout.JAVA_LONG, RingLayout.MAGIC_AT, RingLayout.MAGIC);
  }

  long ringBytes() {
    return subBytes * subCount;
  }

  long subMask() {
    return subBytes - 1;
  }

  long ringMask() {
    return ringBytes() - 1;
  }

  long buffersAt() {
    return RingLayout.buffersAt(rows);
  }

  /** Where a CPU's ring begins in the file. */
  long ringAt(int row) {
    return buffersAt() + row * ringBytes();
  }

  long fileBytes() {
    return buffersAt() + rows * ringBytes();
  }

  /** The largest record, with its slot header. */
  long mostRecordBytes() {
    return subBytes - RingLayout.SUB_HEADER_BYTES;
  }
}
