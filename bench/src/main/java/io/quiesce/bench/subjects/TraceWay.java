package io.quiesce.bench.subjects;

import java.util.Arrays;
import java.util.Locale;

/**
 * A tracer, recorder or logger in {@code trace.event}. One process has one way and one kind of
 * event, so that the loop is compiled for that alone.
 */
abstract class TraceWay {

  /** What an event carries. */
  enum Event {
    /** Two int fields. */
    TWO_INTS,
    /** A long field and one of {@link #STRINGS}. */
    LONG_STRING,
    /** A line of {@link #TEXTS}. */
    TEXT;

    static Event of(String name) {
      return Arrays.stream(values())
          .filter(event -> event.toString().equals(name))
          .findFirst()
          .orElseThrow(
              () -> new IllegalArgumentException("no event is called '" + name + "' here"));
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** How it is set up. */
  record Setting(Event event, boolean discard, boolean disabled) {}

  private static final int STRING_COUNT = 64;

  /** Not one constant, which a compiler could fold into the store; as in bench/native. */
  private static final String[] STRINGS = strings();

  private static String[] strings() {
    String[] strings = new String[STRING_COUNT];
    for (int i = 0; i < STRING_COUNT; i++) {
      strings[i] = "bench" + (1000 + i);
    }
    return strings;
  }

  /** Nine characters. */
  static String string(int i) {
    return STRINGS[i & (STRING_COUNT - 1)];
  }

  private static final int TEXT_COUNT = 1024;

  /** Made before, so that nobody is measured at concatenating. */
  private static final String[] TEXTS = texts();

  private static String[] texts() {
    String[] texts = new String[TEXT_COUNT];
    for (int i = 0; i < TEXT_COUNT; i++) {
      texts[i] = String.format(Locale.ROOT, "request %04d took %d ms", i, 100 + i % 900);
    }
    return texts;
  }

  static String text(int i) {
    return TEXTS[i & (TEXT_COUNT - 1)];
  }

  /**
   * The field that depends on those before it, so that the loop of an event that does nothing is
   * still a loop; as in bench/native.
   */
  static long next(long sum, int i) {
    return Long.rotateLeft(sum, 5) ^ i;
  }

  /** Once, before everything else. */
  void open() throws Exception {}

  /** Records from here on, for the length of a round. Not timed. */
  void begin() throws Exception {}

  /**
   * Traces {@link Team#BATCH} events.
   *
   * @param sum the last field so far
   * @param from number of the first one
   * @return the last field
   */
  abstract long batch(long sum, int from);

  /**
   * Ends the recording of a round. Not timed.
   *
   * @param events how many were traced
   * @return how many events a reader gets back
   */
  abstract long end(long events) throws Exception;

  /** Frees what is outside of the process. */
  void close() throws Exception {}

  static IllegalArgumentException cannot(String tracer, Event event) {
    return new IllegalArgumentException(tracer + " has no event '" + event + "' here");
  }
}
