package io.quiesce.verify;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * What a flush would be that neither closes the row nor compares: it reads a ring's offset, stores
 * padding there, and then the offset of the next sub-buffer. Between these, producers have gone on.
 * It finds the rings in the file of the buffers, whose layout is that of {@code
 * io.quiesce.trace.ring.RingLayout}. Not thread-safe.
 */
final class TraceBreaker {
  private static final int PAGE = 4_096;
  private static final int ROWS_AT = 12;
  private static final int SUB_BYTES_AT = 16;
  private static final int SUB_COUNT_AT = 24;
  private static final int TABLE_AT = PAGE;
  private static final int ROW_BYTES = 128;
  private static final int SUB_HEADER_BYTES = 16;
  private static final long PADDING = 4;
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private final Path folder;

  TraceBreaker(Path folder) {
    this.folder = folder;
  }

  void run(BooleanSupplier stop) throws IOException, InterruptedException {
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.toList();
    }
    for (Path file : files) {
      try (FileChannel channel =
              FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
          Arena arena = Arena.ofConfined()) {
        MemorySegment memory =
            channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
        while (!stop.getAsBoolean()) {
          flush(memory);
          Thread.sleep(1);
        }
      }
    }
  }

  private static void flush(MemorySegment memory) {
    int rows = memory.get(ValueLayout.JAVA_INT, ROWS_AT);
    long subBytes = memory.get(ValueLayout.JAVA_LONG, SUB_BYTES_AT);
    long ringBytes = subBytes * memory.get(ValueLayout.JAVA_INT, SUB_COUNT_AT);
    long table = ROW_BYTES + (long) rows * ROW_BYTES + PAGE - 1 & -PAGE;
    for (int row = 0; row < rows; row++) {
      long at = TABLE_AT + ROW_BYTES + (long) row * ROW_BYTES;
      long offset = (long) LONG.getVolatile(memory, at);
      if ((offset & subBytes - 1) > SUB_HEADER_BYTES) {
        for (int i = 0; i < 200; i++) {
          Thread.onSpinWait(); // what the fence would take
        }
        long ring = TABLE_AT + table + PAGE + row * ringBytes;
        LONG.setVolatile(memory, ring + (offset & ringBytes - 1), PADDING);
        LONG.setVolatile(memory, at, (offset | subBytes - 1) + 1);
      }
    }
  }
}
