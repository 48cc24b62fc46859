package io.quiesce.trace.point;

import io.quiesce.trace.ctf.Field;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A tracepoint: what it is called, what its events hold, and where they go now.
 *
 * <p>Its hot part is one field: the first {@link Target}, null while nobody wants its events. The
 * read is opaque, so a loop sees it change, and costs what a plain one costs.
 */
public final class Point {
  private static final VarHandle HEAD;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(Point.class, "head", Target.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String provider;
  private final String name;
  private final int level;
  private final List<Field> fields;
  private final String fullName;

  @SuppressWarnings("UnusedVariable") // Read and written by its handle.
  private @Nullable Target head;

  // Under the lock of Points.
  private @Nullable Runnable watcher;

  Point(String provider, String name, int level, List<Field> fields) {
    this.provider = provider;
    this.name = name;
    this.level = level;
    this.fields = List.copyOf(fields);
    this.fullName = provider + ":" + name;
  }

  /** Where an event goes first, or null if nobody wants it. */
  public @Nullable Target target() {
    return (Target) HEAD.getOpaque(this);
  }

  /** Under the lock of {@link Points}: targets are immutable, so the list is replaced from here. */
  void setTarget(@Nullable Target first) {
    boolean changed = (first == null) != (target() == null);
    HEAD.setRelease(this, first);
    if (changed && watcher != null) {
      watcher.run();
    }
  }

  /** Under the lock of {@link Points}. */
  void setWatcher(Runnable told) {
    this.watcher = told;
  }

  /** What comes before the colon. */
  public String provider() {
    return provider;
  }

  /** What comes after it. */
  public String name() {
    return name;
  }

  /** With the colon. */
  public String fullName() {
    return fullName;
  }

  /** LTTng's scale, 0 to 14. */
  public int level() {
    return level;
  }

  /** In the order in which they are stored. */
  public List<Field> fields() {
    return fields;
  }

  @Override
  public String toString() {
    return fullName;
  }
}
