package io.quiesce.trace.control;

import io.quiesce.trace.point.Point;
import java.io.IOException;
import java.nio.file.Path;

/** A session, to those who steer it from outside. Thread-safe. */
public interface Controlled {
  /** As its owner called it; several may have the same. */
  String name();

  /** Of the trace; absolute. */
  Path folder();

  /** Whether it keeps the newest events for snapshots. */
  boolean isFlightRecorder();

  /** Events in the files. */
  long written();

  /** Events that were lost. */
  long lost();

  /** Whether a tracepoint's events go there. */
  boolean isOn(Point point);

  /**
   * Turns tracepoints on.
   *
   * @throws IllegalArgumentException in one sentence if that makes no sense
   */
  void enable(String pattern, int level, String filter);

  /**
   * Turns tracepoints off.
   *
   * @throws IllegalArgumentException in one sentence if that makes no sense
   */
  void disable(String pattern);

  /**
   * Writes what a flight recorder holds.
   *
   * @param folderName within the trace's folder
   * @return how many events
   * @throws IOException in one sentence if it cannot be written
   */
  long snapshot(String folderName) throws IOException;
}
