package io.quiesce.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.Rseq;
import io.quiesce.trace.ctf.Babeltrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What goes wrong around a session: disks, folders, crowds. */
@SuppressWarnings("try") // Sessions are closed early, to look at what they wrote.
class FaultsTest {
  private static final String TEXT = "quiesce:text";
  private static final String LONG = "-".repeat(100);

  @TempDir Path folder;
  private final List<Path> mounts = new ArrayList<>();

  /** A memory file system of so many bytes; the test is skipped where none can be mounted. */
  private Path disk(long bytes) throws IOException, InterruptedException {
    Path place = Files.createDirectory(folder.resolve("disk" + mounts.size()));
    boolean mounted = run("mount", "-t", "tmpfs", "-o", "size=" + bytes, "none", place.toString());
    assumeTrue(mounted, "skipped: a tmpfs can only be mounted by root");
    mounts.add(place);
    return place;
  }

  private static boolean run(String... command) throws InterruptedException {
    try {
      return new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException _) {
      return false;
    }
  }

  @AfterEach
  void unmount() throws InterruptedException {
    for (Path mount : mounts) {
      run("umount", "-l", mount.toString());
    }
  }

  private static List<String> messages(Path trace) throws IOException, InterruptedException {
    Babeltrace.assumeInstalled();
    List<String> messages = new ArrayList<>();
    for (Babeltrace.Event event : Babeltrace.read(trace).events()) {
      messages.add(String.valueOf(event.fields().get("message")));
    }
    return messages;
  }

  private static void waitFor(java.util.function.BooleanSupplier condition)
      throws InterruptedException {
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(5);
    }
  }

  private TraceSessionBuilder small(Path trace) throws IOException {
    Path buffers = folder.resolve("buffers");
    Files.createDirectories(buffers);
    return TraceSession.record(trace)
        .enable(TEXT)
        .buffersIn(buffers)
        .subBuffers(4, 16384)
        .flushEvery(Duration.ofMillis(5));
  }

  @Test
  void aFullDiskIsSurvivedAndEveryEventIsAccountedFor() throws Exception {
    Path disk = disk(1 << 20);
    Path trace = disk.resolve("trace");
    Path filler = disk.resolve("filler");
    int sent = 0;
    try (TraceSession session = small(trace).start()) {
      for (int i = 0; i < 100; i++) {
        Tracing.text(sent++ + LONG);
      }
      waitFor(() -> session.counts().written() == 100);
      fill(filler);
      for (int i = 0; i < 5_000; i++) {
        Tracing.text(sent++ + LONG);
      }
      waitFor(() -> session.counts().failures() > 2);
      assertThat(session.counts().full()).isPositive();
      Files.delete(filler);
      long failures = session.counts().failures();
      waitFor(() -> session.counts().written() > 200);
      Tracing.text("after");
      sent++;
      session.close();
      TraceCounts counts = session.counts();
      assertThat(counts.failures()).isLessThan(failures + 50);
      assertThat(counts.written() + counts.lost()).isEqualTo(sent);
      List<String> messages = messages(trace);
      assertThat(messages).hasSize((int) counts.written()).last().isEqualTo("after");
      assertThat(new HashSet<>(messages)).hasSameSizeAs(messages);
    }
  }

  private static void fill(Path filler) throws IOException {
    try (var out = Files.newOutputStream(filler)) {
      byte[] block = new byte[4096];
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("space");
    }
  }

  @Test
  void aDiskThatIsFullAtTheEndLeavesTheRestForRecovery() throws Exception {
    Path disk = disk(1 << 20);
    Path trace = disk.resolve("trace");
    Path filler = disk.resolve("filler");
    TraceSession session = small(trace).start();
    Tracing.text("first");
    waitFor(() -> session.counts().written() == 1);
    fill(filler);
    for (int i = 0; i < 100; i++) {
      Tracing.text(i + LONG);
    }
    assertThatThrownBy(session::close)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("space");
    Files.delete(filler);
    // The first few may fit behind what the file's last page has.
    long recovered = TraceSession.recover(trace).events();
    assertThat(recovered).isPositive().isEqualTo(101 - session.counts().written());
    assertThat(messages(trace)).hasSize(101).first().isEqualTo("first");
    assertThat(folder.resolve("buffers")).isEmptyDirectory();
  }

  @Test
  void buffersThatFindNoSpaceAreAnErrorAtTheStart() throws Exception {
    Path disk = disk(64 << 10);
    Path trace = folder.resolve("trace");
    assertThatThrownBy(() -> TraceSession.record(trace).buffersIn(disk).enable(TEXT).start())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("choose another folder or a smaller budget");
    assertThat(disk).isEmptyDirectory();
    Tracing.text("nobody cares");
  }

  @Test
  void aCpuWhoseBufferFindsNoSpaceLosesItsEventsAndCountsThem() throws Exception {
    assumeTrue(Rseq.isAvailable() && CpuAffinity.isAvailable(), "skipped: no rows by CPU here");
    int[] cpus = CpuAffinity.get().toArray();
    assumeTrue(cpus.length > 1, "skipped: one CPU");
    int ring = 4 * 65536;
    Path disk = disk(ring + (ring >> 1));
    Path trace = folder.resolve("trace");
    pinned(
        cpus[0],
        () -> {
          try (TraceSession session =
              TraceSession.record(trace)
                  .buffersIn(disk)
                  .subBuffers(4, 65536)
                  .enable(TEXT)
                  .start()) {
            Tracing.text("kept");
            pinned(
                cpus[1],
                () -> {
                  for (int i = 0; i < 10; i++) {
                    Tracing.text("lost");
                  }
                });
            Tracing.text("kept too");
            session.close();
            assertThat(session.counts().other()).isEqualTo(10);
            assertThat(session.counts().lost()).isEqualTo(10);
          }
        });
    assertThat(messages(trace)).containsExactly("kept", "kept too");
  }

  private interface Body {
    void run() throws Exception;
  }

  private static void pinned(int cpu, Body body) throws Exception {
    Exception[] failure = new Exception[1];
    Error[] error = new Error[1];
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  CpuAffinity.pinTo(cpu);
                  try {
                    body.run();
                  } catch (Exception e) {
                    failure[0] = e;
                  } catch (Error e) {
                    error[0] = e;
                  }
                });
    thread.join();
    if (failure[0] != null) {
      throw failure[0];
    }
    if (error[0] != null) {
      throw error[0];
    }
  }

  @Test
  void spaceForAllCpusIsAskedForAtTheStartIfWanted() throws Exception {
    assumeTrue(Rseq.isAvailable() && CpuAffinity.isAvailable(), "skipped: no rows by CPU here");
    assumeTrue(CpuAffinity.get().size() > 1, "skipped: one CPU");
    int ring = 4 * 65536;
    Path disk = disk(ring + (ring >> 1));
    assertThatThrownBy(
            () ->
                TraceSession.record(folder.resolve("trace"))
                    .buffersIn(disk)
                    .subBuffers(4, 65536)
                    .reserveAtStart()
                    .start())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("space");
    assertThat(disk).isEmptyDirectory();
    assertThat(folder.resolve("trace")).doesNotExist();
    Path mine = Files.createDirectory(folder.resolve("mine"));
    assertThatThrownBy(
            () ->
                TraceSession.record(mine)
                    .buffersIn(disk)
                    .subBuffers(4, 65536)
                    .reserveAtStart()
                    .start())
        .isInstanceOf(IOException.class);
    assertThat(disk).isEmptyDirectory();
    assertThat(mine).isEmptyDirectory();
  }

  @Test
  void aContainerWithASmallMemoryFileSystemIsEnough() throws Exception {
    Path disk = disk(64 << 20);
    Path trace = disk.resolve("trace");
    try (TraceSession _ = TraceSession.record(trace).buffersIn(disk).enable(TEXT).start()) {
      Tracing.text("small");
    }
    assertThat(messages(trace)).containsExactly("small");
  }

  @Test
  void aFolderThatCannotBeMadeIsNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "x");
    assertThatThrownBy(() -> TraceSession.record(file.resolve("trace")).start())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be begun");
    Path trace = folder.resolve("trace");
    TraceSession.record(trace).start().close();
    assertThatThrownBy(() -> TraceSession.record(trace).start())
        .isInstanceOf(IOException.class)
        .hasMessageContaining(trace.toString());
    assertThatThrownBy(() -> TraceSession.record(folder.resolve("t2")).buffersIn(file).start())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("choose another folder");
  }

  /** What a session reports, from its beginning on. */
  private static final class Reports extends Handler implements AutoCloseable {
    private static final Logger LOGGER = Logger.getLogger("io.quiesce.trace");
    private final List<String> messages = Collections.synchronizedList(new ArrayList<>());

    Reports() {
      LOGGER.setUseParentHandlers(false);
      LOGGER.addHandler(this);
    }

    @Override
    public void publish(LogRecord report) {
      messages.add(report.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      LOGGER.removeHandler(this);
      LOGGER.setUseParentHandlers(true);
    }
  }

  private static void deleteAll(Path trace) throws IOException {
    try (Stream<Path> files = Files.walk(trace)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** With a stream that is open, and without any: it must not be made without the metadata. */
  @ParameterizedTest
  @CsvSource({"true,false", "true,true", "false,false", "false,true"})
  void aFolderThatIsDeletedMeanwhileIsReportedOnceAndHarmsNobody(boolean open, boolean comesBack)
      throws Exception {
    Path trace = folder.resolve("trace");
    try (Reports reports = new Reports()) {
      TraceSession session = small(trace).start();
      int sent = 0;
      if (open) {
        Tracing.text("one");
        waitFor(() -> session.counts().written() == 1);
        sent++;
      }
      deleteAll(trace);
      if (comesBack) {
        Files.createDirectory(trace);
      }
      for (int i = 0; i < 5_000; i++) {
        Tracing.text(i + LONG);
        sent++;
      }
      waitFor(() -> session.counts().failures() > 3);
      assertThat(session.counts().full()).isPositive();
      assertThatThrownBy(session::close)
          .isInstanceOf(IOException.class)
          .hasMessageContaining(trace.toString())
          .hasMessageContaining("deleted or moved");
      assertThat(session.counts().written()).isEqualTo(open ? 1 : 0);
      assertThat(session.counts().lost()).isEqualTo(sent - session.counts().written());
      assertThat(reports.messages).hasSize(1).first().asString().contains("deleted or moved");
      Tracing.text("three");
    }
    if (comesBack) {
      assertThat(trace).isEmptyDirectory();
    } else {
      assertThat(trace).doesNotExist();
    }
    assertThat(folder.resolve("buffers")).isEmptyDirectory();
  }

  @Test
  void aFolderThatIsMovedBackIsGoneOnWith() throws Exception {
    Path trace = folder.resolve("trace");
    try (Reports reports = new Reports();
        TraceSession session = small(trace).start()) {
      Tracing.text("before");
      waitFor(() -> session.counts().written() == 1);
      Files.move(trace, folder.resolve("away"));
      Tracing.text("away");
      waitFor(() -> session.counts().failures() > 0);
      Files.move(folder.resolve("away"), trace);
      Tracing.text("back");
      session.close();
      assertThat(session.counts().lost()).isZero();
      assertThat(reports.messages).hasSize(1);
    }
    assertThat(messages(trace)).containsExactly("before", "away", "back");
  }

  /** Root may write wherever a mode forbids it, but not to a file system that is read-only. */
  private Path readOnly() throws IOException, InterruptedException {
    Path place = Files.createDirectory(folder.resolve("sealed"));
    if (run("mount", "-t", "tmpfs", "-o", "ro", "none", place.toString())) {
      mounts.add(place);
    } else {
      Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("r-xr-xr-x"));
      assumeTrue(!Files.isWritable(place), "skipped: no folder refuses this user");
    }
    return place;
  }

  @Test
  void aReadOnlyFolderIsAnErrorAtTheStart() throws Exception {
    Path place = readOnly();
    for (Path trace : List.of(place, place.resolve("trace"))) {
      assertThatThrownBy(() -> TraceSession.record(trace).start())
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("The trace in " + trace + " cannot be begun: ")
          .hasMessageMatching("[^\\n]*(Read-only file system|AccessDenied)[^\\n]*");
    }
    Path trace = folder.resolve("trace");
    assertThatThrownBy(() -> TraceSession.record(trace).buffersIn(place).start())
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("The trace buffers " + place)
        .hasMessageContaining("choose another folder");
    assertThat(trace).doesNotExist();
    Tracing.text("nobody cares");
  }

  @Test
  void tenThousandThreads() throws Exception {
    Path trace = folder.resolve("trace");
    int count = 10_000;
    try (TraceSession session = TraceSession.record(trace).enable(TEXT).start()) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String text = "thread " + i;
        Runnable body = () -> Tracing.text(text);
        threads.add(i % 4 == 0 ? Thread.ofPlatform().start(body) : Thread.ofVirtual().start(body));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      session.close();
      assertThat(session.counts().lost()).as(session.counts().toString()).isZero();
    }
    assertThat(new HashSet<>(messages(trace))).hasSize(count);
  }

  @Test
  void aSnapshotUnderLoadHasNoGap() throws Exception {
    Path trace = folder.resolve("trace");
    try (TraceSession session =
        TraceSession.flightRecorder(trace).enable(TEXT).subBuffers(16, 65536).start()) {
      boolean[] stop = new boolean[1];
      Thread load =
          Thread.ofPlatform()
              .start(
                  () -> {
                    int[] cpus =
                        CpuAffinity.isAvailable() ? CpuAffinity.get().toArray() : new int[0];
                    for (int i = 0; !stop[0]; i++) {
                      if (cpus.length > 1 && i % 500 == 0) {
                        CpuAffinity.pinTo(cpus[i / 500 % cpus.length]);
                      }
                      Tracing.text(Integer.toString(i));
                      Thread.onSpinWait();
                    }
                  });
      try {
        Thread.sleep(200);
        for (int round = 0; round < 5; round++) {
          List<String> messages = messages(session.snapshot("s" + round));
          // Where the thread changed its CPU, one ring reaches back further than the other.
          int newest = Integer.parseInt(messages.getLast());
          for (int i = 0; i < Math.min(1_000, messages.size()); i++) {
            assertThat(messages.get(messages.size() - 1 - i))
                .isEqualTo(Integer.toString(newest - i));
          }
        }
      } finally {
        stop[0] = true;
        load.join();
      }
      assertThat(session.counts().lost()).isZero();
    }
  }
}
