package io.quiesce.rcu;

import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * Registers domains with JMX. Loaded only where {@code java.management} is there and {@code
 * -Dquiesce.jmx=off} is not; a bean holds its domain weakly.
 */
final class JmxBeans {
  private static final System.Logger LOG = System.getLogger("io.quiesce.rcu");

  private static final Map<ObjectName, Bean> BEANS = new HashMap<>();

  private JmxBeans() {}

  /**
   * Of two domains of one name the older has the bean, until it is closed or collected. Where the
   * process has no bean server yet, starting one takes a good part of a second: that is done
   * beside, on a thread that ends.
   */
  static void register(Rcu rcu) {
    if (!MBeanServerFactory.findMBeanServer(null).isEmpty()) {
      registerNow(rcu);
      return;
    }
    WeakReference<Rcu> later = new WeakReference<>(rcu);
    Thread.ofPlatform()
        .daemon()
        .name("quiesce-jmx")
        .start(
            () -> {
              Rcu domain = later.get();
              if (domain != null) {
                registerNow(domain);
              }
            });
  }

  private static synchronized void registerNow(Rcu rcu) {
    if (rcu.isClosed()) {
      return;
    }
    try {
      ObjectName name = name(rcu);
      Bean present = BEANS.get(name);
      var server = ManagementFactory.getPlatformMBeanServer();
      if (present != null && present.rcu().get() == null) {
        BEANS.remove(name);
        server.unregisterMBean(name);
      }
      if (!server.isRegistered(name)) {
        Bean bean = new Bean(new WeakReference<>(rcu));
        server.registerMBean(bean, name);
        BEANS.put(name, bean);
      }
    } catch (JMException | RuntimeException refused) {
      LOG.log(Level.DEBUG, "domain {0} is not in JMX: {1}", rcu.name(), refused);
    }
  }

  static synchronized void unregister(Rcu rcu) {
    try {
      ObjectName name = name(rcu);
      Bean present = BEANS.get(name);
      if (present != null && present.rcu().get() == rcu) {
        BEANS.remove(name);
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
      }
    } catch (JMException | RuntimeException gone) {
      LOG.log(Level.DEBUG, "domain {0} was not in JMX any more: {1}", rcu.name(), gone);
    }
  }

  private static ObjectName name(Rcu rcu) throws JMException {
    return new ObjectName("io.quiesce:type=Rcu,name=" + ObjectName.quote(rcu.name()));
  }

  private record Bean(WeakReference<Rcu> rcu) implements RcuMXBean {
    private @Nullable RcuStatistics statistics() {
      Rcu domain = rcu.get();
      return domain == null ? null : domain.statistics();
    }

    @Override
    public String getFlavour() {
      Rcu domain = rcu.get();
      return domain == null ? "" : domain.flavour().name();
    }

    @Override
    public long getGracePeriods() {
      RcuStatistics s = statistics();
      return s == null ? 0 : s.gracePeriods();
    }

    @Override
    public int getRegisteredReaders() {
      RcuStatistics s = statistics();
      return s == null ? 0 : s.registeredReaders();
    }

    @Override
    public long getPendingCallbacks() {
      RcuStatistics s = statistics();
      return s == null ? 0 : s.pendingCallbacks();
    }

    @Override
    public long getPendingBlocks() {
      RcuStatistics s = statistics();
      return s == null ? 0 : s.pendingBlocks();
    }

    @Override
    public long getPendingBytes() {
      RcuStatistics s = statistics();
      return s == null ? 0 : s.pendingBytes();
    }

    @Override
    public long getOldestPendingMillis() {
      RcuStatistics s = statistics();
      return s == null ? 0 : s.oldestPending().toMillis();
    }

    @Override
    public long getStalls() {
      RcuStatistics s = statistics();
      return s == null ? 0 : s.stalls();
    }
  }
}
