package io.quiesce.trace.reader;

import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.Metadata;
import io.quiesce.trace.ctf.PacketWriter;
import io.quiesce.trace.ctf.StreamFile;
import io.quiesce.trace.ctf.TraceDescription;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes traces with this project's writer, and says what it wrote. */
final class SampleTrace implements AutoCloseable {

  /** One event that is in the trace. */
  record Written(EventType type, long time, int cpu, List<Object> context, List<Object> values) {}

  private final Path folder;
  private final TraceDescription trace;
  private final Metadata metadata;
  private final List<PacketWriter> writers = new ArrayList<>();
  private final List<StreamFile> files = new ArrayList<>();
  private final List<Written> written = new ArrayList<>();
  private long last;

  SampleTrace(Path folder, TraceDescription trace, int cpus, int bytes, long begin)
      throws IOException {
    this.folder = folder;
    this.trace = trace;
    this.last = begin;
    metadata = Metadata.create(folder, trace);
    for (int cpu = 0; cpu < cpus; cpu++) {
      PacketWriter writer = new PacketWriter(trace, cpu, MemorySegment.ofArray(new byte[bytes]));
      writer.open(begin);
      writers.add(writer);
      files.add(StreamFile.create(folder, cpu));
    }
  }

  List<io.quiesce.trace.ctf.Field> context() {
    return trace.context();
  }

  Path folder() {
    return folder;
  }

  List<Written> written() {
    return written;
  }

  void add(EventType type) throws IOException {
    metadata.add(type);
  }

  void write(int cpu, EventType type, long time, Object[] context, Object... values)
      throws IOException {
    last = time;
    PacketWriter.Outcome outcome = writers.get(cpu).write(type, time, context, values);
    if (outcome == PacketWriter.Outcome.FULL) {
      next(cpu, 0);
      outcome = writers.get(cpu).write(type, time, context, values);
    }
    if (outcome != PacketWriter.Outcome.WRITTEN) {
      throw new AssertionError(outcome);
    }
    written.add(new Written(type, time, cpu, List.of(context), List.of(values)));
  }

  /** Closes the packet with so many losses since the trace began, and opens another. */
  void next(int cpu, long lost) throws IOException {
    files.get(cpu).append(writers.get(cpu).close(last, lost));
    writers.get(cpu).open(last);
  }

  /** Closes a packet that does not reach its file. */
  void lose(int cpu) {
    writers.get(cpu).close(last, 0);
    writers.get(cpu).open(last);
  }

  @Override
  public void close() throws IOException {
    metadata.close();
    for (int cpu = 0; cpu < files.size(); cpu++) {
      files.get(cpu).append(writers.get(cpu).close(last, 0));
      files.get(cpu).close();
    }
  }

  long epoch(long time) {
    return trace.clock().offsetSeconds() * 1_000_000_000L + trace.clock().offsetTicks() + time;
  }

  /** A structure's values in the form of the writer's test kit. */
  static Map<String, Object> plain(Value struct) {
    Map<String, Object> values = new LinkedHashMap<>();
    Type.Struct type = (Type.Struct) struct.type();
    for (int i = 0; i < struct.size(); i++) {
      values.put(type.fields().get(i).name(), plainValue(struct.at(i)));
    }
    return values;
  }

  private static Object plainValue(Value value) {
    if (value.isText()) {
      return value.asText();
    }
    return switch (value.type()) {
      case Type.Int type -> integer(type, value.asLong());
      case Type.Real _ -> value.asDouble();
      case Type.Enumeration type ->
          new io.quiesce.trace.ctf.Babeltrace.Labelled(
              value.labels(), integer(type.container(), value.asLong()));
      case Type.Text _ -> throw new AssertionError("a text is text");
      case Type.Listing _ -> {
        List<Object> elements = new ArrayList<>();
        for (int i = 0; i < value.size(); i++) {
          elements.add(plainValue(value.at(i)));
        }
        yield elements;
      }
      case Type.Struct _ -> plain(value);
      case Type.Variant _ -> Map.of(value.chosenName(), plainValue(value.chosen()));
    };
  }

  private static BigInteger integer(Type.Int type, long value) {
    BigInteger whole = BigInteger.valueOf(value);
    boolean unsigned = !type.signed() || type.base() != 10;
    return unsigned && whole.signum() < 0
        ? whole.add(BigInteger.ONE.shiftLeft(type.signed() ? type.bits() : 64))
        : whole;
  }
}
