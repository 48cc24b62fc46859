package io.quiesce.bench.subjects;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * JDK Flight Recorder: instant events without stack traces. Overwriting, the recording stays in
 * memory, whose oldest buffers go; discarding, it goes to disk. A recording for each round.
 */
abstract class JfrTrace extends TraceWay {
  private final Setting setting;
  private final Class<? extends jdk.jfr.Event> type;
  private final String name;
  private @Nullable Recording recording;

  private JfrTrace(Setting setting, Class<? extends jdk.jfr.Event> type, String name) {
    this.setting = setting;
    this.type = type;
    this.name = name;
  }

  static JfrTrace of(Setting setting) {
    return switch (setting.event()) {
      case TWO_INTS -> new TwoInts(setting);
      case LONG_STRING -> new LongString(setting);
      case TEXT -> throw cannot("JFR", setting.event());
    };
  }

  @Override
  void begin() {
    Recording fresh = new Recording(); // of this event alone
    fresh.setToDisk(setting.discard());
    fresh.enable(type).withoutStackTrace();
    fresh.start();
    recording = fresh;
  }

  @Override
  long end(long events) throws IOException {
    Recording full = recording;
    if (full == null) {
      throw new IllegalStateException("nothing was recorded");
    }
    recording = null;
    Path file = Files.createTempFile("quiesce-bench-", ".jfr");
    try (full) {
      full.dump(file); // what stopped in memory is gone
      full.stop();
      return count(file);
    } finally {
      Files.delete(file);
    }
  }

  private long count(Path file) throws IOException {
    long found = 0;
    try (RecordingFile reader = new RecordingFile(file)) {
      while (reader.hasMoreEvents()) {
        if (reader.readEvent().getEventType().getName().equals(name)) {
          found++;
        }
      }
    }
    return found;
  }

  private static final class TwoInts extends JfrTrace {
    private static final String NAME = "io.quiesce.bench.TwoInts";

    @Name(NAME)
    @StackTrace(false)
    @SuppressWarnings("UnusedVariable") // JFR reads the fields.
    private static final class TwoIntsEvent extends jdk.jfr.Event {
      int a;
      int b;
    }

    TwoInts(Setting setting) {
      super(setting, TwoIntsEvent.class, NAME);
    }

    @Override
    long batch(long sum, int from) {
      long last = sum;
      for (int i = from; i < from + Team.BATCH; i++) {
        last = next(last, i);
        TwoIntsEvent event = new TwoIntsEvent();
        event.a = i;
        event.b = (int) last;
        event.commit();
      }
      return last;
    }
  }

  private static final class LongString extends JfrTrace {
    private static final String NAME = "io.quiesce.bench.LongString";

    @Name(NAME)
    @StackTrace(false)
    @SuppressWarnings("UnusedVariable") // JFR reads the fields.
    private static final class LongStringEvent extends jdk.jfr.Event {
      long a;
      String text = "";
    }

    LongString(Setting setting) {
      super(setting, LongStringEvent.class, NAME);
    }

    @Override
    long batch(long sum, int from) {
      long last = sum;
      for (int i = from; i < from + Team.BATCH; i++) {
        last = next(last, i);
        LongStringEvent event = new LongStringEvent();
        event.a = last;
        event.text = string(i);
        event.commit();
      }
      return last;
    }
  }
}
