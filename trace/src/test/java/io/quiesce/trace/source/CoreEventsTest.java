package io.quiesce.trace.source;

import static io.quiesce.trace.source.Recorded.number;
import static io.quiesce.trace.source.Recorded.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.VirtualMemory;
import io.quiesce.locks.NodelessMcsLock;
import io.quiesce.memory.PerCpuAllocator;
import io.quiesce.rcu.Rcu;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.ctf.Babeltrace;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the core and the JVM tell, as babeltrace2 reads it. */
@Timeout(100)
class CoreEventsTest {
  private static final String NAME = "traced";

  @TempDir Path folder;

  private List<Babeltrace.Event> events(String pattern, String field, Recorded.Body body)
      throws Exception {
    return Recorded.events(folder.resolve("trace"), pattern, body).stream()
        .filter(event -> text(event, field).equals(NAME))
        .toList();
  }

  @Test
  void gracePeriodsAndBatches() throws Exception {
    List<Babeltrace.Event> events =
        events(
            "quiesce_rcu:*",
            "domain",
            () -> {
              try (Rcu rcu = Rcu.builder(NAME).flavour(Rcu.Flavour.FENCED).build()) {
                rcu.synchronize();
                CountDownLatch done = new CountDownLatch(1);
                rcu.call(done::countDown);
                done.await();
              }
            });
    assertThat(events)
        .extracting(Babeltrace.Event::name)
        .startsWith("quiesce_rcu:gp_begin", "quiesce_rcu:gp_end")
        .contains("quiesce_rcu:batch");
    Babeltrace.Event end = events.get(1);
    assertThat(text(end, "flavour")).isEqualTo("FENCED");
    assertThat(number(end, "duration_ns")).isPositive();
    assertThat(System.nanoTime() - number(end, "begin_ns")).isPositive();
    Babeltrace.Event batch =
        events.stream().filter(e -> e.name().endsWith(":batch")).findFirst().orElseThrow();
    assertThat(number(batch, "callbacks")).isPositive();
  }

  @Test
  @SuppressWarnings("LockNotBeforeTry")
  void longWaits() throws Exception {
    List<Babeltrace.Event> events =
        events(
            "quiesce_lock:*",
            "lock",
            () -> {
              NodelessMcsLock lock = new NodelessMcsLock(NAME);
              lock.lock();
              Thread waiter =
                  Thread.ofPlatform()
                      .start(
                          () -> {
                            lock.lock();
                            lock.unlock();
                          });
              while (waiter.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
              }
              Thread.sleep(60);
              lock.unlock();
              waiter.join();
            });
    assertThat(events).hasSize(1);
    assertThat(text(events.getFirst(), "owner")).isEqualTo(Thread.currentThread().getName());
    assertThat(number(events.getFirst(), "owner_tid")).isEqualTo(Thread.currentThread().threadId());
    assertThat(number(events.getFirst(), "acquired")).isOne();
    assertThat(number(events.getFirst(), "duration_ns")).isGreaterThan(10_000_000);
  }

  @Test
  void allocators() throws Exception {
    assumeTrue(VirtualMemory.isAvailable(), "skipped: no native access");
    long limit = 16L << 20;
    List<Babeltrace.Event> events =
        events(
            "quiesce_alloc:*",
            "allocator",
            () -> {
              try (PerCpuAllocator allocator =
                  PerCpuAllocator.builder().name(NAME).limit(limit).hardening(true).build()) {
                long block = allocator.allocateRaw(64);
                allocator.freeRaw(block);
                assertThatThrownBy(() -> allocator.freeRaw(block)).isNotNull();
                allocator.trim();
                assertThatThrownBy(() -> allocator.allocateRaw(2 * limit))
                    .isInstanceOf(OutOfMemoryError.class);
              }
            });
    assertThat(events)
        .extracting(Babeltrace.Event::name)
        .contains("quiesce_alloc:fault", "quiesce_alloc:trim")
        .last()
        .isEqualTo("quiesce_alloc:out_of_memory");
    assertThat(text(events.getFirst(), "kind")).isEqualTo("DOUBLE_FREE");
    assertThat(number(events.getLast(), "limit")).isEqualTo(limit);
  }

  @Test
  void collections() throws Exception {
    Babeltrace.assumeInstalled();
    Path trace = folder.resolve("trace");
    long before = System.nanoTime();
    try (TraceSession session =
        TraceSession.flightRecorder(trace).enable("quiesce_jvm:gc_pause").start()) {
      while (!GcEvents.isListening()) {
        Thread.sleep(1);
      }
      List<Babeltrace.Event> events = List.of();
      for (int i = 0; events.isEmpty(); i++) {
        System.gc();
        Thread.sleep(50); // the JVM tells it from a thread of its own
        events = Babeltrace.read(session.snapshot("snapshot" + i)).events();
      }
      Babeltrace.Event event = events.getFirst();
      assertThat(text(event, "cause")).isEqualTo("System.gc()");
      assertThat(text(event, "name")).isNotEmpty();
      assertThat(number(event, "used_after"))
          .isPositive()
          .isLessThan(Runtime.getRuntime().totalMemory());
      assertThat(number(event, "duration_ns")).isNotNegative();
      // Milliseconds, and the JVM's start is known to some of them.
      assertThat(number(event, "begin_ns"))
          .isBetween(before - 1_000_000_000, System.nanoTime() + 1_000_000_000);
    }
    while (GcEvents.isListening()) {
      Thread.sleep(1);
    }
  }
}
