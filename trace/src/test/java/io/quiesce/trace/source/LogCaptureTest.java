package io.quiesce.trace.source;

import static io.quiesce.trace.source.Recorded.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceHandler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The handler at the root, whatever the program does to its logging. */
@Timeout(100)
class LogCaptureTest {
  private final Logger root = Logger.getLogger("");
  private final Logger logger = Logger.getLogger("io.quiesce.test.capture");

  @TempDir Path folder;

  @AfterEach
  void restore() throws IOException {
    TraceHandler.uninstall();
    LogManager.getLogManager().readConfiguration();
  }

  private static void configure(String... lines) throws IOException {
    byte[] text = String.join("\n", lines).getBytes(StandardCharsets.ISO_8859_1);
    LogManager.getLogManager().readConfiguration(new ByteArrayInputStream(text));
  }

  private long handlers() {
    return Arrays.stream(root.getHandlers()).filter(TraceHandler.class::isInstance).count();
  }

  @Test
  void itComesBackOnce() throws Exception {
    TraceHandler.install();
    TraceHandler.install();
    List<String> messages =
        Recorded.events(
                folder.resolve("trace"),
                "jul:*",
                () -> {
                  logger.info("first");
                  configure("handlers=");
                  logger.info("read");
                  LogManager.getLogManager().reset();
                  logger.info("reset");
                  configure("handlers=" + TraceHandler.class.getName());
                  logger.info("configured");
                  configure(".level=WARNING");
                  logger.info("below the level");
                  logger.warning("last");
                  TraceHandler.uninstall();
                  logger.warning("off");
                  LogManager.getLogManager().reset();
                  logger.warning("still off");
                })
            .stream()
            .map(event -> text(event, "msg"))
            .toList();
    assertThat(messages).containsExactly("first", "read", "reset", "configured", "last");
    assertThat(handlers()).isZero();
  }

  @Test
  void otherHandlersAndLevelsStay() {
    Level level = root.getLevel();
    List<Handler> before = List.of(root.getHandlers());
    TraceHandler.install();
    assertThat(root.getHandlers()).containsAll(before).hasSize(before.size() + 1);
    assertThat(root.getLevel()).isEqualTo(level);
    TraceHandler.uninstall();
    assertThat(root.getHandlers()).containsExactlyElementsOf(before);
  }

  @Test
  void levelsAreLoweredAndSetBack() throws Exception {
    Logger free = Logger.getLogger("io.quiesce.test.free");
    Logger low = Logger.getLogger("io.quiesce.test.low");
    Logger changed = Logger.getLogger("io.quiesce.test.changed");
    root.setLevel(Level.INFO);
    logger.setLevel(Level.SEVERE);
    low.setLevel(Level.FINEST);
    changed.setLevel(Level.WARNING);
    TraceHandler.install(Level.FINE);
    TraceHandler.install(Level.FINER);
    assertThat(root.getLevel()).isEqualTo(Level.FINER);
    assertThat(logger.getLevel()).isEqualTo(Level.FINER);
    assertThat(low.getLevel()).isEqualTo(Level.FINEST);
    assertThat(free.getLevel()).isNull();
    changed.setLevel(Level.CONFIG);
    TraceHandler.uninstall();
    assertThat(root.getLevel()).isEqualTo(Level.INFO);
    assertThat(logger.getLevel()).isEqualTo(Level.SEVERE);
    assertThat(changed.getLevel()).isEqualTo(Level.CONFIG);

    TraceHandler.install(Level.FINE);
    configure(".level=SEVERE");
    assertThat(root.getLevel()).isEqualTo(Level.FINE);
    TraceHandler.uninstall();
    assertThat(root.getLevel()).isEqualTo(Level.SEVERE);
  }

  @Test
  void levelsOfLoggersThatComeLater() throws Exception {
    String name = "io.quiesce.test.later";
    Path file = folder.resolve("logging.properties");
    Files.writeString(file, name + ".level=SEVERE\n.level=WARNING\n");
    System.setProperty("java.util.logging.config.file", file.toString());
    try {
      LogManager.getLogManager().readConfiguration();
      TraceHandler.install(Level.FINE);
      System.gc();
      assertThat(Logger.getLogger(name).getLevel()).isEqualTo(Level.FINE);
      TraceHandler.uninstall();
      assertThat(Logger.getLogger(name).getLevel()).isEqualTo(Level.SEVERE);
      assertThat(root.getLevel()).isEqualTo(Level.WARNING);
    } finally {
      System.clearProperty("java.util.logging.config.file");
    }
  }

  @Test
  void levelsOfTheTrace() {
    assertThat(LogCapture.level(14)).isEqualTo(Level.FINEST);
    assertThat(LogCapture.level(11)).isEqualTo(Level.FINE);
    assertThat(LogCapture.level(6)).isEqualTo(Level.INFO);
    assertThat(LogCapture.level(3)).isEqualTo(Level.SEVERE);
    assertThat(LogCapture.level(2)).isEqualTo(Level.OFF);
  }

  @Test
  void whatTheConfigurationSays() throws Exception {
    String name = TraceHandler.class.getName();
    configure("handlers=" + name, name + ".level=WARNING", name + ".caller=true");
    assertThat(root.getHandlers()).singleElement().isInstanceOf(TraceHandler.class);
    assertThat(root.getHandlers()[0].getLevel()).isEqualTo(Level.WARNING);
    var events =
        Recorded.events(
            folder.resolve("trace"),
            "jul:*",
            () -> {
              logger.info("no");
              logger.warning("yes");
            });
    assertThat(events).singleElement().satisfies(e -> assertThat(text(e, "msg")).isEqualTo("yes"));
    assertThat(text(events.getFirst(), "class_name")).startsWith(LogCaptureTest.class.getName());
  }
}
