package io.quiesce.internal;

import jdk.jfr.FlightRecorder;

/** Whether JMX and JFR are there and wanted. Loads nothing of them where they are absent. */
public final class Facilities {
  private static final boolean MANAGEMENT = isReadable("java.management");
  private static final boolean FLIGHT_RECORDER = isReadable("jdk.jfr");

  private Facilities() {}

  /** On the class path we are in the unnamed module, which reads every module. */
  private static boolean isReadable(String module) {
    return ModuleLayer.boot()
        .findModule(module)
        .filter(found -> Facilities.class.getModule().canRead(found))
        .isPresent();
  }

  /**
   * Whether beans are to be registered.
   *
   * @return false without {@code java.management} and under {@code -Dquiesce.jmx=off}
   */
  public static boolean isJmxWanted() {
    return MANAGEMENT && !"off".equals(System.getProperty("quiesce.jmx"));
  }

  /** Apart, so that nothing of JFR is loaded where it is absent. */
  private static final class Recorder {
    static boolean isUsed() {
      return FlightRecorder.isInitialized();
    }
  }

  /**
   * Whether somebody records: the first event class starts JFR, which takes a good part of a second
   * that no operation of ours should pay. A recording that names the events before they exist gets
   * them all the same.
   *
   * @return false without {@code jdk.jfr}
   */
  public static boolean isRecording() {
    return FLIGHT_RECORDER && Recorder.isUsed();
  }
}
