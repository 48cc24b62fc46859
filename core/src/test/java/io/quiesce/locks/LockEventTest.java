package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Long waits are in a recording, of locks with statistics and without; short ones are not. */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class LockEventTest {
  @Test
  void longWaitsAreRecorded(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("locks.jfr");
    NodelessMcsLock waited = new NodelessMcsLock("waited");
    NodelessMcsLock quick = new NodelessMcsLock("quick");
    try (Recording recording = new Recording()) {
      recording.enable("io.quiesce.LockWait");
      recording.start();
      quick.lock();
      quick.unlock();
      try (Together threads = new Together()) {
        waited.lock();
        threads.start(
            () -> {
              waited.lock();
              waited.unlock();
            });
        Thread.sleep(60);
        waited.unlock();
      }
      recording.stop();
      recording.dump(file);
    }
    assertThat(Files.size(file)).isPositive();
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    List<RecordedEvent> seen =
        events.stream().filter(e -> e.getEventType().getName().endsWith(".LockWait")).toList();
    assertThat(seen).hasSize(1);
    RecordedEvent event = seen.getFirst();
    assertThat(event.getString("lock")).isEqualTo("waited");
    assertThat(event.getString("kind")).isEqualTo("NodelessMcsLock");
    assertThat(event.getBoolean("acquired")).isTrue();
    assertThat(event.getDuration("length")).isBetween(Duration.ofMillis(10), Duration.ofMinutes(1));
    assertThat(event.getThread("owner").getJavaName()).isEqualTo(Thread.currentThread().getName());
    assertThat(event.getStackTrace().getFrames()).isNotEmpty();
  }

  @Test
  void aVeryLongLimitMeansNever() {
    assertThat(LockEvents.nanos(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(LockEvents.nanos(10)).isEqualTo(10_000_000);
    assertThat(LockEvents.nanos(-1)).isZero();
  }
}
