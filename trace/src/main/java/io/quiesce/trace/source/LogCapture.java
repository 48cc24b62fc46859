package io.quiesce.trace.source;

import io.quiesce.trace.TraceHandler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A {@link TraceHandler} at the root logger that survives what the program does to its logging
 * configuration. Thread-safe. To be loaded only where {@code java.logging} is readable ({@link
 * Sources#isReadable}).
 *
 * <p>Resetting closes each handler after it has removed it: that is the sign to come back.
 */
public final class LogCapture {
  /** Of the root handler; others may be closed for good. */
  private static final class Captured extends TraceHandler {
    volatile boolean installed = true;

    /** Under locks of the log manager, so without one of this class. */
    @Override
    public void close() {
      if (installed) {
        root().addHandler(this);
        if (!installed) {
          root().removeHandler(this);
        }
      }
    }
  }

  /** What a logger had, and what it got instead. The strong reference keeps it as it is. */
  private record Lowered(@Nullable Level before, Level now) {}

  private static final Map<Logger, Lowered> LOWERED = new HashMap<>();

  /** Loggers that nobody may have asked for yet; the log manager alone would let go of them. */
  private static final Set<Logger> NAMED = new HashSet<>();

  private static final String LEVEL = ".level";
  private static final Runnable LISTENER = LogCapture::configured;
  private static volatile @Nullable Captured handler;
  private static @Nullable Level wanted;

  private LogCapture() {}

  private static Logger root() {
    return Logger.getLogger("");
  }

  /** Puts the handler in place; levels stay. */
  public static synchronized void install() {
    if (handler == null) {
      Sources.install();
      handler = new Captured();
      LogManager.getLogManager().addConfigurationListener(LISTENER);
    }
    place();
  }

  /** Puts the handler in place, and lowers levels that are above this one. */
  public static synchronized void install(Level level) {
    Objects.requireNonNull(level, "level");
    install();
    wanted = level;
    nameConfigured();
    lower();
  }

  /** The level of java.util.logging whose records one on LTTng's scale lets through. */
  public static Level level(int trace) {
    for (Level each :
        List.of(
            Level.FINEST,
            Level.FINER,
            Level.FINE,
            Level.CONFIG,
            Level.INFO,
            Level.WARNING,
            Level.SEVERE)) {
      if (JulEvents.traceLevel(each.intValue()) <= trace) {
        return each;
      }
    }
    return Level.OFF;
  }

  /**
   * Makes the loggers to which the configuration file gives a level, since one that is made later
   * would begin with it. A handler's name makes a logger that nobody uses.
   */
  private static void nameConfigured() {
    String file = System.getProperty("java.util.logging.config.file");
    if (file == null || System.getProperty("java.util.logging.config.class") != null) {
      return;
    }
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      properties.load(in);
    } catch (IOException | IllegalArgumentException _) {
      return; // the log manager has said so
    }
    for (String key : properties.stringPropertyNames()) {
      if (key.endsWith(LEVEL) && key.length() > LEVEL.length()) {
        NAMED.add(Logger.getLogger(key.substring(0, key.length() - LEVEL.length())));
      }
    }
  }

  /** Undoes it. */
  public static synchronized void uninstall() {
    Captured old = handler;
    if (old == null) {
      return;
    }
    old.installed = false;
    handler = null;
    wanted = null;
    LogManager.getLogManager().removeConfigurationListener(LISTENER);
    root().removeHandler(old);
    LOWERED.forEach(
        (logger, levels) -> {
          if (levels.now().equals(logger.getLevel())) {
            logger.setLevel(levels.before());
          }
        });
    LOWERED.clear();
    NAMED.clear();
  }

  /** The program has read its configuration anew; the levels are the new ones. */
  private static synchronized void configured() {
    if (handler != null) {
      place();
      LOWERED.clear();
      lower();
    }
  }

  /** Once, and not beside one that the configuration names. */
  private static void place() {
    Captured own = handler;
    boolean there = false;
    boolean other = false;
    for (Handler each : root().getHandlers()) {
      there |= each == own;
      other |= each != own && each instanceof TraceHandler;
    }
    if (own != null && other) {
      root().removeHandler(own);
    } else if (own != null && !there) {
      root().addHandler(own);
    }
  }

  private static void lower() {
    Level level = wanted;
    if (level == null) {
      return;
    }
    LogManager manager = LogManager.getLogManager();
    for (String name : Collections.list(manager.getLoggerNames())) {
      Logger logger = manager.getLogger(name);
      Level before = logger == null ? null : logger.getLevel();
      if (logger != null && before != null && before.intValue() > level.intValue()) {
        Lowered first = LOWERED.get(logger);
        if (first != null && first.now().equals(before)) {
          before = first.before();
        }
        LOWERED.put(logger, new Lowered(before, level));
        logger.setLevel(level);
      }
    }
  }
}
