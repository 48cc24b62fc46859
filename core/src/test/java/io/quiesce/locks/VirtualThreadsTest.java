package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.ChildJvm;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A holder that sleeps in its section needs a carrier to wake up: waiters that spin or yield would
 * keep them all. In JVMs of their own, with one carrier or two, and without what may be absent.
 */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class VirtualThreadsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "-Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1",
        "-Djdk.virtualThreadScheduler.parallelism=2 -Djdk.virtualThreadScheduler.maxPoolSize=2",
        "-Djdk.virtualThreadScheduler.parallelism=1 -Dquiesce.membarrier=off",
        "-Djdk.virtualThreadScheduler.parallelism=2 --illegal-native-access=deny",
      })
  void aHolderThatSleepsIsNotStarvedOfCarriers(String flags) {
    assumeTrue(System.getProperty("basedir") != null);
    List<String> all = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1", "-Xmx128m"));
    if (!flags.contains("deny")) {
      all.add("--enable-native-access=ALL-UNNAMED");
    }
    all.addAll(List.of(flags.split(" ")));
    ChildJvm.Result child = ChildJvm.run(Sleepers.class, Map.of(), all.toArray(String[]::new));
    assertThat(child.out()).as(child.err()).contains("all have had it");
    assertThat(child.exit()).as(child.out() + child.err()).isZero();
  }

  /** Many virtual threads, each of which sleeps in its section, for every lock. */
  static final class Sleepers {
    private static final int THREADS = 60;

    private Sleepers() {}

    public static void main(String[] arguments) throws InterruptedException {
      for (Kind kind : Kind.values()) {
        ExclusiveLock lock = kind.create();
        Condition turn = lock.newCondition();
        AtomicInteger sections = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          int number = i;
          threads.add(
              Thread.ofVirtual()
                  .start(
                      () -> {
                        try {
                          if (number % 4 == 0) {
                            if (!lock.tryLock(50, TimeUnit.SECONDS)) {
                              return; // and is missed below
                            }
                          } else {
                            lock.lock();
                          }
                          Thread.sleep(1);
                          if (number % 4 == 1) {
                            turn.awaitNanos(100_000);
                          }
                          sections.incrementAndGet();
                          turn.signal();
                          lock.unlock();
                        } catch (InterruptedException impossible) {
                          throw new IllegalStateException(impossible);
                        }
                      }));
        }
        for (Thread thread : threads) {
          if (!thread.join(java.time.Duration.ofSeconds(20))) {
            System.out.println(kind + ": " + lock + " hangs after " + sections);
            System.exit(1);
          }
        }
        if (sections.get() != THREADS || lock.isLocked()) {
          System.out.println(kind + ": " + sections + " of " + THREADS + ", " + lock);
          System.exit(1);
        }
      }
      System.out.println("all have had it");
    }
  }
}
