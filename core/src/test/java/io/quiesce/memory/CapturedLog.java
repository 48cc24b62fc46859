package io.quiesce.memory;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What the library logs meanwhile, kept from the console. By reflection, since the module under
 * test does not read {@code java.logging}: a filter that hears all and lets nothing through.
 */
final class CapturedLog implements AutoCloseable {
  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Object logger;
  private final Method setFilter;

  CapturedLog() {
    try {
      Class<?> loggers = Class.forName("java.util.logging.Logger");
      Class<?> filters = Class.forName("java.util.logging.Filter");
      Method message = Class.forName("java.util.logging.LogRecord").getMethod("getMessage");
      logger = loggers.getMethod("getLogger", String.class).invoke(null, "io.quiesce");
      setFilter = loggers.getMethod("setFilter", filters);
      Object filter =
          Proxy.newProxyInstance(
              CapturedLog.class.getClassLoader(),
              new Class<?>[] {filters},
              (proxy, method, arguments) -> {
                messages.add((String) message.invoke(arguments[0]));
                return false;
              });
      setFilter.invoke(logger, filter);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("java.logging", e);
    }
  }

  String text() {
    return String.join("\n", messages);
  }

  int size() {
    return messages.size();
  }

  @Override
  public void close() {
    try {
      setFilter.invoke(logger, (Object) null);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("java.logging", e);
    }
  }
}
