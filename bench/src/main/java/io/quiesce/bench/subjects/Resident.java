package io.quiesce.bench.subjects;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The resident memory of this process above what it was at the start. The JVM's heap is touched
 * before that and cancels out, and so does what native calls need in the JVM. Code that is compiled
 * later, its compilers' memory and the stacks of threads born later do not; they are about the same
 * for all allocators.
 */
final class Resident {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path CLEAR = Path.of("/proc/self/clear_refs");
  private static final double PAGE = 4096;

  private final long start;

  /** Before an allocator is loaded. */
  Resident() throws IOException {
    CpuTime.nanos(); // the first native call takes up megabytes
    start = read("VmRSS:");
  }

  /** The peak counts from here. Where the kernel does not allow that, it is that of the process. */
  void resetPeak() {
    try {
      Files.writeString(CLEAR, "5");
    } catch (IOException e) {
      // As said above.
    }
  }

  /** The peak above the start in bytes; a page where nothing can be seen. */
  double peak() throws IOException {
    return Math.max(PAGE, (double) (read("VmHWM:") - start));
  }

  /** The present above the start in bytes; a page where nothing can be seen. */
  double now() throws IOException {
    return Math.max(PAGE, (double) (read("VmRSS:") - start));
  }

  private static long read(String field) throws IOException {
    for (String line : Files.readAllLines(STATUS)) {
      if (line.startsWith(field)) {
        return Long.parseLong(line.substring(field.length()).replace("kB", "").strip()) * 1024;
      }
    }
    throw new IOException("no " + field + " in " + STATUS);
  }
}
