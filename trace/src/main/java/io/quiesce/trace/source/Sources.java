package io.quiesce.trace.source;

import io.quiesce.QuiesceListener;

/** Puts the sources in place. Thread-safe. */
public final class Sources {
  /** Apart, so that it happens once. */
  private static final class Installed {
    static {
      JulEvents.load();
      LogEvents.load();
      QuiesceListener.add(new CoreEvents());
      if (isReadable("java.management") && isReadable("jdk.management")) {
        GcEvents.install();
      }
    }

    static void touch() {
      // The class is initialised now.
    }
  }

  private Sources() {}

  /**
   * Makes the tracepoints of this package, and has the core tell what it does; the first call only.
   * Without the lock of {@code Points}.
   */
  public static void install() {
    Installed.touch();
  }

  /** Whether an optional module of the JDK is there for this one. */
  public static boolean isReadable(String module) {
    return ModuleLayer.boot()
        .findModule(module)
        .filter(found -> Sources.class.getModule().canRead(found))
        .isPresent();
  }
}
