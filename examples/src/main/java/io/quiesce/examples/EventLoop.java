package io.quiesce.examples;

import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.RcuRef;
import io.quiesce.rcu.Reader;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An event loop that reads a routing table for every message. It is online, so a read costs what
 * the load costs; it announces a quiescent state after each message and goes offline before it
 * blocks, so that it never holds up an updater.
 *
 * <pre>
 * handled 10000 messages, 99 tables replaced, 99 released
 * </pre>
 */
public final class EventLoop {
  private static final int MESSAGES = 10_000;

  private EventLoop() {}

  /** A released table is poisoned, so that a reader that was let down would notice. */
  private static final class Routes {
    private final long[] next;

    Routes(long... next) {
      this.next = next;
    }
  }

  /**
   * Runs it.
   *
   * @param args none
   * @throws Exception if interrupted
   */
  public static void main(String[] args) throws Exception {
    Rcu rcu = Rcu.builder("loop").flavour(Rcu.Flavour.QSBR).build();
    RcuRef<Routes> routes = rcu.ref(new Routes(1, 2, 3, 4));
    BlockingQueue<Integer> inbox = new ArrayBlockingQueue<>(256);
    AtomicLong released = new AtomicLong();
    long[] handled = new long[1];

    Thread loop =
        Thread.ofPlatform()
            .start(
                () -> {
                  Reader reader = rcu.reader();
                  reader.online();
                  try {
                    while (handled[0] < MESSAGES) {
                      Integer message = inbox.poll();
                      if (message == null) {
                        reader.offline(); // about to block: hold up nobody
                        message = inbox.take();
                        reader.online();
                      }
                      if (routes.get(reader).next[message & 3] < 0) {
                        throw new IllegalStateException("read a released table");
                      }
                      handled[0]++;
                      reader.quiescentState(); // nothing read for this message is used any more
                    }
                  } catch (InterruptedException stop) {
                    Thread.currentThread().interrupt();
                  } finally {
                    reader.offline();
                  }
                });

    int replaced = 0;
    for (int i = 0; i < MESSAGES; i++) {
      inbox.put(i);
      if (i % 100 == 99 && i < MESSAGES - 1) {
        Routes old = routes.getAndSet(new Routes(i, i, i, i));
        replaced++;
        rcu.call(
            () -> {
              java.util.Arrays.fill(old.next, -1);
              released.incrementAndGet();
            });
      }
    }
    loop.join();
    rcu.close();
    System.out.printf(
        "handled %d messages, %d tables replaced, %d released%n",
        handled[0], replaced, released.get());
    if (handled[0] != MESSAGES || released.get() != replaced) {
      throw new IllegalStateException("the loop ended early or a table was not released");
    }
  }
}
