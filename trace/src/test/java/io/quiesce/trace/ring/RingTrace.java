package io.quiesce.trace.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ctf.Metadata;
import io.quiesce.trace.ctf.TraceDescription;
import io.quiesce.trace.reader.Event;
import io.quiesce.trace.reader.TraceReader;
import io.quiesce.trace.reader.TraceStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.IntPredicate;

/** Rings, their consumer, and a trace of numbered events with a load of bytes. */
final class RingTrace implements AutoCloseable {
  static final int FIELDS = Long.BYTES + Integer.BYTES;
  static final int LEAST = (RingLayout.SLOT_BYTES + FIELDS + 7) & -8;
  private static final EventType TYPE =
      new EventType(
          0, "ring", "event", 6, List.of(Field.signed("number", 64), Field.bytes("load")));

  final RingBuffers buffers;
  final Consumer consumer;
  final long clockOffset;
  private final Path folder;
  private final Metadata metadata;

  RingTrace(Path folder, HotPathKind kind, int subBuffers, IntPredicate known) throws IOException {
    this.folder = folder.resolve("trace");
    TraceDescription trace = TraceDescription.ofThisProcess("ring", List.of());
    clockOffset = trace.clock().offsetSeconds() * 1_000_000_000 + trace.clock().offsetTicks();
    metadata = Metadata.create(this.folder, trace);
    metadata.add(TYPE);
    RingGeometry geometry =
        new RingGeometry(Rows.count(), RingGeometry.LEAST_SUB_BYTES, subBuffers, false);
    buffers = RingBuffers.create(folder.resolve("buffers"), geometry, kind);
    consumer = new Consumer(buffers, Anchors.begin(buffers.ring()), this.folder, trace, known);
  }

  /** The offset of this thread's row. */
  long offset() {
    return Store.getLongVolatile(buffers.memory(), buffers.path().rowPlace(buffers.path().row()));
  }

  /** How much of the sub-buffer is free. */
  int rest() {
    return (int) (RingGeometry.LEAST_SUB_BYTES - (offset() & (RingGeometry.LEAST_SUB_BYTES - 1)));
  }

  long reserve(int load) {
    return buffers.reserve(FIELDS + load);
  }

  void commit(long record, long number, int load) {
    long at = RingBuffers.fields(record);
    Store.putLong(buffers.memory(), at, number);
    Store.putInt(buffers.memory(), at + Long.BYTES, load);
    for (int i = 0; i < load; i++) {
      Store.putByte(buffers.memory(), at + FIELDS + i, (byte) number);
    }
    buffers.commit(record, FIELDS + load, TYPE.id());
  }

  /** Whether it is stored. */
  boolean emit(long number, int load) {
    long record = reserve(load);
    if (record != 0) {
      commit(record, number, load);
    }
    return record != 0;
  }

  /** Ends it, and reads; each event's load is checked. */
  List<Event> read() throws IOException {
    buffers.end();
    consumer.pass(true, true);
    assertThat(consumer.isDrained()).isTrue();
    consumer.close();
    metadata.close();
    List<Event> events = new ArrayList<>();
    try (TraceReader reader = TraceReader.open(folder)) {
      while (reader.next()) {
        Event event = reader.event().copy();
        var load = Objects.requireNonNull(event.field("load"));
        for (int i = 0; i < load.size(); i++) {
          assertThat((byte) load.longAt(i)).isEqualTo((byte) event.getLong("number"));
        }
        events.add(event);
      }
    }
    return events;
  }

  /** What the trace says was lost. */
  long lost() throws IOException {
    try (TraceReader reader = TraceReader.open(folder)) {
      while (reader.next()) {
        // to the end
      }
      return reader.streams().stream().mapToLong(TraceStream::lostEvents).sum();
    }
  }

  @Override
  public void close() throws IOException {
    consumer.close();
    metadata.close();
    buffers.close();
  }

  /** Runs the body on one CPU, and so in one row. */
  static void onOneCpu(Callable<Boolean> body) throws Exception {
    FutureTask<Boolean> task = new FutureTask<>(body);
    Thread.ofPlatform()
        .start(
            () -> {
              if (CpuAffinity.isAvailable()) {
                CpuAffinity.pinTo(CpuAffinity.get().highest());
              }
              task.run();
            });
    assertThat(task.get()).isTrue();
  }
}
