package io.quiesce.rcu;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A reference that readers follow inside a section and updaters replace: the publish and
 * dereference of RCU.
 *
 * <p>{@link #get(Section)} takes the section as proof. What it returns is safe until that section
 * is closed, provided that whoever replaces the value defers its release with {@link Rcu#call},
 * {@link Rcu#retire} or {@link Rcu#synchronize}. Values that need no release (plain heap objects)
 * need no section either; use {@link #getAcquire()} or an {@code AtomicReference}.
 *
 * @param <T> the type of the value
 */
public final class RcuRef<T> {
  private static final VarHandle VALUE;

  static {
    try {
      VALUE = MethodHandles.lookup().findVarHandle(RcuRef.class, "value", Object.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final Rcu rcu;
  private T value;

  RcuRef(Rcu rcu, T initial) {
    this.rcu = rcu;
    this.value = Objects.requireNonNull(initial, "initial");
    VarHandle.releaseFence();
  }

  /**
   * The current value, protected by the section. Acquire (B.1).
   *
   * @param section an open section of the same domain
   * @return the value
   * @throws IllegalStateException if the section is closed
   * @throws IllegalArgumentException if it belongs to another domain
   */
  @SuppressWarnings("unchecked")
  public T get(Section section) {
    section.check(rcu);
    return (T) VALUE.getAcquire(this); // B.1: pairs with the release of set
  }

  /**
   * The current value, protected by an online reader until its next {@link Reader#quiescentState()}
   * or {@link Reader#offline()}: the dereference of event loops. Costs what the bare load costs.
   * Acquire (B.1).
   *
   * @param reader the calling thread's reader, online or inside a section
   * @return the value
   * @throws IllegalStateException if the reader is neither
   */
  @SuppressWarnings("unchecked")
  public T get(Reader reader) {
    reader.check();
    if (reader.rcu != rcu) {
      throw new IllegalArgumentException(
          "the reader belongs to domain " + reader.rcu.name() + ", not to " + rcu.name());
    }
    return (T) VALUE.getAcquire(this); // B.1
  }

  /**
   * The current value without protection: for values that need none, and for updaters that hold the
   * lock that keeps other updaters out. Acquire.
   *
   * @return the value
   */
  @SuppressWarnings("unchecked")
  public T getAcquire() {
    return (T) VALUE.getAcquire(this);
  }

  /**
   * Publishes a value: a reader that sees it sees everything stored before. Release (B.1). The old
   * value is the caller's to release after a grace period.
   *
   * @param next the new value
   */
  public void setRelease(T next) {
    VALUE.setRelease(this, Objects.requireNonNull(next, "next"));
  }

  /**
   * Publishes a value and returns the one it replaced, atomically against other updaters. Full
   * barrier.
   *
   * @param next the new value
   * @return the value replaced, which readers may use for another grace period
   */
  @SuppressWarnings("unchecked")
  public T getAndSet(T next) {
    return (T) VALUE.getAndSet(this, Objects.requireNonNull(next, "next"));
  }

  /**
   * Publishes {@code next} if the value is {@code expected} (by identity). Full barrier.
   *
   * @param expected the value believed to be current
   * @param next the new value
   * @return whether it was replaced
   */
  public boolean compareAndSet(T expected, T next) {
    return VALUE.compareAndSet(this, expected, Objects.requireNonNull(next, "next"));
  }

  /**
   * Replaces the value by what the function makes of it, again and again until no other updater
   * came between.
   *
   * @param update from the current value to the new one; free of side effects
   * @return the value replaced, which readers may use for another grace period
   */
  public T getAndUpdate(UnaryOperator<T> update) {
    try (Section section = rcu.read()) { // another updater may replace and release it meanwhile
      while (true) {
        T current = get(section);
        if (compareAndSet(current, update.apply(current))) {
          return current;
        }
      }
    }
  }
}
