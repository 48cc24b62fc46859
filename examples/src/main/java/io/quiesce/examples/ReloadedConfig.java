package io.quiesce.examples;

import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.Section;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Publishes a new version of something, then lets go of the old one in the three ways there are:
 * wait, defer, or ask later.
 *
 * <pre>
 * open after synchronize: 1
 * open after barrier: 1
 * open after the polled grace period: 1
 * </pre>
 */
public final class ReloadedConfig {
  private static final AtomicLong OPEN = new AtomicLong();

  private ReloadedConfig() {}

  /** Stands for something whose close must not happen under a reader. */
  private static final class Config implements AutoCloseable {
    private final String target;

    Config(String target) {
      this.target = target;
      OPEN.incrementAndGet();
    }

    @Override
    public void close() {
      OPEN.decrementAndGet();
    }
  }

  /**
   * Runs it.
   *
   * @param args none
   * @throws Exception if interrupted
   */
  public static void main(String[] args) throws Exception {
    try (Rcu rcu = Rcu.create("config")) {
      RcuRef<Config> config = rcu.ref(new Config("a"));
      try (Section section = rcu.read()) {
        check(config.get(section).target.equals("a"));
      }

      // Wait: simple, but the caller stands still for a grace period.
      Config old = config.getAndSet(new Config("b"));
      rcu.synchronize();
      old.close();
      System.out.println("open after synchronize: " + OPEN.get());
      check(OPEN.get() == 1);

      // Defer: the caller goes on at once; a worker closes it.
      rcu.call(config.getAndSet(new Config("c"))::close);
      rcu.barrier(); // only to show that it has happened
      System.out.println("open after barrier: " + OPEN.get());
      check(OPEN.get() == 1);

      // Ask later: for a loop that has other things to do meanwhile.
      Config last = config.getAndSet(new Config("d"));
      long cookie = rcu.startGracePeriod();
      while (!rcu.isElapsed(cookie)) {
        Thread.sleep(1);
      }
      last.close();
      System.out.println("open after the polled grace period: " + OPEN.get());
      check(OPEN.get() == 1);
    }
  }

  private static void check(boolean right) {
    if (!right) {
      throw new IllegalStateException("a version was closed too early or not at all");
    }
  }
}
