package io.quiesce.memory;

import static java.nio.channels.FileChannel.MapMode.PRIVATE;
import static java.nio.channels.FileChannel.MapMode.READ_ONLY;
import static java.nio.channels.FileChannel.MapMode.READ_WRITE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Needs;
import io.quiesce.linux.OffHeap;
import io.quiesce.rcu.Holder;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.Waiting;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class RcuArenaMapTest {
  private static final Duration LONG = Duration.ofSeconds(40);
  private static final int LONGS = 2_048;

  @TempDir Path folder = Path.of("");
  private Rcu rcu = Rcu.shared();

  @BeforeEach
  void needsMemory() {
    Needs.facility("native");
    rcu = Rcu.create("map");
  }

  @AfterEach
  void nothingIsLeftMapped() throws IOException {
    if (rcu != Rcu.shared()) {
      rcu.close();
    }
    assertThat(mappedHere()).isZero();
  }

  /** How many mappings of files in the test's folder there are, deleted ones included. */
  private long mappedHere() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.contains(folder.toString()))
        .count();
  }

  private Path file(String name, long mark) throws IOException {
    byte[] content = new byte[LONGS * Long.BYTES];
    MemorySegment words = MemorySegment.ofArray(content);
    for (int i = 0; i < LONGS; i++) {
      words.set(ValueLayout.JAVA_LONG_UNALIGNED, (long) i * Long.BYTES, mark + i);
    }
    return Files.write(folder.resolve(name), content);
  }

  private RcuArena map(Path file, FileChannel.MapMode mode, long offset, long size)
      throws IOException {
    try (FileChannel channel =
        mode == READ_WRITE ? FileChannel.open(file, READ, WRITE) : FileChannel.open(file, READ)) {
      return RcuArena.map(rcu, channel, mode, offset, size);
    }
  }

  private static long word(MemorySegment segment, long byteOffset) {
    return segment.get(ValueLayout.JAVA_LONG_UNALIGNED, byteOffset);
  }

  @Test
  void aMappedFileIsReadAndUnmapped() throws Exception {
    Path file = file("index", 1_000);
    long size = Files.size(file);
    RcuArena arena = map(file, READ_ONLY, 0, size);
    assertThat(arena).hasToString("RcuArena[open, maps 16384 bytes]");
    assertThat(mappedHere()).isEqualTo(1);
    try (RcuArena.Access access = arena.read()) {
      MemorySegment segment = access.segment();
      assertThat(segment.byteSize()).isEqualTo(size);
      assertThat(segment.isMapped()).isTrue();
      assertThat(segment.isReadOnly()).isTrue();
      segment.load();
      assertThat(word(segment, 0)).isEqualTo(1_000);
      assertThat(word(segment, size - 8)).isEqualTo(1_000 + LONGS - 1);
      assertThatThrownBy(() -> segment.fill((byte) 0)).isInstanceOf(RuntimeException.class);
      assertThat(OffHeap.getLong(segment.address())).isEqualTo(1_000);
      arena.close();
      Thread.sleep(30);
      assertThat(mappedHere()).as("its section is open").isEqualTo(1);
      assertThat(word(segment, 8)).isEqualTo(1_001);
    }
    arena.closeAndWait(LONG);
    assertThat(mappedHere()).isZero();
    assertThatThrownBy(arena::read).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRangeNeedNotBeginOrEndAPage() throws Exception {
    Path file = file("pages", 0);
    for (long offset : new long[] {0, 8, 4_088, 4_096, 4_104, 8_192, 12_000, 16_376}) {
      for (long size : new long[] {8, 4_096, 8_200}) {
        if (offset + size > Files.size(file)) {
          continue;
        }
        RcuArena arena = map(file, READ_ONLY, offset, size);
        try (RcuArena.Access access = arena.read()) {
          assertThat(word(access.segment(), 0)).isEqualTo(offset / 8);
          assertThat(word(access.segment(), size - 8)).isEqualTo((offset + size) / 8 - 1);
        }
        arena.closeAndWait(LONG);
        assertThat(mappedHere()).as("%d at %d", size, offset).isZero();
      }
    }
  }

  /** Neighbours in a file may become one mapping for the kernel; closing one keeps the other. */
  @Test
  void neighboursAreUnmappedApart() throws Exception {
    Path file = file("neighbours", 0);
    List<RcuArena> arenas = new ArrayList<>();
    for (int page = 0; page < 4; page++) {
      arenas.add(map(file, READ_ONLY, page * 4_096L, 4_096));
    }
    for (int closed = 0; closed < 4; closed++) {
      arenas.get((closed + 1) % 4).closeAndWait(LONG);
      for (RcuArena arena : arenas) {
        if (!arena.isClosed()) {
          try (RcuArena.Access access = arena.read()) {
            assertThat(word(access.segment(), 0)).isEqualTo(arenas.indexOf(arena) * 512L);
          }
        }
      }
    }
  }

  @Test
  void whatIsWrittenReachesTheFileOrStaysPrivate() throws Exception {
    Path file = file("written", 0);
    RcuArena shared = map(file, READ_WRITE, 8, 16);
    try (RcuArena.Access access = shared.read()) {
      access.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 77);
      access.segment().force();
    }
    shared.closeAndWait(LONG);
    try (FileChannel channel = FileChannel.open(file, READ, WRITE)) {
      RcuArena own = RcuArena.map(rcu, channel, PRIVATE, 0, 64);
      try (RcuArena.Access access = own.read()) {
        assertThat(word(access.segment(), 8)).isEqualTo(77);
        access.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 16, 88);
      }
      own.closeAndWait(LONG);
    }
    MemorySegment content = MemorySegment.ofArray(Files.readAllBytes(file));
    assertThat(word(content, 8)).isEqualTo(77);
    assertThat(word(content, 16)).isEqualTo(2);
  }

  @Test
  void anEmptyRangeAndOneBeyondTheEnd() throws Exception {
    Path file = file("short", 0);
    long end = Files.size(file);
    RcuArena empty = map(file, READ_ONLY, 0, 0);
    try (RcuArena.Access access = empty.read()) {
      assertThat(access.segment().byteSize()).isZero();
      assertThatThrownBy(() -> access.segment().get(ValueLayout.JAVA_BYTE, 0))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    empty.closeAndWait(LONG);
    assertThatThrownBy(() -> map(file, READ_ONLY, end, 8)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> map(file, READ_ONLY, 0, end + 1)).isInstanceOf(IOException.class);
    assertThat(Files.size(file)).isEqualTo(end);
    RcuArena longer = map(file, READ_WRITE, end + 100, 8);
    assertThat(Files.size(file)).as("the file grows").isEqualTo(end + 108);
    longer.closeAndWait(LONG);
  }

  @Test
  void whatCannotBeMappedIsRefusedAndLeavesNothing() throws Exception {
    Path file = file("refused", 0);
    FileChannel closed = FileChannel.open(file, READ);
    closed.close();
    assertThatThrownBy(() -> RcuArena.map(rcu, closed, READ_ONLY, 0, 8))
        .isInstanceOf(ClosedChannelException.class);
    try (FileChannel channel = FileChannel.open(file, READ)) {
      assertThatThrownBy(() -> RcuArena.map(rcu, channel, READ_WRITE, 0, 8))
          .isInstanceOf(NonWritableChannelException.class);
      assertThatThrownBy(() -> RcuArena.map(rcu, channel, READ_ONLY, -1, 8))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> RcuArena.map(rcu, channel, READ_ONLY, 0, -8))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> RcuArena.map(rcu, channel, READ_ONLY, 8, Long.MAX_VALUE))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> RcuArena.map(rcu, channel, READ_ONLY, 0, 1L << 50))
          .as("longer than the file")
          .isInstanceOf(IOException.class);
    }
    assertThat(mappedHere()).isZero();
  }

  /** The JDK would make the file longer, for the channel may write. */
  @Test
  void onlyAMappingThatMayWriteMakesTheFileLonger() throws Exception {
    Path file = file("kept", 0);
    long end = Files.size(file);
    try (FileChannel channel = FileChannel.open(file, READ, WRITE)) {
      for (FileChannel.MapMode mode : List.of(READ_ONLY, PRIVATE)) {
        assertThatThrownBy(() -> RcuArena.map(rcu, channel, mode, end - 8, 16))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("cannot map 16 bytes");
        assertThatThrownBy(() -> RcuArena.map(rcu, channel, mode, end + 1, 0))
            .isInstanceOf(IOException.class);
        assertThat(Files.size(file)).isEqualTo(end);
        RcuArena.map(rcu, channel, mode, end - 8, 8).closeAndWait(LONG);
        RcuArena.map(rcu, channel, mode, end, 0).closeAndWait(LONG);
      }
    }
  }

  @Test
  void aChannelOfTheWrongKindIsRefused() throws Exception {
    Path file = file("kinds", 0);
    try (FileChannel write = FileChannel.open(file, WRITE);
        FileChannel read = FileChannel.open(file, READ)) {
      for (FileChannel.MapMode mode : List.of(READ_ONLY, PRIVATE, READ_WRITE)) {
        assertThatThrownBy(() -> RcuArena.map(rcu, write, mode, 0, 8))
            .isInstanceOf(NonReadableChannelException.class);
      }
      assertThatThrownBy(() -> RcuArena.map(rcu, read, PRIVATE, 0, 8))
          .isInstanceOf(NonWritableChannelException.class);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> RcuArena.map(rcu, read, READ_ONLY, 0, 8))
          .isInstanceOf(ClosedByInterruptException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void moreThanTwoGibibytes() throws Exception {
    Path file = folder.resolve("sparse");
    long size = 3L << 30;
    try (FileChannel channel =
        FileChannel.open(file, READ, WRITE, StandardOpenOption.CREATE, StandardOpenOption.SPARSE)) {
      RcuArena arena = RcuArena.map(rcu, channel, READ_WRITE, 5, size);
      assertThat(Files.size(file)).isEqualTo(size + 5);
      RcuArena second = RcuArena.map(rcu, channel, READ_ONLY, size - 3, 8);
      try (RcuArena.Access access = arena.read();
          RcuArena.Access other = second.read()) {
        access.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, size - 8, 4_711);
        assertThat(word(other.segment(), 0)).isEqualTo(4_711);
      }
      arena.closeAndWait(LONG);
      assertThat(mappedHere()).isEqualTo(1);
      second.closeAndWait(LONG);
    }
  }

  @Test
  void aDomainThatWasClosedFirstStillUnmaps() throws Exception {
    Path file = file("late", 3);
    rcu.close();
    RcuArena arena = map(file, READ_ONLY, 0, 8);
    try (RcuArena.Access access = arena.read()) {
      arena.close();
      assertThat(word(access.segment(), 0)).isEqualTo(3);
    }
    arena.closeAndWait(LONG);
    assertThat(mappedHere()).isZero();
  }

  /** What {@code map} does when the arena cannot be made, and blocks that cannot be freed. */
  @Test
  void aFailureUnmapsOnce() throws Exception {
    BlockSource failing =
        new BlockSource() {
          @Override
          public long allocate(long bytes, long alignment) {
            return C_HEAP.allocate(bytes, alignment);
          }

          @Override
          public void free(long address, long bytes) {
            C_HEAP.free(address, bytes);
            throw new IllegalStateException("expected by RcuArenaMapTest");
          }
        };
    ArenaBlocks blocks = new ArenaBlocks(failing);
    RcuArena.MappingStatistics before = RcuArena.mappings();
    MemorySegment first;
    try (FileChannel channel = FileChannel.open(file("failure", 0), READ)) {
      first = channel.map(READ_ONLY, 8, 5_000, Arena.global());
      blocks.own(first.address(), 5_000);
      blocks.allocate(100, 8);
      assertThat(RcuArena.mappings().open() - before.open()).isEqualTo(1);
      Throwable cause = new OutOfMemoryError("expected by RcuArenaMapTest");
      blocks.freeAfter(cause);
      assertThat(cause.getSuppressed()).hasSize(1);
      assertThat(mappedHere()).isZero();
      // Whoever has the address next must not lose it to a second freeing.
      RcuArena next = RcuArena.map(rcu, channel, READ_ONLY, 8, 5_000);
      blocks.free();
      assertThat(mappedHere()).isEqualTo(1);
      next.closeAndWait(LONG);
    }
    RcuArena.MappingStatistics after = RcuArena.mappings();
    assertThat(after.open()).isEqualTo(before.open());
    assertThat(after.openBytes()).isEqualTo(before.openBytes());
    assertThat(after.closed() - before.closed()).isEqualTo(2);
  }

  @Test
  void aMappedArenaMayAllocateAsWell() throws Exception {
    RcuArena arena = map(file("both", 5), READ_ONLY, 0, 64);
    try (RcuArena.Access access = arena.read()) {
      MemorySegment copy = arena.allocate(64, 8).copyFrom(access.segment());
      assertThat(word(copy, 8)).isEqualTo(6);
    }
    arena.closeAndWait(LONG);
  }

  @Test
  void aStalledReaderDelaysTheUnmapping() throws Exception {
    RcuArena arena = map(file("stalled", 0), READ_ONLY, 0, 64);
    Holder holder = new Holder(rcu, Thread.ofPlatform().name("stalled-scan"));
    assertThatThrownBy(() -> arena.closeAndWait(Duration.ofMillis(50)))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("still in use by thread stalled-scan");
    assertThat(mappedHere()).isEqualTo(1);
    holder.leave();
    arena.closeAndWait(LONG);
    assertThat(mappedHere()).isZero();
  }

  @Test
  void theJvmsOwnPoolDriftsByWhatWasClosed() throws Exception {
    Path file = file("counted", 0);
    BufferPoolMXBean pool =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(bean -> bean.getName().equals("mapped"))
            .findFirst()
            .orElseThrow();
    RcuArena.MappingStatistics before = RcuArena.mappings();
    long count = pool.getCount();
    long capacity = pool.getTotalCapacity();
    RcuArena arena = map(file, READ_ONLY, 8, 100);
    assertThat(RcuArena.mappings().open() - before.open()).isEqualTo(1);
    assertThat(RcuArena.mappings().openBytes() - before.openBytes()).isEqualTo(100);
    arena.closeAndWait(LONG);
    RcuArena.MappingStatistics after = RcuArena.mappings();
    assertThat(after.open()).isEqualTo(before.open());
    assertThat(pool.getCount() - count).isEqualTo(after.closed() - before.closed()).isEqualTo(1);
    assertThat(pool.getTotalCapacity() - capacity)
        .isEqualTo(after.closedBytes() - before.closedBytes())
        .isEqualTo(100);
  }

  /** An index that is opened, read and closed ten thousand times under its readers. */
  @Test
  void tenThousandIndexFilesUnderReaders() throws Exception {
    int files = 16;
    List<Path> paths = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      paths.add(file("index-" + i, 1L << (20 + i)));
    }
    long size = (long) LONGS * Long.BYTES;
    AtomicReference<RcuArena> current =
        new AtomicReference<>(map(paths.get(0), READ_ONLY, 0, size));
    AtomicBoolean stop = new AtomicBoolean();
    LongAdder sections = new LongAdder();
    ConcurrentLinkedQueue<String> faults = new ConcurrentLinkedQueue<>();
    List<Thread> readers = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      boolean virtual = t >= 2;
      readers.add(
          (virtual ? Thread.ofVirtual() : Thread.ofPlatform())
              .start(
                  () -> {
                    while (!stop.get()) {
                      try (RcuArena.Access access = current.get().read()) {
                        MemorySegment segment = access.segment();
                        long first = word(segment, 0);
                        if (virtual) {
                          Thread.yield(); // unmounted inside the section
                        }
                        for (int i = 1; i < LONGS; i += 61) {
                          if (word(segment, 8L * i) != first + i) {
                            faults.add("wrong content");
                          }
                        }
                        sections.increment();
                      } catch (IllegalStateException closed) {
                        // Replaced between the look and the section: look again.
                      }
                      if (virtual) {
                        Thread.yield();
                      }
                    }
                  }));
    }
    for (int i = 1; i <= 10_000; i++) {
      RcuArena old = current.getAndSet(map(paths.get(i % files), READ_ONLY, 0, size));
      old.close();
    }
    stop.set(true);
    for (Thread reader : readers) {
      Waiting.join(reader);
    }
    current.get().closeAndWait(LONG);
    rcu.barrier();
    assertThat(faults).isEmpty();
    assertThat(sections.sum()).isPositive();
    assertThat(mappedHere()).isZero();
  }
}
