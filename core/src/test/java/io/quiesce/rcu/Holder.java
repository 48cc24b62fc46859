package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;

/** A thread that holds a section until told to leave. */
public final class Holder {
  private final CountDownLatch inside = new CountDownLatch(1);
  private final CountDownLatch leave = new CountDownLatch(1);
  final Thread thread;

  public Holder(Rcu rcu, Thread.Builder builder) throws InterruptedException {
    thread =
        builder.start(
            () -> {
              try (Section s = rcu.read()) {
                inside.countDown();
                leave.await();
                assertThat(s.isOpen()).isTrue();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    inside.await();
  }

  public void leave() throws InterruptedException {
    leave.countDown();
    thread.join();
  }
}
