package io.quiesce.trace;

import io.quiesce.trace.control.Controlled;
import io.quiesce.trace.point.Point;
import io.quiesce.trace.point.Points;
import java.io.IOException;
import java.nio.file.Path;

/** What others may ask of a session while it runs. */
record SessionControl(TraceSession session, String name, boolean isFlightRecorder)
    implements Controlled {
  @Override
  public Path folder() {
    return session.folder().toAbsolutePath();
  }

  @Override
  public long written() {
    return session.counts().written();
  }

  @Override
  public long lost() {
    return session.counts().lost();
  }

  @Override
  public boolean isOn(Point point) {
    return Points.isAttached(point, session);
  }

  @Override
  public void enable(String pattern, int level, String filter) {
    session.enable(pattern, level, filter);
  }

  @Override
  public void disable(String pattern) {
    session.disable(pattern);
  }

  @Override
  public long snapshot(String folderName) throws IOException {
    return session.snapshot(folder().resolve(folderName));
  }
}
