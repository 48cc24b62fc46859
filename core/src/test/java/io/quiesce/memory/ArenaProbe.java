package io.quiesce.memory;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.rcu.Rcu;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** Main class for JVMs that lack something, or that may crash. Needs no test library. */
final class ArenaProbe {
  private static final int BYTES = 1 << 16;

  private ArenaProbe() {}

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "smoke" -> smoke();
      case "refused" -> refused();
      case "late" -> late();
      case "source" -> source();
      case "truncated" -> truncated();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    System.out.println(arguments[0] + " passed");
  }

  private static Path file() throws Exception {
    Path file = Files.createTempFile("quiesce-probe", ".idx");
    byte[] content = new byte[BYTES];
    java.util.Arrays.fill(content, (byte) 9);
    return Files.write(file, content);
  }

  private static RcuArena map(Path file) throws Exception {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return RcuArena.map(channel, FileChannel.MapMode.READ_ONLY, 0, BYTES);
    }
  }

  private static void smoke() throws Exception {
    Path file = file();
    AtomicReference<RcuArena> current = new AtomicReference<>(map(file));
    AtomicBoolean stop = new AtomicBoolean();
    AtomicReference<String> fault = new AtomicReference<>("");
    List<Thread> readers = new ArrayList<>();
    for (int t = 0; t < 2; t++) {
      readers.add(
          (t == 0 ? Thread.ofPlatform() : Thread.ofVirtual())
              .start(
                  () -> {
                    while (!stop.get()) {
                      RcuArena arena = current.get();
                      try (RcuArena.Access access = arena.read()) {
                        MemorySegment copy = arena.allocate(BYTES / 4);
                        Thread.yield();
                        if (sum(access.segment()) != 9L * BYTES || sum(copy) != 0) {
                          fault.set("wrong content");
                        }
                      } catch (IllegalStateException closed) {
                        Thread.yield(); // replaced
                      }
                    }
                  }));
    }
    for (int i = 0; i < 300; i++) {
      current.getAndSet(map(file)).close();
    }
    stop.set(true);
    for (Thread reader : readers) {
      reader.join();
    }
    current.get().closeAndWait(Duration.ofSeconds(20));
    Rcu.shared().barrier();
    Files.delete(file);
    long left =
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.contains("quiesce-probe"))
            .count();
    if (!fault.get().isEmpty() || left != 0) {
      throw new IllegalStateException(fault.get() + ", " + left + " mappings left");
    }
  }

  private static long sum(MemorySegment segment) {
    long sum = 0;
    for (long i = 0; i < segment.byteSize(); i++) {
      sum += segment.get(ValueLayout.JAVA_BYTE, i);
    }
    return sum;
  }

  private static void refused() throws Exception {
    Path file = file();
    try {
      RcuArena.create();
    } catch (UnsupportedOperationException e) {
      System.out.println("create: " + e.getMessage());
    }
    try {
      map(file);
    } catch (UnsupportedOperationException e) {
      System.out.println("map: " + e.getMessage());
    }
    Files.delete(file);
  }

  /** Where the blocks of an arena come from that was told nothing. */
  private static void source() throws Exception {
    RcuArena arena = RcuArena.create();
    arena.allocate(100_000).fill((byte) 1);
    if (VirtualMemory.isAvailable()) {
      System.out.println("in use " + PerCpuAllocator.shared().statistics().largeBlocks());
    }
    arena.closeAndWait(Duration.ofSeconds(20));
    if (VirtualMemory.isAvailable()) {
      System.out.println("left " + PerCpuAllocator.shared().statistics().inUseBytes());
    }
  }

  private static void late() throws Exception {
    RcuArena arena = RcuArena.create();
    MemorySegment segment = arena.allocate(512).fill((byte) 1);
    arena.closeAndWait(Duration.ofSeconds(20));
    // The heap's own links take the beginning of a freed block.
    System.out.println("segment " + Integer.toHexString(segment.get(ValueLayout.JAVA_BYTE, 256)));
    try {
      System.out.println("read " + OffHeap.getByte(segment.address() + 256));
    } catch (IllegalStateException | IndexOutOfBoundsException e) {
      System.out.println("block: " + e.getMessage());
    }
    Path file = file();
    RcuArena mapped = map(file);
    long address;
    try (RcuArena.Access access = mapped.read()) {
      address = access.segment().address();
      if (OffHeap.getByte(address) != 9) {
        throw new IllegalStateException("wrong content");
      }
    }
    mapped.closeAndWait(Duration.ofSeconds(20));
    Files.delete(file);
    try {
      System.out.println("read " + OffHeap.getByte(address));
    } catch (IllegalStateException | IndexOutOfBoundsException e) {
      System.out.println("file: " + e.getMessage());
    }
  }

  /** The file is made shorter under its mapping: by segment and by address, warm and cold. */
  private static void truncated() throws Exception {
    Path file = file();
    RcuArena arena = map(file);
    try (RcuArena.Access access = arena.read()) {
      MemorySegment segment = access.segment();
      long warm = 0;
      // Interpreted it is never compiled, and slow.
      int rounds = System.getProperty("java.vm.info", "").contains("interpreted") ? 2 : 400;
      for (int i = 0; i < rounds; i++) {
        warm += sum(segment) + sumByAddress(segment.address());
      }
      if (warm != rounds * 2L * 9 * BYTES) {
        throw new IllegalStateException("wrong content");
      }
      try (RandomAccessFile shorter = new RandomAccessFile(file.toFile(), "rw")) {
        shorter.setLength(BYTES / 2);
      }
      for (int i = 0; i < 3; i++) {
        try {
          System.out.println("segment: sum " + sum(segment));
        } catch (InternalError e) {
          System.out.println("segment: " + e.getMessage());
        }
        try {
          System.out.println("address: sum " + sumByAddress(segment.address()));
        } catch (InternalError e) {
          System.out.println("address: " + e.getMessage());
        }
        try {
          byte[] copy = segment.asSlice(BYTES / 2).toArray(ValueLayout.JAVA_BYTE);
          System.out.println("copy: " + copy.length);
        } catch (InternalError e) {
          System.out.println("copy: " + e.getMessage());
        }
      }
    }
    arena.closeAndWait(Duration.ofSeconds(20));
    Files.delete(file);
  }

  private static long sumByAddress(long address) {
    long sum = 0;
    for (long i = 0; i < BYTES; i++) {
      sum += OffHeap.getByte(address + i);
    }
    return sum;
  }
}
