package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ObservabilityTest {
  private static final MBeanServer BEANS = ManagementFactory.getPlatformMBeanServer();

  private static ObjectName name(String domain) throws Exception {
    return new ObjectName("io.quiesce:type=Rcu,name=" + ObjectName.quote(domain));
  }

  @Test
  void flightRecorderHearsOfGracePeriodsStallsAndBatches(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("rcu.jfr");
    try (Recording recording = new Recording()) {
      for (String event : List.of("GracePeriod", "Stall", "CallbackBatch")) {
        recording.enable("io.quiesce." + event).withoutThreshold();
      }
      recording.start();
      try (Rcu rcu = Rcu.builder("recorded").stallLimit(Duration.ofMillis(50)).build()) {
        Holder holder = new Holder(rcu, Thread.ofPlatform().name("slow"));
        rcu.call(() -> {});
        rcu.retire((address, bytes) -> {}, 64, 4_096);
        Waiting.until("stalled", () -> rcu.statistics().stalls() > 0);
        holder.leave();
        rcu.barrier();
        rcu.barrier(); // the worker tells of a batch before it begins the next one
        rcu.synchronizeExpedited();
      }
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events =
        RecordingFile.readAllEvents(file).stream()
            .filter(e -> e.hasField("domain") && "recorded".equals(e.getString("domain")))
            .toList();
    assertThat(events)
        .anyMatch(named("GracePeriod").and(e -> e.getInt("waitedFor") == 1))
        .anyMatch(named("GracePeriod").and(e -> e.getBoolean("expedited")))
        .anyMatch(named("Stall").and(e -> e.getString("report").contains("reader slow")))
        .anyMatch(
            named("CallbackBatch")
                .and(e -> e.getLong("callbacks") > 0 && e.getString("worker").equals("default")))
        .anyMatch(named("CallbackBatch").and(e -> e.getLong("bytes") == 4_096));
    assertThat(events)
        .filteredOn(named("GracePeriod").and(e -> e.getInt("waitedFor") == 1))
        .anyMatch(e -> e.getDuration("length").toMillis() >= 40);
    assertThat(Files.size(file)).isPositive();
  }

  private static Predicate<RecordedEvent> named(String event) {
    return e -> e.getEventType().getName().equals("io.quiesce." + event);
  }

  @Test
  void theBeanShowsTheGauges() throws Exception {
    Rcu rcu = Rcu.builder("bean").flavour(Rcu.Flavour.FENCED).build();
    Holder holder = new Holder(rcu, Thread.ofPlatform());
    rcu.call(() -> {});
    rcu.retire((address, bytes) -> {}, 64, 4_096);
    ObjectName name = name("bean");
    Thread.sleep(20);
    assertThat(BEANS.getAttribute(name, "Flavour")).isEqualTo("FENCED");
    assertThat(BEANS.getAttribute(name, "RegisteredReaders")).isEqualTo(1);
    assertThat(BEANS.getAttribute(name, "PendingCallbacks")).isEqualTo(1L);
    assertThat(BEANS.getAttribute(name, "PendingBlocks")).isEqualTo(1L);
    assertThat(BEANS.getAttribute(name, "PendingBytes")).isEqualTo(4_096L);
    assertThat((Long) BEANS.getAttribute(name, "OldestPendingMillis")).isPositive();
    assertThat(BEANS.getAttribute(name, "Stalls")).isEqualTo(0L);
    holder.leave();
    rcu.barrier();
    assertThat((Long) BEANS.getAttribute(name, "GracePeriods")).isPositive();
    assertThat(BEANS.getAttribute(name, "PendingBytes")).isEqualTo(0L);
    rcu.close();
    assertThat(BEANS.isRegistered(name)).isFalse();
  }

  @Test
  void closingANamesakeLeavesTheOlderDomainsBean() throws Exception {
    Rcu older = Rcu.builder("namesake").flavour(Rcu.Flavour.FENCED).build();
    Rcu younger = Rcu.builder("namesake").flavour(Rcu.Flavour.SLEEPABLE).build();
    younger.close();
    assertThat(BEANS.getAttribute(name("namesake"), "Flavour")).isEqualTo("FENCED");
    older.close();
    assertThat(BEANS.isRegistered(name("namesake"))).isFalse();
  }

  private static void makeAndForget() {
    assertThat(Rcu.create("forgotten").name()).isEqualTo("forgotten");
  }

  @Test
  void aDomainThatWasCollectedLeavesItsNameToTheNext() throws Exception {
    makeAndForget();
    ObjectName name = name("forgotten");
    for (int i = 0; i < 200 && !"".equals(BEANS.getAttribute(name, "Flavour")); i++) {
      System.gc();
      Thread.sleep(5);
    }
    assertThat(BEANS.getAttribute(name, "Flavour")).isEqualTo("");
    assertThat(BEANS.getAttribute(name, "PendingBytes")).isEqualTo(0L);
    try (Rcu next = Rcu.builder("forgotten").flavour(Rcu.Flavour.QSBR).build()) {
      assertThat(BEANS.getAttribute(name, "Flavour")).isEqualTo(next.flavour().name());
    }
  }
}
