package io.quiesce.bench.subjects;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.async.AsyncLoggerContext;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory;
import org.apache.logging.log4j.core.config.builder.impl.BuiltConfiguration;
import org.apache.logging.log4j.core.jmx.RingBufferAdmin;
import org.jspecify.annotations.Nullable;

/**
 * Log4j 2 with all loggers asynchronous: the callers put events into the ring of its disruptor and
 * one thread writes them to a file. The ring and what happens when it is full are as by default:
 * 4,096 slots, and the caller waits.
 *
 * <p>It loses lines all the same when two threads meet at a full ring: a disruptor of version 4
 * lets a waiting producer claim its slot beforehand, so the remaining capacity is negative, which
 * Log4j takes for the end of its service, and drops the event of the other thread without a word.
 */
final class Log4jTrace extends TraceWay {
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private @Nullable Logger logger;
  private @Nullable Path file;
  private @Nullable RingBufferAdmin ring;

  Log4jTrace(Setting setting) {
    if (setting.event() != Event.TEXT || setting.disabled()) {
      throw cannot("Log4j", setting.event());
    }
  }

  @Override
  void open() throws IOException {
    System.setProperty(
        "log4j2.contextSelector", "org.apache.logging.log4j.core.async.AsyncLoggerContextSelector");
    Path log = Files.createTempFile("quiesce-bench-", ".log");
    file = log;
    ConfigurationBuilder<BuiltConfiguration> builder =
        ConfigurationBuilderFactory.newConfigurationBuilder();
    builder
        .setStatusLevel(Level.ERROR)
        .add(
            builder
                .newAppender("file", "File")
                .addAttribute("fileName", log.toString())
                .addAttribute("append", true) // so that it may be emptied between rounds
                .add(
                    builder
                        .newLayout("PatternLayout")
                        .addAttribute("pattern", "%d{ISO8601} %t %p %c %m%n")))
        .add(builder.newRootLogger(Level.INFO).add(builder.newAppenderRef("file")));
    Configurator.initialize(builder.build());
    if (!(LogManager.getContext(false) instanceof AsyncLoggerContext context)) {
      throw new IllegalStateException("Log4j was started before, with loggers that do not queue");
    }
    ring = context.createRingBufferAdmin();
    logger = LogManager.getLogger("quiesce.bench.text");
  }

  private static <T> T opened(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("not opened");
    }
    return value;
  }

  @Override
  void begin() throws IOException {
    try (FileChannel channel = FileChannel.open(opened(file), StandardOpenOption.WRITE)) {
      channel.truncate(0);
    }
  }

  @Override
  long batch(long sum, int from) {
    Logger own = opened(logger);
    for (int i = from; i < from + Team.BATCH; i++) {
      own.info(text(i));
    }
    return sum + from;
  }

  /** Waits until the other thread has nothing left to write. */
  @Override
  long end(long events) throws IOException, InterruptedException {
    RingBufferAdmin queue = opened(ring);
    Path log = opened(file);
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (queue.getRemainingCapacity() < queue.getBufferSize() && System.nanoTime() < until) {
      Thread.sleep(1);
    }
    long size = -1;
    for (long now = Files.size(log); now != size; now = Files.size(log)) {
      size = now;
      Thread.sleep(10); // its last batch may be in the writer's hands
    }
    return lines(log);
  }

  private static long lines(Path log) throws IOException {
    long found = 0;
    byte[] block = new byte[1 << 16];
    try (InputStream in = Files.newInputStream(log)) {
      for (int length = in.read(block); length >= 0; length = in.read(block)) {
        for (int i = 0; i < length; i++) {
          if (block[i] == '\n') {
            found++;
          }
        }
      }
    }
    return found;
  }

  @Override
  void close() throws IOException {
    LogManager.shutdown();
    if (file != null) {
      Files.deleteIfExists(file);
    }
  }
}
