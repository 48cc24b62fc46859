package io.quiesce.rcu;

import io.quiesce.internal.Beans;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The bean of a domain, which it holds weakly. Loaded only where {@code java.management} is there
 * and {@code -Dquiesce.jmx=off} is not.
 */
final class JmxBeans {
  private JmxBeans() {}

  static void register(Rcu rcu) {
    Beans.register("Rcu", rcu.name(), rcu, Rcu::isClosed, Bean::new);
  }

  static void unregister(Rcu rcu) {
    Beans.unregister("Rcu", rcu.name(), rcu);
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
