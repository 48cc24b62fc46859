package io.quiesce.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.ChildJvm;
import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an allocator tells of itself: figures, text, JMX, JFR, log. */
@Timeout(120)
class AllocatorStatisticsTest {
  private static final MBeanServer BEANS = ManagementFactory.getPlatformMBeanServer();

  @BeforeEach
  void available() {
    assumeTrue(VirtualMemory.isAvailable());
  }

  private static void assertSumsUp(AllocatorStatistics s) {
    // What is left over at the ends of spans is in use by nobody, and backed.
    long tails = 0;
    for (AllocatorStatistics.SizeClass c : s.classes()) {
      int sizeClass = SizeClasses.of(c.blockBytes());
      tails +=
          c.spans()
              * ((long) SizeClasses.pages(sizeClass) * SizeClasses.PAGE
                  - (long) SizeClasses.blocksPerSpan(sizeClass) * c.blockBytes());
      assertThat(c.live() + c.cached() + c.inTransfer() + c.freeInSpans())
          .isEqualTo(c.spans() * SizeClasses.blocksPerSpan(sizeClass));
    }
    assertThat(
            s.inUseBytes()
                + s.cachedBytes()
                + s.transferBytes()
                + s.freeInSpansBytes()
                + s.idleBytes()
                + tails)
        .isEqualTo(s.backedBytes());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theFiguresSumUp(boolean hardening) {
    try (PerCpuAllocator allocator =
        PerCpuAllocator.builder().hardening(hardening).quarantineBytes(1 << 16).build()) {
      Random random = new Random(1);
      long[] live = new long[500];
      for (int i = 0; i < 10_000; i++) {
        int slot = random.nextInt(live.length);
        allocator.freeRaw(live[slot]);
        live[slot] = allocator.allocateRaw(random.nextInt(1 << random.nextInt(22)));
        if (i % 1_000 == 0) {
          assertSumsUp(allocator.statistics());
        }
      }
      assertThat(allocator.statistics().refills()).isPositive();
      assertThat(allocator.statistics().overflows()).isPositive();
      for (long block : live) {
        allocator.freeRaw(block);
      }
      allocator.trim();
      AllocatorStatistics after = allocator.statistics();
      assertSumsUp(after);
      assertThat(after.backedBytes()).isZero();
      assertThat(after.returnedBytes()).isPositive();
      assertThat(after.drains()).isPositive();
      assertThat(after.trims()).isOne();
      assertThat(after.corruptFrees()).isZero();
    }
  }

  @Test
  void everyBlockIsSeenWhereItIs() {
    try (PerCpuAllocator allocator =
        PerCpuAllocator.builder().name("seen").hardening(false).limit(1L << 30).build()) {
      long small = allocator.allocateRaw(100);
      long large = allocator.allocateRaw(100_000);
      long huge = allocator.allocateRaw(5_000_000);
      AllocatorStatistics s = allocator.statistics();
      long largeBytes = PerCpuAllocator.blockSize(100_000);
      long hugeBytes = PerCpuAllocator.blockSize(5_000_000);
      assertThat(s.name()).isEqualTo("seen");
      assertThat(s.limit()).isEqualTo(1L << 30);
      assertThat(s.inUseBytes()).isEqualTo(112 + largeBytes + hugeBytes);
      assertThat(s.largeBlocks()).isOne();
      assertThat(s.largeBytes()).isEqualTo(largeBytes);
      assertThat(s.hugeBlocks()).isOne();
      assertThat(s.hugeBytes()).isEqualTo(hugeBytes);
      assertThat(s.classes())
          .singleElement()
          .matches(c -> c.blockBytes() == 112 && c.live() == 1 && c.spans() == 1);
      assertThat(allocator.report())
          .contains("allocator 'seen'\n", "1: 106,496 (104.0 KiB)", "1,073,741,824 (1.0 GiB)")
          .containsPattern("\n +112 +1 +");
      allocator.freeRaw(small);
      allocator.freeRaw(large);
      allocator.freeRaw(huge);
      s = allocator.statistics();
      assertThat(s.inUseBytes()).isZero();
      assertThat(s.largeBlocks() + s.largeBytes() + s.hugeBlocks() + s.hugeBytes()).isZero();
      assertThat(s.idleBytes()).isEqualTo(largeBytes);
      assertThat(s.cachedBytes() + s.transferBytes()).isPositive();
      assertThat(allocator.trim()).isPositive();
      assertThat(allocator.statistics().backedBytes()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClosedAllocatorHoldsNothing(boolean hardening) {
    PerCpuAllocator allocator = PerCpuAllocator.builder().name("gone").hardening(hardening).build();
    allocator.freeRaw(allocator.allocateRaw(100));
    for (long bytes : new long[] {100, 100_000, 5_000_000}) {
      assertThat(allocator.allocateRaw(bytes)).isPositive();
    }
    long refills = allocator.statistics().refills();
    allocator.close();
    AllocatorStatistics s = allocator.statistics();
    assertSumsUp(s);
    assertThat(s.backedBytes() + s.inUseBytes() + s.largeBytes() + s.hugeBlocks()).isZero();
    assertThat(s.quarantinedBytes()).isZero();
    assertThat(s.classes()).isEmpty();
    assertThat(s.refills()).isEqualTo(refills);
    assertThat(allocator.report()).startsWith("allocator 'gone', closed\n");
  }

  @Test
  void sizesAreReadable() {
    assertThat(AllocatorReport.size(0)).isEqualTo("0 bytes");
    assertThat(AllocatorReport.size(1_023)).isEqualTo("1,023 bytes");
    assertThat(AllocatorReport.size(1_536)).isEqualTo("1,536 (1.5 KiB)");
    assertThat(AllocatorReport.size(Long.MAX_VALUE)).endsWith("(8192.0 PiB)");
  }

  private static ObjectName name(String allocator) throws Exception {
    return new ObjectName("io.quiesce:type=PerCpuAllocator,name=" + ObjectName.quote(allocator));
  }

  @Test
  void theBeanShowsTheFigures() throws Exception {
    ObjectName name = name("bean \"1\"");
    PerCpuAllocator allocator =
        PerCpuAllocator.builder().name("bean \"1\"").hardening(true).limit(1 << 22).build();
    long p = allocator.allocateRaw(100_000);
    assertThat(allocator.allocateRaw(2_000_000)).isPositive();
    AllocatorStatistics s = allocator.statistics();
    assertThat(BEANS.getAttribute(name, "Limit")).isEqualTo(1L << 22);
    assertThat(BEANS.getAttribute(name, "InUseBytes")).isEqualTo(s.inUseBytes());
    assertThat(BEANS.getAttribute(name, "BackedBytes")).isEqualTo(s.backedBytes());
    assertThat(BEANS.getAttribute(name, "CachedBytes")).isEqualTo(s.cachedBytes());
    assertThat(BEANS.getAttribute(name, "TransferBytes")).isEqualTo(s.transferBytes());
    assertThat(BEANS.getAttribute(name, "FreeInSpansBytes")).isEqualTo(s.freeInSpansBytes());
    assertThat(BEANS.getAttribute(name, "IdleBytes")).isEqualTo(s.idleBytes());
    assertThat(BEANS.getAttribute(name, "LargeBlocks")).isEqualTo(1L);
    assertThat(BEANS.getAttribute(name, "LargeBytes")).isEqualTo(s.largeBytes());
    assertThat(BEANS.getAttribute(name, "HugeBlocks")).isEqualTo(1L);
    assertThat(BEANS.getAttribute(name, "HugeBytes")).isEqualTo(s.hugeBytes());
    allocator.freeRaw(p);
    assertThat((Long) BEANS.getAttribute(name, "QuarantinedBytes")).isGreaterThan(100_000);
    assertThat((Long) BEANS.invoke(name, "trim", null, null)).isPositive();
    assertThat(BEANS.getAttribute(name, "ReturnedBytes"))
        .isEqualTo(allocator.statistics().returnedBytes());
    assertThat(BEANS.getAttribute(name, "Trims")).isEqualTo(1L);
    assertThatThrownBy(() -> allocator.allocateRaw(5_000_000)).isInstanceOf(OutOfMemoryError.class);
    assertThat(BEANS.getAttribute(name, "OutOfMemory")).isEqualTo(1L);
    assertThatThrownBy(() -> allocator.freeRaw(8)).isInstanceOf(MemoryFaultException.class);
    assertThat(BEANS.getAttribute(name, "Faults")).isEqualTo(1L);
    assertThat(BEANS.getAttribute(name, "CorruptFrees")).isEqualTo(0L);
    assertThat((String) BEANS.invoke(name, "report", null, null)).contains("1 faults found");
    allocator.close();
    assertThat(BEANS.isRegistered(name)).isFalse();
  }

  @Test
  void ofTwoNamesakesTheOlderHasTheBean() throws Exception {
    PerCpuAllocator older = PerCpuAllocator.builder().name("twin").limit(1 << 20).build();
    PerCpuAllocator younger = PerCpuAllocator.builder().name("twin").limit(1 << 21).build();
    assertThat(BEANS.getAttribute(name("twin"), "Limit")).isEqualTo(1L << 20);
    younger.close();
    assertThat(BEANS.getAttribute(name("twin"), "Limit")).isEqualTo(1L << 20);
    older.close();
    assertThat(BEANS.isRegistered(name("twin"))).isFalse();
  }

  private static void makeAndForget() {
    assertThat(PerCpuAllocator.create("forgotten").name()).isEqualTo("forgotten");
  }

  @Test
  void theBeanOfACollectedAllocatorGoes() throws Exception {
    makeAndForget();
    for (int i = 0; i < 400 && BEANS.isRegistered(name("forgotten")); i++) {
      System.gc();
      Thread.sleep(5);
    }
    assertThat(BEANS.isRegistered(name("forgotten"))).isFalse();
  }

  /** Frees a block twice and lets the central list find it. */
  private static void corrupt(PerCpuAllocator allocator) {
    long p = allocator.allocateRaw(100);
    allocator.freeRaw(p);
    allocator.freeRaw(p);
    allocator.trim();
  }

  @Test
  void aBlockThatIsFreedTwiceIsCountedAndToldOnce() {
    try (PerCpuAllocator allocator =
            PerCpuAllocator.builder().name("corrupt").hardening(false).build();
        CapturedLog log = new CapturedLog()) {
      corrupt(allocator);
      assertThat(allocator.statistics().corruptFrees()).isOne();
      corrupt(allocator);
      assertThat(allocator.statistics().corruptFrees()).isEqualTo(2);
      assertThat(log.size()).isOne();
      assertThat(log.text()).contains("'corrupt' was freed twice", "hardening(true)");
    }
  }

  @Test
  void flightRecorderHearsOfAllThatHappens(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("memory.jfr");
    try (Recording recording = new Recording();
        CapturedLog log = new CapturedLog()) {
      for (String event : List.of("Statistics", "Trim", "OutOfMemory", "Corruption")) {
        recording.enable("io.quiesce.Allocator" + event).withoutThreshold();
      }
      recording.enable("io.quiesce.AllocatorStatistics").with("period", "everyChunk");
      recording.start();
      try (PerCpuAllocator plain =
              PerCpuAllocator.builder().name("plain").hardening(false).limit(1 << 20).build();
          PerCpuAllocator hard = PerCpuAllocator.builder().name("hard").hardening(true).build()) {
        assertThat(plain.allocateRaw(100_000)).isPositive();
        corrupt(plain);
        assertThatThrownBy(() -> plain.allocateRaw(5_000_000)).isInstanceOf(OutOfMemoryError.class);
        long p = hard.allocateRaw(100);
        hard.freeRaw(p);
        OffHeap.putByte(p, (byte) 1);
        hard.trim();
        recording.stop(); // the statistics come now
      }
      assertThat(log.size()).isEqualTo(2);
      recording.dump(file);
    }
    List<RecordedEvent> events = new ArrayList<>(RecordingFile.readAllEvents(file));
    assertThat(events)
        .anyMatch(
            named("Trim", "plain")
                .and(e -> e.getString("cause").equals("trim") && e.getLong("blocks") > 0))
        .anyMatch(named("Trim", "plain").and(e -> e.getString("cause").equals("limit")))
        .anyMatch(
            named("OutOfMemory", "plain")
                .and(e -> e.getLong("wanted") == 5_000_000 && e.getLong("limit") == 1 << 20))
        .anyMatch(
            named("Corruption", "plain")
                .and(e -> e.getString("kind").equals("CORRUPT_FREE") && e.getLong("bytes") == 112))
        .anyMatch(
            named("Corruption", "hard")
                .and(
                    e ->
                        e.getString("kind").equals("USE_AFTER_FREE")
                            && e.getLong("bytes") == 100
                            && e.getString("report").contains("flightRecorderHears")))
        .anyMatch(named("Statistics", "plain").and(e -> e.getLong("inUse") >= 100_000));
  }

  private static Predicate<RecordedEvent> named(String event, String allocator) {
    return e ->
        e.getEventType().getName().equals("io.quiesce.Allocator" + event)
            && e.getString("allocator").equals(allocator);
  }

  @Test
  void nothingButJavaBaseIsNeeded() {
    ChildJvm.Result child =
        ChildJvm.run(
            AllocatorSmoke.class,
            Map.of(),
            "--limit-modules",
            "java.base",
            "-Dquiesce.memory.hardening=true",
            "--enable-native-access=ALL-UNNAMED");
    assertThat(child.out()).contains("shared checks 1\n").endsWith("smoke passed\n");
    assertThat(child.err()).contains("USE_AFTER_FREE").doesNotContain("NoClassDefFoundError");
    assertThat(child.exit()).isZero();
  }

  @Test
  void withoutThePropertyNothingIsHardened() {
    ChildJvm.Result child =
        ChildJvm.run(AllocatorSmoke.class, Map.of(), "--enable-native-access=ALL-UNNAMED");
    assertThat(child.out()).contains("shared checks 0\n").endsWith("smoke passed\n");
    assertThat(child.exit()).isZero();
  }
}
