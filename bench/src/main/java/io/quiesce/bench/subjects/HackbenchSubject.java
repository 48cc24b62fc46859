package io.quiesce.bench.subjects;

import io.quiesce.bench.Params;
import io.quiesce.bench.Subject;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * {@code locks.hackbench}: groups of twenty senders and twenty receivers. Each sender sends {@code
 * loops} messages to each receiver of its group, in turn; each receiver has a {@link Channel} of
 * its own. A round is one run, however long it takes: {@code seconds} from the opening of the gate
 * until the last thread has ended its work. Threads are born before and die after.
 */
public final class HackbenchSubject implements Subject {
  private static final int MEMBERS = 20;
  private static final int STACK = 256 << 10;

  private int groups;
  private int loops;
  private String lock = "";
  private ThreadFactory threads = Thread.ofPlatform().factory();

  /** For the host. */
  public HackbenchSubject() {}

  @Override
  public void setUp(Params params) {
    groups = params.get("groups", 10);
    loops = params.get("loops", 100);
    lock = params.get("lock", "");
    LockWay.of(lock, 0); // says at once if there is none
    threads =
        params.get("kind", "platform").equals("virtual")
            ? Thread.ofVirtual().name("hack-", 0).factory()
            : Thread.ofPlatform().daemon().name("hack-", 0).stackSize(STACK).factory();
  }

  /** What the threads of one run share. */
  private record Run(
      CountDownLatch ready,
      CountDownLatch gate,
      CountDownLatch done,
      AtomicReference<@Nullable Throwable> failure) {}

  /** The part of a thread in a run. */
  @FunctionalInterface
  private interface Part {
    void play() throws InterruptedException;
  }

  private void begin(Run run, Part part) {
    threads
        .newThread(
            () -> {
              run.ready.countDown();
              try {
                run.gate.await();
                part.play();
                run.done.countDown();
              } catch (Throwable t) { // an Error too: the others wait for it for ever
                run.failure.compareAndSet(null, t);
                while (run.done.getCount() > 0) {
                  run.done.countDown();
                }
              }
            })
        .start();
  }

  private void send(Channel[] receivers, int self) throws InterruptedException {
    byte[] message = new byte[Channel.BYTES];
    for (int i = 0; i < loops; i++) {
      message[0] = (byte) i;
      message[Channel.BYTES - 1] = (byte) self;
      for (Channel receiver : receivers) {
        receiver.send(message);
      }
    }
  }

  /** What comes must add up to what twenty senders send. */
  private void receive(Channel own) throws InterruptedException {
    byte[] message = new byte[Channel.BYTES];
    long rounds = 0;
    long senders = 0;
    for (int i = 0; i < loops * MEMBERS; i++) {
      own.receive(message);
      rounds += message[0] & 0xff;
      senders += message[Channel.BYTES - 1];
    }
    long wanted = 0;
    for (int i = 0; i < loops; i++) {
      wanted += i & 0xff;
    }
    if (rounds != wanted * MEMBERS || senders != (long) loops * MEMBERS * (MEMBERS - 1) / 2) {
      throw new IllegalStateException("messages were lost or spoilt");
    }
  }

  @Override
  public Map<String, Double> round(Duration time) throws Exception {
    int count = groups * MEMBERS * 2;
    Run run =
        new Run(
            new CountDownLatch(count),
            new CountDownLatch(1),
            new CountDownLatch(count),
            new AtomicReference<>());
    for (int group = 0; group < groups; group++) {
      Channel[] receivers = new Channel[MEMBERS];
      for (int i = 0; i < MEMBERS; i++) {
        Channel own = Channel.of(lock);
        receivers[i] = own;
        begin(run, () -> receive(own));
      }
      for (int i = 0; i < MEMBERS; i++) {
        int self = i;
        begin(run, () -> send(receivers, self));
      }
    }
    run.ready.await();
    long start = System.nanoTime();
    run.gate.countDown();
    run.done.await();
    double seconds = (System.nanoTime() - start) / 1e9;
    Throwable thrown = run.failure.get();
    if (thrown != null) {
      throw new IllegalStateException("a thread failed: " + thrown, thrown);
    }
    return Map.of("seconds", seconds);
  }
}
