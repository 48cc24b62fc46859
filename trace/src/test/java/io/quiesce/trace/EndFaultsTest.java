package io.quiesce.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.linux.Rseq;
import io.quiesce.trace.point.Point;
import io.quiesce.trace.point.Points;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What comes in the way of a session's end, and of its being alone with its buffers. */
@SuppressWarnings("try") // Sessions are closed early.
class EndFaultsTest {
  private static final Point POINT = Points.of("end", "event", 6, List.of());

  @TempDir Path folder;

  /** A descriptor more of the buffers' file, once closed, takes the lock away. */
  @Test
  void aRecoveryThatIsRefusedHereIsRefusedInAnotherProcessToo() throws Exception {
    Path trace = folder.resolve("trace");
    Path buffers = Files.createDirectory(folder.resolve("buffers"));
    try (TraceSession session =
        TraceSession.record(trace).buffersIn(buffers).enable("quiesce:text").start()) {
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> TraceSession.recover(trace))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("still runs");
      }
      assertThat(recoverElsewhere(trace)).contains("still runs");
      assertThat(buffers).isNotEmptyDirectory();
      Tracing.text("one");
      session.close();
      assertThat(session.counts().written()).isOne();
    }
    assertThat(buffers).isEmptyDirectory();
  }

  private static String recoverElsewhere(Path trace) throws IOException, InterruptedException {
    Process program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath(),
                RecoveringProgram.class.getName(),
                trace.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader lines = program.inputReader()) {
      String line = lines.readLine();
      assertThat(program.waitFor()).isZero();
      return String.valueOf(line);
    } finally {
      program.destroyForcibly();
    }
  }

  private static String classPath() {
    return Stream.of(RecoveringProgram.class, TraceSession.class, Rseq.class)
        .map(type -> type.getProtectionDomain().getCodeSource().getLocation().toString())
        .map(place -> Path.of(URI.create(place)).toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** The session's thread may be about to try again what could not be described. */
  @Test
  void nothingIsAttachedToASessionThatHasEnded() throws Exception {
    TraceSession session = TraceSession.record(folder.resolve("trace")).enable("end:event").start();
    assertThat(Points.isAttached(POINT, session)).isTrue();
    session.close();
    Points.forEach(session::apply);
    assertThat(Points.isAttached(POINT, session)).isFalse();
  }

  /** Such as the hook of the JVM's exit, which would cut the first one short. */
  @Test
  void whoClosesLaterWaitsForTheFirst() throws Exception {
    TraceSession session = TraceSession.record(folder.resolve("trace")).start();
    Thread[] closers = new Thread[2];
    Points.locked(
        () -> {
          closers[0] = closer(session);
          settle(closers[0]); // it cannot go on: it wants the lock
          closers[1] = closer(session);
          settle(closers[1]);
          assertThat(closers[1].isAlive()).isTrue();
        });
    for (Thread closer : closers) {
      assertThat(closer.join(Duration.ofSeconds(60))).isTrue();
    }
    session.close();
    assertThat(folder.resolve("trace/.quiesce")).doesNotExist();
  }

  private static Thread closer(TraceSession session) {
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                session.close();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  /** Until it has ended, or waits and goes on waiting. */
  private static void settle(Thread thread) {
    int waiting = 0;
    while (thread.isAlive() && waiting < 20) {
      Thread.State state = thread.getState();
      waiting =
          state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING ? waiting + 1 : 0;
      try {
        Thread.sleep(2);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
