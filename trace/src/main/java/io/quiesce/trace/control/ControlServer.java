package io.quiesce.trace.control;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of this process, and the socket by which others reach them while there are any.
 *
 * <p>Off with {@code -Dquiesce.trace.control=off}; another value is the folder of the socket. When
 * no socket can be had, sessions run without one, and {@link #reason} says why. Thread-safe.
 */
public final class ControlServer {
  private static final System.Logger LOG = System.getLogger("io.quiesce.trace.control");
  private static final long PATIENCE_NANOS = 5_000_000_000L;
  private static final Map<String, Controlled> SESSIONS = new LinkedHashMap<>();
  private static @Nullable ControlLoop loop;
  private static String reason = "no session was started";

  private ControlServer() {}

  /** Makes a session known under its name, or its name and a number. The first opens the socket. */
  public static synchronized void register(Controlled session) {
    String name = session.name();
    for (int n = 2; SESSIONS.containsKey(name); n++) {
      name = session.name() + "-" + n;
    }
    SESSIONS.put(name, session);
    if (loop == null && SESSIONS.size() == 1) {
      open();
    }
  }

  /** Forgets a session. The last takes the socket away. */
  public static synchronized void unregister(Controlled session) {
    SESSIONS.values().removeIf(each -> each == session);
    if (loop != null && SESSIONS.isEmpty()) {
      loop.close();
      loop = null;
    }
  }

  /** Why there is no socket; empty if there is one. */
  public static synchronized String reason() {
    return loop == null ? reason : "";
  }

  static synchronized Map<String, Controlled> sessions() {
    return new LinkedHashMap<>(SESSIONS);
  }

  /** A session that cannot be reached is better than one that cannot start. */
  @SuppressWarnings("CatchingUnchecked") // See above.
  private static void open() {
    try {
      loop =
          ControlLoop.open(ControlFolder.socketFor(ProcessHandle.current().pid()), PATIENCE_NANOS);
    } catch (IOException | RuntimeException | LinkageError e) {
      reason = String.valueOf(e.getMessage());
      LOG.log(System.Logger.Level.DEBUG, "This process cannot be controlled: {0}", reason);
    }
  }
}
