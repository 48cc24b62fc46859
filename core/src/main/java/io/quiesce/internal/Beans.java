package io.quiesce.internal;

import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.management.JMException;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * Registers objects with JMX as {@code io.quiesce:type=TYPE,name="NAME"}. To be loaded only where
 * {@link Facilities#isJmxWanted} says so. Neither this nor a bean keeps its owner alive. Safe from
 * any thread.
 */
public final class Beans {
  private static final System.Logger LOG = System.getLogger("io.quiesce");

  private static final Map<ObjectName, WeakReference<?>> OWNERS = new HashMap<>();

  private Beans() {}

  /**
   * Of two owners of one name the older has the bean, until it is closed or collected. Where the
   * process has no bean server yet, starting one takes a good part of a second: that is done
   * beside, on a thread that ends. Never throws.
   *
   * @param <T> the owner's class
   * @param type what it is
   * @param name its name
   * @param owner what the bean tells of
   * @param closed says whether it was closed meanwhile
   * @param bean makes the bean; it may keep the reference, not the owner
   */
  public static <T> void register(
      String type,
      String name,
      T owner,
      Predicate<? super T> closed,
      Function<WeakReference<T>, Object> bean) {
    WeakReference<T> reference = new WeakReference<>(owner);
    if (!MBeanServerFactory.findMBeanServer(null).isEmpty()) {
      registerNow(type, name, reference, closed, bean);
      return;
    }
    Thread.ofPlatform()
        .daemon()
        .name("quiesce-jmx")
        .start(() -> registerNow(type, name, reference, closed, bean));
  }

  private static synchronized <T> void registerNow(
      String type,
      String name,
      WeakReference<T> reference,
      Predicate<? super T> closed,
      Function<WeakReference<T>, Object> bean) {
    T owner = reference.get();
    if (owner == null || closed.test(owner)) {
      return;
    }
    try {
      ObjectName objectName = objectName(type, name);
      WeakReference<?> present = OWNERS.get(objectName);
      var server = ManagementFactory.getPlatformMBeanServer();
      if (present != null && present.get() == null) {
        OWNERS.remove(objectName);
        server.unregisterMBean(objectName);
      }
      if (!server.isRegistered(objectName)) {
        server.registerMBean(bean.apply(reference), objectName);
        OWNERS.put(objectName, reference);
      }
    } catch (JMException | RuntimeException refused) {
      LOG.log(Level.DEBUG, "{0} {1} is not in JMX: {2}", type, name, refused);
    }
  }

  /**
   * Takes the bean of an owner away, if it has one.
   *
   * @param type as registered
   * @param name as registered
   * @param owner which is being closed; null takes the bean of an owner that was collected
   */
  public static synchronized void unregister(String type, String name, @Nullable Object owner) {
    try {
      ObjectName objectName = objectName(type, name);
      WeakReference<?> present = OWNERS.get(objectName);
      if (present != null && present.get() == owner) {
        OWNERS.remove(objectName);
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(objectName);
      }
    } catch (JMException | RuntimeException gone) {
      LOG.log(Level.DEBUG, "{0} {1} was not in JMX any more: {2}", type, name, gone);
    }
  }

  private static ObjectName objectName(String type, String name) throws JMException {
    return new ObjectName("io.quiesce:type=" + type + ",name=" + ObjectName.quote(name));
  }
}
