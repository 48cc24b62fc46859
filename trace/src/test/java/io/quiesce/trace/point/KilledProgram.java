package io.quiesce.trace.point;

import io.quiesce.trace.TraceFormat;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.TraceSessionBuilder;
import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ring.RingBuffers;
import io.quiesce.trace.ring.Store;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

/**
 * Traces numbered events in some threads until it is killed. After each commit a thread stores the
 * event's number in a mapped file: the witness of what must be in the trace. An event that was lost
 * gives its number to the next one.
 */
public final class KilledProgram {
  static final int THREADS = 3;
  static final int WITNESS_BYTES = THREADS * 64;

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  private static final Point POINT =
      Points.of(
          "kill",
          "event",
          6,
          List.of(Field.signed("thread", 32), Field.signed("number", 64), Field.bytes("load")));

  private KilledProgram() {}

  /** Arguments: trace, witness, mode, sub-buffer bytes, format. */
  public static void main(String[] args) throws IOException {
    MemorySegment witness;
    try (FileChannel file =
        FileChannel.open(Path.of(args[1]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      witness = file.map(FileChannel.MapMode.READ_WRITE, 0, WITNESS_BYTES, Arena.global());
    }
    Path trace = Path.of(args[0]);
    TraceSessionBuilder builder =
        args[2].equals("overwrite")
            ? TraceSession.flightRecorder(trace)
            : TraceSession.record(trace);
    TraceSession session =
        builder
            .format(TraceFormat.valueOf(args[4]))
            .enable("kill:*")
            .subBuffers(4, Integer.parseInt(args[3]))
            .flushEvery(Duration.ofMillis(3))
            .start();
    for (int i = 0; i < THREADS; i++) {
      int number = i;
      Thread.ofPlatform().start(() -> trace(number, witness, session));
    }
    System.out.println("traces");
  }

  private static void trace(int thread, MemorySegment witness, TraceSession session) {
    long number = 1;
    while (session.folder() != null) {
      if (emit(thread, number)) {
        LONG.setRelease(witness, thread * 64L, number);
        number++;
      }
      for (int i = 0; i < 100; i++) {
        Thread.onSpinWait(); // so that there are not more events than the test can read
      }
    }
  }

  private static boolean emit(int thread, long number) {
    Target target = POINT.target();
    if (target == null) {
      return false;
    }
    int load = (int) (number * 31 & 31);
    long bytes = 16L + load;
    RingBuffers ring = target.ring();
    long record = ring.reserve(bytes);
    if (record == 0) {
      return false;
    }
    long at = RingBuffers.fields(record);
    Store.putInt(ring.memory(), at, thread);
    Store.putLong(ring.memory(), at + 4, number);
    Store.putInt(ring.memory(), at + 12, load);
    for (int i = 0; i < load; i++) {
      Store.putByte(ring.memory(), at + 16 + i, (byte) number);
    }
    ring.commit(record, bytes, target.id());
    return true;
  }
}
