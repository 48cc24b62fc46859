package io.quiesce.verify;

import io.quiesce.trace.Tracepoint;
import io.quiesce.trace.TracepointProvider;
import io.quiesce.trace.Tracepoints;
import io.quiesce.trace.reader.Event;
import io.quiesce.trace.reader.Value;
import java.lang.invoke.MethodHandles;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The events of the torture of the tracer: what an event holds follows from its producer and its
 * number, so that a reader can tell whether it is whole. Immutable.
 */
final class TraceEvents {
  static final String PATTERN = "torture:*";

  /** What a record needs of a sub-buffer beside its fields: both headers. */
  private static final int HEADERS = 32;

  private static final int LETTERS = 1 << 16;
  private static final int TEXT_REST = Integer.BYTES + Long.BYTES + 1; // and the NUL

  /** Few enough that a trace is not made of them, often enough that there are many. */
  private static final int LARGE_ONE_IN = 2_048;

  /** The tracepoints. */
  @TracepointProvider("torture")
  interface Provider {
    @Tracepoint
    void number(int producer, long number, long check);

    @Tracepoint
    void text(int producer, long number, String text);

    @Tracepoint
    void array(int producer, long number, long[] values);
  }

  private static final Provider EVENTS = Tracepoints.of(MethodHandles.lookup(), Provider.class);

  private final long seed;
  private final int subBytes;
  private final String letters;

  TraceEvents(long seed, int subBytes) {
    this.seed = seed;
    this.subBytes = subBytes;
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 2 * LETTERS; i++) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    this.letters = text.toString();
  }

  private long mix(int producer, long number) {
    long x = (number * 8 + producer + 1) * 0x9e37_79b9_7f4a_7c15L ^ seed;
    x = (x ^ x >>> 32) * 0xd6e8_feb8_6659_fd93L;
    return x ^ x >>> 29;
  }

  private static boolean isLarge(long mix) {
    return (mix >>> 32) % LARGE_ONE_IN == 0;
  }

  /** Lengths around the largest that fits, and else short ones with every remainder. */
  private int textLength(long mix) {
    return isLarge(mix)
        ? subBytes - HEADERS - TEXT_REST + (int) (mix >>> 3 & 31) - 15
        : (int) (mix >>> 3 & 127);
  }

  private String text(long mix) {
    int start = (int) (mix >>> 10) & LETTERS - 1;
    return letters.substring(start, start + textLength(mix));
  }

  private static long[] array(long mix) {
    long[] values = new long[(int) (mix >>> 3 & 15)];
    for (int i = 0; i < values.length; i++) {
      values[i] = mix + i;
    }
    return values;
  }

  /** 0 to 3 a number, 4 to 6 a text, 7 an array; what is large is a text. */
  private static int kind(long mix) {
    return isLarge(mix) ? 4 : (int) mix & 7;
  }

  /** Whether no sub-buffer has space for it. */
  boolean isTooLarge(int producer, long number) {
    long mix = mix(producer, number);
    return isLarge(mix) && textLength(mix) + TEXT_REST > subBytes - HEADERS;
  }

  void emit(int producer, long number) {
    long mix = mix(producer, number);
    switch (kind(mix)) {
      case 4, 5, 6 -> EVENTS.text(producer, number, text(mix));
      case 7 -> EVENTS.array(producer, number, array(mix));
      default -> EVENTS.number(producer, number, mix);
    }
  }

  /** Throws unless the event is as {@link #emit} made it. */
  void check(Event event) {
    int producer = (int) event.getLong("producer");
    long number = event.getLong("number");
    long mix = mix(producer, number);
    boolean good =
        switch (kind(mix)) {
          case 4, 5, 6 ->
              event.name().equals("torture:text") && event.getText("text").equals(text(mix));
          case 7 -> event.name().equals("torture:array") && isArray(event.field("values"), mix);
          default -> event.name().equals("torture:number") && event.getLong("check") == mix;
        };
    if (!good) {
      throw new TortureFailure("an event was changed: " + event);
    }
  }

  private static boolean isArray(@Nullable Value found, long mix) {
    long[] wanted = array(mix);
    if (found == null || found.size() != wanted.length) {
      return false;
    }
    for (int i = 0; i < wanted.length; i++) {
      if (found.longAt(i) != wanted[i]) {
        return false;
      }
    }
    return true;
  }
}
