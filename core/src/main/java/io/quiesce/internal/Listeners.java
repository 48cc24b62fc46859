package io.quiesce.internal;

import io.quiesce.QuiesceListener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The listeners of the process. Thread-safe; an array that is replaced, so that those who tell take
 * no lock.
 */
public final class Listeners {
  private static final QuiesceListener[] NOBODY = {};

  private static volatile QuiesceListener[] all = NOBODY;

  private Listeners() {}

  /** Adds one, once. */
  public static synchronized void add(QuiesceListener listener) {
    List<QuiesceListener> now = new ArrayList<>(List.of(all));
    if (!now.contains(listener)) {
      now.add(listener);
      all = now.toArray(NOBODY);
    }
  }

  /** Takes one away. */
  public static synchronized void remove(QuiesceListener listener) {
    List<QuiesceListener> now = new ArrayList<>(List.of(all));
    if (now.remove(listener)) {
      all = now.isEmpty() ? NOBODY : now.toArray(NOBODY);
    }
  }

  /**
   * Whether there are any; look before making what they are told.
   *
   * @return false if telling would reach nobody
   */
  public static boolean isAnybody() {
    return all.length != 0;
  }

  /**
   * Whether waits for locks are to be measured. Never throws.
   *
   * @return true if a listener wants them
   */
  public static boolean wantLockWaits() {
    for (QuiesceListener listener : all) {
      if (asks(listener)) {
        return true;
      }
    }
    return false;
  }

  private static boolean asks(QuiesceListener listener) {
    try {
      return listener.wantsLockWaits();
    } catch (Throwable _) {
      return false; // as with tell
    }
  }

  /**
   * Tells all of them. Never throws: whoever tells is in the middle of something, and often has a
   * lock.
   *
   * @param what to call on each
   */
  public static void tell(Consumer<QuiesceListener> what) {
    for (QuiesceListener listener : all) {
      @Nullable Throwable _ = failureOf(what, listener);
    }
  }

  private static @Nullable Throwable failureOf(
      Consumer<QuiesceListener> what, QuiesceListener listener) {
    try {
      what.accept(listener);
      return null;
    } catch (Throwable failure) {
      return failure;
    }
  }
}
