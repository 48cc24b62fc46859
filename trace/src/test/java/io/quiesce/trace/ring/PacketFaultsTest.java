package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.trace.reader.Event;
import io.quiesce.trace.reader.Packet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What packets say where a ring wraps, a thread is parked, or events are lost meanwhile. */
class PacketFaultsTest {
  private static final int SUB_BYTES = (int) RingGeometry.LEAST_SUB_BYTES;

  @TempDir private Path folder;

  private RingTrace trace(HotPathKind kind, int subBuffers) throws Exception {
    assumeTrue(kind.isAvailable(), "skipped: no restartable sequences here");
    return new RingTrace(folder, kind, subBuffers, id -> true);
  }

  /** From none to a good deal more than a sub-buffer's or a record's header. */
  @ParameterizedTest
  @EnumSource(HotPathKind.class)
  void everyRemainderAtTheWrap(HotPathKind kind) throws Exception {
    try (RingTrace trace = trace(kind, 4)) {
      RingTrace.onOneCpu(
          () -> {
            long number = 0;
            for (int round = 0; round < 2 * 9 * 8; round++) {
              int remainder = round / 2 % 9 * 8;
              int unused = round / 18; // bytes of the last record's padding
              do { // until a sub-buffer has begun
                trace.emit(number++, 0);
              } while (trace.rest() < SUB_BYTES / 2 || trace.rest() == SUB_BYTES);
              int left = trace.rest() - remainder;
              while (left > 0) {
                int size = left >= 2 * RingTrace.LEAST ? RingTrace.LEAST : left;
                int load = size - RingLayout.SLOT_BYTES - RingTrace.FIELDS;
                assertThat(trace.emit(number++, Math.max(0, load - unused))).isTrue();
                left -= size;
              }
              assertThat(trace.rest()).isEqualTo(remainder == 0 ? SUB_BYTES : remainder);
              trace.consumer.pass(round % 2 == 1, false); // by a flush, or by the next event
            }
            List<Event> events = trace.read();
            for (int i = 0; i < number; i++) {
              assertThat(events.get(i).getLong("number")).isEqualTo(i);
            }
            assertThat(events).hasSize((int) number);
            return true;
          });
    }
  }

  @ParameterizedTest
  @EnumSource(HotPathKind.class)
  void lossesBehindTheLastEventAreInTheTrace(HotPathKind kind) throws Exception {
    try (RingTrace trace = trace(kind, 4)) {
      RingTrace.onOneCpu(
          () -> {
            assertThat(trace.emit(0, 0)).isTrue();
            assertThat(trace.consumer.pass(true, false)).isEqualTo(1);
            for (int i = 0; i < 10; i++) {
              assertThat(trace.reserve(SUB_BYTES)).isZero();
            }
            assertThat(trace.read()).hasSize(1);
            assertThat(trace.lost()).isEqualTo(10);
            return true;
          });
    }
  }

  @ParameterizedTest
  @EnumSource(HotPathKind.class)
  void aThreadParkedBetweenReserveAndCommit(HotPathKind kind) throws Exception {
    try (RingTrace trace = trace(kind, 4)) {
      RingTrace.onOneCpu(
          () -> {
            List<Long> before = new ArrayList<>();
            List<Long> after = new ArrayList<>();
            before.add(System.nanoTime());
            long parked = trace.reserve(0);
            after.add(System.nanoTime());
            for (int i = 1; i < 300; i++) { // beyond the end of the sub-buffer
              before.add(System.nanoTime());
              assertThat(trace.emit(i, 0)).isTrue();
              after.add(System.nanoTime());
            }
            for (int i = 0; i < 5; i++) {
              assertThat(trace.consumer.pass(true, false)).isZero();
            }
            before.add(System.nanoTime());
            assertThat(trace.emit(300, 0)).isTrue();
            after.add(System.nanoTime());
            trace.commit(parked, 0, 0);
            List<Event> events = trace.read();
            assertThat(events).hasSize(301);
            for (int i = 0; i < events.size(); i++) {
              Event event = events.get(i);
              assertThat(event.getLong("number")).isEqualTo(i);
              // The counter's time is on a line between two anchors.
              assertThat(event.timeNanos() - trace.clockOffset)
                  .isBetween(before.get(i) - 20_000, after.get(i) + 20_000);
              assertThat(event.timeNanos()).isBetween(event.packet().begin(), event.packet().end());
            }
            checkPackets(events, System.nanoTime() + trace.clockOffset);
            return true;
          });
    }
  }

  /** Packets follow one another, end with their last events, and count up. */
  private static void checkPackets(List<Event> events, long now) {
    for (int i = 0; i < events.size(); i++) {
      Packet packet = events.get(i).packet();
      Packet next = i + 1 < events.size() ? events.get(i + 1).packet() : null;
      if (next == null || next.sequence() != packet.sequence()) {
        assertThat(packet.end()).isEqualTo(events.get(i).timeNanos()).isLessThanOrEqualTo(now);
      }
      if (next != null) {
        assertThat(next.begin()).isGreaterThanOrEqualTo(packet.begin());
        assertThat(next.sequence()).isGreaterThanOrEqualTo(packet.sequence());
        assertThat(next.discarded()).isGreaterThanOrEqualTo(packet.discarded());
        assertThat(next.lostEvents()).isGreaterThanOrEqualTo(0);
      }
    }
  }

  /**
   * A packet takes the count of now if the next sub-buffer has not begun when it is looked at. Then
   * the next two begin, with counts from before, and then events are lost.
   */
  @ParameterizedTest
  @EnumSource(HotPathKind.class)
  void theCountOfLossesNeverGoesDown(HotPathKind kind) throws Exception {
    assumeTrue(kind.isAvailable(), "skipped: no restartable sequences here");
    List<Runnable> meanwhile = new ArrayList<>();
    try (RingTrace trace =
        new RingTrace(
            folder,
            kind,
            4,
            id -> {
              if (!meanwhile.isEmpty()) {
                meanwhile.removeFirst().run();
              }
              return true;
            })) {
      RingTrace.onOneCpu(
          () -> {
            fill(trace);
            meanwhile.add(
                () -> {
                  fill(trace);
                  trace.emit(0, 0);
                  for (int i = 0; i < 10; i++) {
                    assertThat(trace.emit(0, 2 * SUB_BYTES)).isFalse();
                  }
                });
            assertThat(trace.consumer.pass(false, false)).isEqualTo(1);
            trace.buffers.abandon(trace.reserve(0), RingTrace.FIELDS);
            assertThat(trace.consumer.pass(true, false)).isEqualTo(2);
            trace.emit(1, 0);
            assertThat(trace.consumer.pass(true, false)).isEqualTo(1);
            List<Event> events = trace.read();
            checkPackets(events, System.nanoTime() + trace.clockOffset);
            List<Long> discarded =
                events.stream().map(event -> event.packet().discarded()).distinct().toList();
            assertThat(discarded).containsExactly(10L, 11L);
            return true;
          });
    }
  }

  private static void fill(RingTrace trace) {
    trace.emit(0, 0);
    while (trace.rest() < SUB_BYTES) {
      int rest = trace.rest();
      int size = rest >= 2 * RingTrace.LEAST ? RingTrace.LEAST : rest;
      assertThat(trace.emit(0, size - RingLayout.SLOT_BYTES - RingTrace.FIELDS)).isTrue();
    }
  }
}
