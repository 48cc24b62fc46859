package io.quiesce.bench.subjects;

import io.quiesce.bench.Subject;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * LTTng's handler for {@code java.util.logging}, of the distribution's packages. Its daemon enables
 * the logger; without that the handler drops every record.
 */
final class LttngJulTrace extends TraceWay {
  private static final String LOGGER = "quiesce.bench.text";
  private static final String HANDLER = "org.lttng.ust.agent.jul.LttngLogHandler";
  private static final String LIBRARY = "lttng-ust-jul-jni";

  /** Where Debian, Fedora and a build from source put them. */
  private static final List<Path> JARS =
      List.of(
          Path.of("/usr/share/java"),
          Path.of("/usr/share/java/lttng-ust-agent"),
          Path.of("/usr/local/share/java"));

  private static final List<Path> LIBRARIES =
      List.of(
          Path.of("/usr/lib/x86_64-linux-gnu/jni"),
          Path.of("/usr/lib/aarch64-linux-gnu/jni"),
          Path.of("/usr/lib/jni"),
          Path.of("/usr/lib64"),
          Path.of("/usr/lib"),
          Path.of("/usr/local/lib"));

  private final LttngScript script;
  private final Logger logger = Logger.getLogger(LOGGER);
  private @Nullable Handler handler;

  LttngJulTrace(Setting setting) {
    if (setting.event() != Event.TEXT || setting.disabled()) {
      throw cannot("LTTng's handler", setting.event());
    }
    script = LttngScript.of("jul:" + LOGGER, setting.discard());
  }

  @Override
  void open() throws Exception {
    Handler opened = load(JARS, LIBRARIES);
    logger.setUseParentHandlers(false);
    logger.setLevel(Level.ALL);
    logger.addHandler(opened);
    handler = opened;
  }

  /** Registers with the daemon, and waits until that has answered. */
  static Handler load(List<Path> jars, List<Path> libraries) throws Exception {
    URL[] path = {
      found(jars, "lttng-ust-agent-jul.jar", "liblttng-ust-agent-java"),
      found(jars, "lttng-ust-agent-common.jar", "liblttng-ust-agent-java")
    };
    Path library = file(libraries, System.mapLibraryName(LIBRARY));
    if (library == null) {
      throw missing("liblttng-ust-agent-java-jni");
    }
    Loader loader = new Loader(path, library.getParent());
    try {
      return (Handler) loader.loadClass(HANDLER).getConstructor().newInstance();
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("LTTng's handler cannot be made: " + e.getCause(), e);
    }
  }

  private static URL found(List<Path> folders, String name, String libraryPackage)
      throws MalformedURLException {
    Path file = file(folders, name);
    if (file == null) {
      throw missing(libraryPackage);
    }
    return file.toUri().toURL();
  }

  private static @Nullable Path file(List<Path> folders, String name) {
    return folders.stream()
        .map(folder -> folder.resolve(name))
        .filter(Files::isReadable)
        .findFirst()
        .orElse(null);
  }

  private static Subject.UnavailableException missing(String debianPackage) {
    return new Subject.UnavailableException("Not on this machine: install " + debianPackage + ".");
  }

  /** Finds the native half where the JVM does not look for it. */
  private static final class Loader extends URLClassLoader {
    private final @Nullable Path folder;

    Loader(URL[] path, @Nullable Path folder) {
      super(path, ClassLoader.getPlatformClassLoader());
      this.folder = folder;
    }

    @Override
    protected @Nullable String findLibrary(String name) {
      return folder == null ? null : folder.resolve(System.mapLibraryName(name)).toString();
    }
  }

  @Override
  void begin() throws Exception {
    script.begin();
  }

  @Override
  long batch(long sum, int from) {
    Logger own = logger;
    for (int i = from; i < from + Team.BATCH; i++) {
      own.info(text(i));
    }
    return sum + from;
  }

  @Override
  long end(long events) throws Exception {
    return script.end();
  }

  @Override
  void close() {
    Handler opened = handler;
    if (opened != null) {
      opened.close();
    }
  }
}
