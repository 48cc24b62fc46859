package io.quiesce.trace.source;

import static io.quiesce.trace.source.Recorded.number;
import static io.quiesce.trace.source.Recorded.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceHandler;
import io.quiesce.trace.TraceSession;
import io.quiesce.trace.ctf.Babeltrace;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ListResourceBundle;
import java.util.ResourceBundle;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Log records through {@link TraceHandler}, as babeltrace2 reads them. */
@Timeout(100)
class JulTest {
  private static final String JUL = "jul:*";

  private final Logger logger = Logger.getLogger("io.quiesce.test.jul");
  private final TraceHandler handler = new TraceHandler();

  @TempDir Path folder;

  /** Without a file, so that it needs no opening of the test's package. */
  private static final class Words extends ListResourceBundle {
    @Override
    protected Object[][] getContents() {
      return new Object[][] {{"greeting", "Grüß Gott, {0}"}, {"number", 7}};
    }
  }

  @BeforeEach
  void attach() {
    logger.setUseParentHandlers(false);
    logger.setLevel(Level.ALL);
    logger.addHandler(handler);
  }

  @AfterEach
  void detach() {
    logger.removeHandler(handler);
  }

  private List<String> messages(Recorded.Body body) throws Exception {
    return Recorded.events(folder.resolve("trace"), JUL, body).stream()
        .map(event -> text(event, "msg"))
        .toList();
  }

  @Test
  void everyLevelIsAnEventOfItsOwn() throws Exception {
    List<Level> levels =
        List.of(
            Level.SEVERE,
            Level.WARNING,
            Level.INFO,
            Level.CONFIG,
            Level.FINE,
            Level.FINER,
            Level.FINEST);
    long before = System.currentTimeMillis();
    List<Babeltrace.Event> events =
        Recorded.events(
            folder.resolve("trace"), JUL, () -> levels.forEach(l -> logger.log(l, "at " + l)));
    assertThat(events).hasSameSizeAs(levels);
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < events.size(); i++) {
      Babeltrace.Event event = events.get(i);
      Level level = levels.get(i);
      assertThat(event.name())
          .isEqualTo("jul:" + level.getName().toLowerCase(java.util.Locale.ROOT));
      assertThat(text(event, "msg")).isEqualTo("at " + level);
      assertThat(text(event, "logger_name")).isEqualTo(logger.getName());
      assertThat(text(event, "class_name")).isEmpty();
      assertThat(text(event, "method_name")).isEmpty();
      assertThat(text(event, "thrown")).isEmpty();
      assertThat(number(event, "int_loglevel")).isEqualTo(level.intValue());
      assertThat(number(event, "int_threadid")).isEqualTo(Thread.currentThread().threadId());
      assertThat(number(event, "long_millis")).isBetween(before, System.currentTimeMillis());
      numbers.add(event.level());
    }
    assertThat(numbers).containsExactly(3, 4, 6, 7, 10, 12, 14);
  }

  @Test
  void aRuleOfALevelTurnsTheRestOff() throws Exception {
    List<Babeltrace.Event> events =
        Recorded.events(
            folder.resolve("trace"),
            JUL,
            4,
            () -> {
              logger.info("no");
              assertThat(handler.isLoggable(new LogRecord(Level.INFO, "x"))).isFalse();
              logger.warning("yes");
              logger.log(new Custom("LOUD", 950), "loud");
              handler.setLevel(Level.SEVERE);
              logger.warning("no");
            });
    assertThat(events).extracting(event -> text(event, "msg")).containsExactly("yes", "loud");
    assertThat(number(events.getLast(), "int_loglevel")).isEqualTo(950);
    assertThat(handler.isLoggable(new LogRecord(Level.SEVERE, "x"))).isFalse();
  }

  private static final class Custom extends Level {
    private static final long serialVersionUID = 1;

    Custom(String name, int value) {
      super(name, value);
    }
  }

  @Test
  void textsAreThoseOfTheFormatter() throws Exception {
    ResourceBundle words = new Words();
    List<LogRecord> records =
        Stream.of(
                record("plain", null),
                record("{0} and {1}", null, "a", 1_000_000),
                record("{0} without parameters", null),
                record("no place", null, "x"),
                record("only a {brace", null, "x"),
                record("last {", null, "x"),
                record("bad {0,frac}", null, "x"),
                record("'{0}' it's {0}", null, "quoted"),
                record("late {4}", null, 0, 1, 2, 3, "four"),
                record("nothing {0}", null, (@Nullable Object) null),
                record("throws {0}", null, new Thrower()),
                record("greeting", words, "Jürg"),
                record("unknown {0}", words, "€"),
                record("\u0142\u6f22\ud83d\ude00 text", null))
            .toList();
    SimpleFormatter formatter = new SimpleFormatter();
    List<String> expected = records.stream().map(formatter::formatMessage).toList();
    assertThat(messages(() -> records.forEach(logger::log))).isEqualTo(expected);
    assertThat(expected).contains("a and 1,000,000", "Grüß Gott, Jürg", "late four");
  }

  private static LogRecord record(
      @Nullable String message, @Nullable ResourceBundle bundle, @Nullable Object... parameters) {
    LogRecord record = new LogRecord(Level.INFO, message);
    record.setParameters(parameters);
    record.setResourceBundle(bundle);
    return record;
  }

  private static final class Thrower {
    @Override
    public String toString() {
      throw new IllegalStateException("not to be shown");
    }
  }

  @Test
  void nullsAndAnonymousLoggers() throws Exception {
    Logger anonymous = Logger.getAnonymousLogger();
    anonymous.setUseParentHandlers(false);
    anonymous.addHandler(handler);
    List<Babeltrace.Event> events =
        Recorded.events(
            folder.resolve("trace"),
            JUL,
            () -> {
              handler.publish(null);
              logger.log(Level.INFO, (String) null);
              logger.log(record(null, new Words(), "x"));
              anonymous.info("anonymous");
            });
    assertThat(events)
        .extracting(event -> text(event, "msg"))
        .containsExactly("null", "null", "anonymous");
    assertThat(text(events.getLast(), "logger_name")).isEmpty();
  }

  @Test
  void exceptions() throws Exception {
    Exception thrown = new IllegalStateException("outer ü", new Exception("inner"));
    List<Babeltrace.Event> events =
        Recorded.events(
            folder.resolve("trace"),
            JUL,
            () -> {
              logger.log(Level.SEVERE, "failed", thrown);
              logger.log(Level.SEVERE, "cannot be shown", new Unprintable());
            });
    assertThat(text(events.getFirst(), "thrown"))
        .startsWith("java.lang.IllegalStateException: outer ü")
        .contains(JulTest.class.getName() + ".exceptions(JulTest.java:")
        .contains("Caused by: java.lang.Exception: inner");
    assertThat(text(events.getLast(), "thrown")).contains(Unprintable.class.getName());
  }

  private static final class Unprintable extends Exception {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  void whatIsTooLongForASubBufferIsCut() throws Exception {
    Babeltrace.assumeInstalled();
    Path trace = folder.resolve("trace");
    String end = "end";
    String most = "x".repeat(9_000);
    String wide = "\u00e9\u20ac\ud83d\ude00".repeat(2_000);
    try (TraceSession session =
        TraceSession.record(trace).enable(JUL).subBuffers(4, 4096).start()) {
      logger.info(most);
      logger.info(wide);
      logger.log(Level.INFO, end, new Exception(most));
      assertThat(session.counts().lost()).isZero();
    }
    List<Babeltrace.Event> events = Babeltrace.read(trace).events();
    assertThat(text(events.getFirst(), "msg")).hasSizeBetween(3800, 4096).matches("x+");
    assertThat(wide).startsWith(text(events.get(1), "msg").substring(0, 1000));
    assertThat(text(events.get(1), "msg")).hasSizeGreaterThan(1200);
    assertThat(text(events.getLast(), "msg")).isEqualTo(end);
    assertThat(text(events.getLast(), "thrown")).startsWith("java.lang.Exception: xxx");
  }

  @Test
  void callersAreFoundWhenAskedFor() throws Exception {
    handler.setCallerLookup(true);
    List<Babeltrace.Event> events =
        Recorded.events(
            folder.resolve("trace"),
            JUL,
            () -> {
              logger.info("found");
              logger.logp(Level.INFO, "A", "b", "given");
              logger.logp(Level.INFO, null, null, "missing");
            });
    assertThat(text(events.getFirst(), "class_name")).startsWith(JulTest.class.getName());
    assertThat(text(events.getFirst(), "method_name")).contains("callersAreFoundWhenAskedFor");
    assertThat(text(events.get(1), "class_name") + text(events.get(1), "method_name"))
        .isEqualTo("Ab");
    assertThat(text(events.getLast(), "class_name")).isEmpty();
  }

  @Test
  void systemLoggersComeThroughTheHandler() throws Exception {
    System.Logger system = System.getLogger(logger.getName());
    List<Babeltrace.Event> events =
        Recorded.events(
            folder.resolve("trace"),
            JUL,
            () -> {
              system.log(System.Logger.Level.WARNING, "number {0}", 5);
              system.log(System.Logger.Level.TRACE, () -> "supplied");
              system.log(System.Logger.Level.ERROR, "thrown", new Exception("why"));
            });
    assertThat(events)
        .extracting(Babeltrace.Event::name)
        .containsExactly("jul:warning", "jul:finer", "jul:severe");
    assertThat(events)
        .extracting(event -> text(event, "msg"))
        .containsExactly("number 5", "supplied", "thrown");
    assertThat(text(events.getLast(), "thrown")).startsWith("java.lang.Exception: why");
    assertThat(text(events.getFirst(), "logger_name")).isEqualTo(logger.getName());
  }

  /** Logs again while it is shown. */
  private final class Talkative {
    @Override
    public String toString() {
      logger.info("inner of a parameter");
      return "talk";
    }
  }

  @Test
  void parametersAndFiltersMayLogThemselves() throws Exception {
    Filter talking =
        record -> {
          if (record.getMessage().startsWith("outer")) {
            logger.info("inner of a filter");
          }
          return true;
        };
    handler.setFilter(talking);
    assertThat(
            messages(
                () -> {
                  Thread other =
                      Thread.ofPlatform()
                          .start(() -> logger.log(Level.INFO, "outer {0}", new Talkative()));
                  other.join();
                }))
        .containsExactly("inner of a filter", "inner of a parameter", "outer talk");
  }

  /** The consumer logs that it cannot write; the ring that it should empty is full. */
  @Test
  void aConsumerThatLogsIntoItsOwnFullRingGoesOn() throws Exception {
    Path trace = folder.resolve("trace");
    Logger own = Logger.getLogger("io.quiesce.trace");
    own.setUseParentHandlers(false);
    List<String> logged = new ArrayList<>();
    Filter noting =
        record -> {
          synchronized (logged) {
            logged.add(record.getMessage());
          }
          for (int i = 0; i < 5_000; i++) {
            logger.info("from the consumer " + i);
          }
          return true;
        };
    TraceHandler inner = new TraceHandler();
    inner.setFilter(noting);
    own.addHandler(inner);
    try (TraceSession session =
        TraceSession.record(trace).enable(JUL).subBuffers(4, 4096).start()) {
      Path away = folder.resolve("away");
      Files.move(trace, away);
      Files.createFile(trace); // in the place of the folder, so that no stream can be made
      while (session.counts().failures() == 0 || session.counts().lost() == 0) {
        logger.info("x");
        Thread.sleep(1); // which the test's time limit ends
      }
      while (true) {
        synchronized (logged) {
          if (!logged.isEmpty()) {
            break;
          }
        }
        Thread.sleep(1);
      }
      Files.delete(trace);
      Files.move(away, trace);
      long lost = session.counts().lost();
      assertThat(lost).isPositive();
      while (session.counts().written() == 0) {
        Thread.sleep(1);
      }
    } finally {
      own.removeHandler(inner);
      own.setUseParentHandlers(true);
    }
  }

  @Test
  void anEventAllocatesNothing() throws Exception {
    Path trace = folder.resolve("trace");
    var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    LogRecord record = record("a message", null);
    record.setLoggerName("a.logger");
    int events = 20_000;
    try (TraceSession session =
        TraceSession.flightRecorder(trace).enable(JUL).subBuffers(4, 1 << 16).start()) {
      long least = Long.MAX_VALUE;
      long end = System.nanoTime() + 30_000_000_000L; // until it is compiled
      while (least / events >= 8 && System.nanoTime() < end) {
        long before = bean.getCurrentThreadAllocatedBytes();
        publish(record, events);
        least = Math.min(least, bean.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(least / events).isLessThan(8);
      assertThat(session.counts().lost()).isZero();
    }
  }

  private void publish(LogRecord record, int times) {
    for (int i = 0; i < times; i++) {
      handler.publish(record);
    }
  }
}
