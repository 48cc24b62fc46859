package io.quiesce.trace;

import io.quiesce.trace.ring.RecoveryReport;
import io.quiesce.trace.ring.RingSession;
import io.quiesce.trace.ring.RingStatistics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code .quiesce} in a trace that is being recorded: where its buffers are. Readers leave
 * files alone whose names begin with a dot.
 */
final class SessionFile {
  private static final String NAME = ".quiesce";
  private static final String BUFFERS = "buffers=";
  private static final String TRACE = "trace=";

  private final Path folder;
  private final Path buffers;

  private SessionFile(Path folder, Path buffers) {
    this.folder = folder;
    this.buffers = buffers;
  }

  static SessionFile create(Path folder, Path buffers, UUID trace) throws IOException {
    SessionFile made = new SessionFile(folder, buffers.toAbsolutePath());
    Files.write(
        folder.resolve(NAME),
        List.of(BUFFERS + made.buffers, TRACE + trace),
        StandardCharsets.UTF_8,
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE);
    return made;
  }

  /** That of a trace that was not ended, or null. */
  static @Nullable SessionFile find(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    if (!Files.exists(file)) {
      if (!Files.exists(folder.resolve("metadata"))) {
        throw new NoSuchFileException(folder + " holds no trace");
      }
      return null;
    }
    for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
      if (line.startsWith(BUFFERS)) {
        return new SessionFile(folder, Path.of(line.substring(BUFFERS.length())));
      }
    }
    throw new IOException(file + " does not say where the buffers are; delete it to give them up");
  }

  TraceRecovery recover() throws IOException {
    if (!Files.exists(buffers)) {
      throw new IOException(
          "The buffers "
              + buffers
              + " are gone, as after a restart of the machine; what is in "
              + folder
              + " is readable up to its last whole packet");
    }
    RecoveryReport report = RingSession.recover(folder, buffers);
    Files.deleteIfExists(buffers);
    RingStatistics lost = report.lost();
    return new TraceRecovery(
        report.packets(),
        report.events(),
        report.uncommitted(),
        report.unknown(),
        new TraceCounts(0, lost.full(), lost.wrap(), lost.big(), lost.other(), 0));
  }

  void delete() throws IOException {
    delete(folder);
  }

  static void delete(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(NAME));
  }
}
