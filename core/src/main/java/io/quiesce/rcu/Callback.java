package io.quiesce.rcu;

import io.quiesce.percpu.WaitFreeQueue;

/**
 * Deferred work that carries its own queue link, so that {@link Rcu#call(Callback)} allocates
 * nothing: extend it where {@code struct rcu_head} would be embedded in C. An object may be queued
 * again once its {@link #run()} has begun, and not before.
 */
public abstract class Callback extends WaitFreeQueue.Node implements Runnable {
  /** For subclasses. */
  protected Callback() {}

  /** The {@link Runnable} form: the link allocated beside it. */
  static final class Wrapper extends Callback {
    private final Runnable work;

    Wrapper(Runnable work) {
      this.work = work;
    }

    @Override
    public void run() {
      work.run();
    }
  }
}
