package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clocks that are set, stop, or begin anew. */
class ClockFaultsTest {
  private static final long SECOND = 1_000_000_000;

  /** What reads the wall clock in the JDK. */
  private static final Pattern WALL =
      Pattern.compile(
          "java/lang/System\\.currentTimeMillis|java/util/(Date|GregorianCalendar)\\.<init>"
              + "|java/util/Calendar\\.getInstance|java/time/[A-Za-z]+\\.now|java/time/Clock\\..*");

  @TempDir Path folder;

  /**
   * The wall clock cannot be set here, so this: the one place where events' times could see it is
   * the offset at a session's start. The others: the name of a folder, how old a socket's file is,
   * and what the metadata says of when the trace was begun.
   */
  @Test
  void onlyTheOffsetAtTheStartReadsTheWallClock() throws Exception {
    URI place =
        URI.create(
            TraceSession.class.getProtectionDomain().getCodeSource().getLocation().toString());
    Set<String> readers = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of(place))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
        wallClocks(file).forEach(readers::add);
      }
    }
    assertThat(readers)
        .containsExactly(
            "io/quiesce/trace/agent/AgentOptions$Parser java/time/LocalDateTime.now",
            "io/quiesce/trace/control/ControlFolder java/lang/System.currentTimeMillis",
            "io/quiesce/trace/ctf/Clock java/time/Instant.now",
            "io/quiesce/trace/ctf/TraceDescription java/time/ZonedDateTime.now");
  }

  private static Stream<String> wallClocks(Path file) {
    try {
      var model = ClassFile.of().parse(file);
      Set<String> found = new TreeSet<>();
      for (PoolEntry entry : model.constantPool()) {
        if (entry instanceof MemberRefEntry member) {
          String name = member.owner().asInternalName() + "." + member.name().stringValue();
          if (WALL.matcher(name).matches()) {
            found.add(model.thisClass().asInternalName() + " " + name);
          }
        }
      }
      return found.stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void theCounterIsTrustedOnEvidenceOnly() {
    String good = "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n";
    assertThat(Stamps.isComputed("kvm-clock\n", good + good)).isTrue();
    assertThat(Stamps.isComputed("hyperv_clocksource_tsc_page\n", good)).isTrue();
    for (String source : new String[] {"hpet\n", "acpi_pm\n", "jiffies\n", ""}) {
      assertThat(Stamps.isComputed(source, good)).as("switched to " + source).isFalse();
    }
    String stops = good.replace(" nonstop_tsc", "");
    assertThat(Stamps.isComputed("kvm-clock\n", stops)).isFalse();
    assertThat(Stamps.isComputed("kvm-clock\n", good + stops)).as("one CPU of two").isFalse();
    String varies = good.replace(" constant_tsc", "");
    assertThat(Stamps.isComputed("kvm-clock\n", varies + good)).isFalse();
  }

  private Anchors anchors(RingMemory ring) {
    return Anchors.recover(ring); // none yet
  }

  private RingMemory ring() throws IOException {
    return RingMemory.create(
        folder.resolve("buffers"), new RingGeometry(1, 4096, 2, false), Stamps.TSC.code());
  }

  /** Suspended to memory: the counter begins at zero, the clock goes on from where it was. */
  @Test
  void aCounterThatBeginsAnewKeepsTimeGoingOn() throws Exception {
    try (RingMemory ring = ring()) {
      Anchors anchors = anchors(ring);
      long base = 3_000 * SECOND;
      for (long i = 0; i <= 10; i++) {
        anchors.add(base + 2 * i * SECOND, i * SECOND);
      }
      assertThat(anchors.toNanos(base + 5 * SECOND)).isEqualTo(5 * SECOND / 2);
      long suspended = 10 * SECOND;
      anchors.add(SECOND, suspended + SECOND / 2);
      assertThat(anchors.toNanos(base + 20 * SECOND - 1)).as("from before").isEqualTo(suspended);
      assertThat(anchors.toNanos(base + 21 * SECOND)).as("from before").isEqualTo(suspended);
      anchors.add(3 * SECOND, suspended + 3 * SECOND / 2);
      anchors.add(5 * SECOND, suspended + 5 * SECOND / 2);
      for (long stamp = SECOND; stamp <= 5 * SECOND; stamp += SECOND) {
        assertThat(anchors.toNanos(stamp)).isEqualTo(suspended + stamp / 2);
      }
      assertThat(anchors.toNanos(base + 20 * SECOND)).isEqualTo(suspended);
      assertThat(anchors.toNanos(4 * SECOND)).isEqualTo(suspended + 2 * SECOND);
      Anchors recovered = Anchors.recover(ring);
      assertThat(recovered.toNanos(4 * SECOND)).isEqualTo(suspended + 2 * SECOND);
    }
  }

  /** Suspended to idle: the counter has gone on, CLOCK_MONOTONIC has not. */
  @Test
  void aCounterThatRanWhileTheClockStoodStaysBetweenItsAnchors() throws Exception {
    try (RingMemory ring = ring()) {
      Anchors anchors = anchors(ring);
      anchors.add(SECOND, SECOND);
      anchors.add(2 * SECOND, 2 * SECOND);
      anchors.add(3_600 * SECOND, 2 * SECOND + SECOND / 10);
      anchors.add(3_601 * SECOND, 3 * SECOND + SECOND / 10);
      long last = 0;
      for (long stamp = SECOND; stamp <= 3_601 * SECOND; stamp += SECOND / 2) {
        long time = anchors.toNanos(stamp);
        assertThat(time).isBetween(last, 3 * SECOND + SECOND / 10);
        last = time;
      }
      assertThat(anchors.toNanos(2 * SECOND + SECOND / 100))
          .isBetween(2 * SECOND, 2 * SECOND + SECOND / 10);
      assertThat(anchors.toNanos(3_600 * SECOND + SECOND / 2))
          .isEqualTo(2 * SECOND + SECOND / 10 + SECOND / 2);
    }
  }

  /** Two CPUs' counters differ a little: that is no new beginning. */
  @Test
  void aCounterThatGoesBackALittleIsAnotherCpus() throws Exception {
    try (RingMemory ring = ring()) {
      Anchors anchors = anchors(ring);
      anchors.add(SECOND, SECOND);
      anchors.add(2 * SECOND, 2 * SECOND);
      anchors.add(2 * SECOND - 5_000, 2 * SECOND + 100);
      anchors.add(3 * SECOND, 3 * SECOND);
      assertThat(anchors.toNanos(SECOND + 7)).isEqualTo(SECOND + 7);
      assertThat(anchors.toNanos(2 * SECOND + 7)).isEqualTo(2 * SECOND + 7);
    }
  }
}
