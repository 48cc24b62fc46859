package io.quiesce.cli;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Handles the signals that end a program, while another program runs in the foreground.
 *
 * <p>By reflection, because the compiler warns of {@code sun.misc.Signal} and takes no suppression.
 * Where it is missing, signals do what they always do.
 */
final class Signals implements AutoCloseable {
  private static final List<String> NAMES = List.of("INT", "TERM", "HUP");

  private record Old(Object signal, Object handler) {}

  private final List<Old> old = new ArrayList<>();
  private @Nullable Method handle;

  private Signals() {}

  /** From here on each signal calls the action with its name, on a thread of its own. */
  static Signals handle(Consumer<String> action) {
    Signals signals = new Signals();
    try {
      Class<?> type = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Method handle = type.getMethod("handle", type, handlerType);
      signals.handle = handle;
      for (String name : NAMES) {
        Object signal = type.getConstructor(String.class).newInstance(name);
        Object handler =
            Proxy.newProxyInstance(
                Signals.class.getClassLoader(),
                new Class<?>[] {handlerType},
                (proxy, method, args) -> {
                  if (method.getName().equals("handle")) {
                    action.accept(name);
                  }
                  return null;
                });
        signals.old.add(new Old(signal, handle.invoke(null, signal, handler)));
      }
    } catch (ReflectiveOperationException | IllegalArgumentException _) {
      // No such class, or a signal that the JVM keeps (-Xrs): the default action stays.
    }
    return signals;
  }

  /** As before. */
  @Override
  public void close() {
    for (Old each : old) {
      try {
        if (handle != null) {
          handle.invoke(null, each.signal, each.handler);
        }
      } catch (ReflectiveOperationException _) {
        // It was possible before.
      }
    }
  }
}
