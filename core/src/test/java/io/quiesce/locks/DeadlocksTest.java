package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.ChildJvm;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deadlocks are seen by the JVM's own detection, or by ours; what is none is not. */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class DeadlocksTest {
  /** Two threads that each have one lock and wait for the other's, until they are interrupted. */
  static Thread[] deadlock(
      Together threads, boolean virtual, ExclusiveLock one, ExclusiveLock other) {
    CyclicBarrier both = new CyclicBarrier(2);
    return new Thread[] {
      threads.interruptAtEnd(threads.start(virtual, () -> takeBoth(both, one, other))),
      threads.interruptAtEnd(threads.start(virtual, () -> takeBoth(both, other, one)))
    };
  }

  private static void takeBoth(CyclicBarrier both, ExclusiveLock mine, ExclusiveLock yours)
      throws Exception {
    mine.lock();
    try {
      both.await();
      yours.lockInterruptibly();
      yours.unlock();
    } catch (InterruptedException expected) {
      // That is how the test ends it.
    } finally {
      mine.unlock();
    }
  }

  @ParameterizedTest
  @EnumSource
  void ofPlatformThreadsIsSeenByTheJvmAndByUs(Kind kind) throws InterruptedException {
    ExclusiveLock one = kind.create();
    ExclusiveLock other = kind.create();
    try (Together threads = new Together()) {
      Thread[] pair = deadlock(threads, false, one, other);
      var bean = ManagementFactory.getThreadMXBean();
      AtomicReference<long[]> seen = new AtomicReference<>();
      Together.until(
          "the JVM sees both",
          () -> {
            // Some of the locks sleep for moments only, and are invisible in between.
            long[] found = bean.findDeadlockedThreads();
            seen.set(found);
            return found != null && found.length == 2;
          });
      assertThat(seen.get()).containsExactlyInAnyOrder(pair[0].threadId(), pair[1].threadId());
      Together.until("we see it", () -> Deadlocks.find().size() == 1);
      assertThat(Deadlocks.find().getFirst()).containsExactlyInAnyOrder(pair);
    }
    assertThat(Deadlocks.find()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void ofVirtualThreadsIsSeenByUs(Kind kind) throws InterruptedException {
    ExclusiveLock one = kind.create();
    ExclusiveLock other = kind.create();
    try (Together threads = new Together()) {
      Thread[] pair = deadlock(threads, true, one, other);
      Together.until("we see it", () -> Deadlocks.find().size() == 1);
      assertThat(Deadlocks.report())
          .contains("#" + pair[0].threadId())
          .contains("#" + pair[1].threadId())
          .contains(" waits for ")
          .contains(kind.name())
          .contains("takeBoth");
    }
    assertThat(Deadlocks.report()).isEmpty();
  }

  /** A wait with an end is no deadlock, nor is one for a signal. */
  @ParameterizedTest
  @EnumSource
  void timedAndConditionWaitsAreNone(Kind kind) throws InterruptedException {
    ExclusiveLock one = kind.create();
    ExclusiveLock other = kind.create();
    CyclicBarrier both = new CyclicBarrier(2);
    try (Together threads = new Together()) {
      Thread timed =
          threads.start(
              () -> {
                one.lock();
                both.await();
                try {
                  assertThat(other.tryLock(1, TimeUnit.DAYS)).isTrue();
                } catch (InterruptedException expected) {
                  // That is how the test ends it.
                }
                one.unlock();
              });
      Thread waiting =
          threads.start(
              () -> {
                other.lock();
                both.await();
                one.lock();
                one.unlock();
                other.unlock();
              });
      threads.interruptAtEnd(timed);
      Together.until("both wait", () -> isWaiting(timed) && isWaiting(waiting));
      for (int i = 0; i < 20; i++) {
        Thread.sleep(1);
        assertThat(Deadlocks.find()).isEmpty();
      }
    }
    try (Together threads = new Together()) {
      Thread signalled =
          threads.start(
              () -> {
                one.lock();
                try {
                  one.newCondition().await();
                } catch (InterruptedException expected) {
                  // That is how the test ends it.
                }
                one.unlock();
              });
      Together.untilParked(signalled);
      assertThat(Deadlocks.find()).isEmpty();
      signalled.interrupt();
    }
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  /** The dump that people have: of a running process, by jcmd. */
  @Test
  void isInARealThreadDump() throws Exception {
    assumeTrue(System.getProperty("basedir") != null && Files.isExecutable(JCMD));
    ChildJvm.Result child = ChildJvm.run(Dump.class, Map.of());
    assertThat(child.out())
        .contains("Found one Java-level deadlock")
        .contains("dump-one")
        .contains("dump-other")
        .contains("io.quiesce.locks.NodelessMcsLock")
        .contains("Locked ownable synchronizers");
    assertThat(child.exit()).as(child.err()).isZero();
  }

  private static final Path JCMD = Path.of(System.getProperty("java.home"), "bin", "jcmd");

  /** Deadlocks, dumps itself, and ends. */
  static final class Dump {
    private Dump() {}

    public static void main(String[] arguments) throws Exception {
      ExclusiveLock one = new NodelessMcsLock("one");
      ExclusiveLock other = new NodelessMcsLock("other");
      CyclicBarrier both = new CyclicBarrier(2);
      Thread first = daemon("dump-one", both, one, other);
      Thread second = daemon("dump-other", both, other, one);
      while (first.getState() != Thread.State.WAITING
          || second.getState() != Thread.State.WAITING) {
        Thread.sleep(1);
      }
      int exit =
          new ProcessBuilder(
                  JCMD.toString(),
                  Long.toString(ProcessHandle.current().pid()),
                  "Thread.print",
                  "-l")
              .inheritIO()
              .start()
              .waitFor();
      System.exit(exit);
    }

    private static Thread daemon(
        String name, CyclicBarrier both, ExclusiveLock mine, ExclusiveLock yours) {
      return Thread.ofPlatform()
          .daemon()
          .name(name)
          .start(
              () -> {
                try {
                  takeBoth(both, mine, yours);
                } catch (Exception unexpected) {
                  throw new IllegalStateException(unexpected);
                }
              });
    }
  }

  @Test
  void readersThatWaitForWritersAreInTheCycle() throws InterruptedException {
    PerCpuReadWriteLock data = new PerCpuReadWriteLock("data");
    McsLock index = new McsLock("index");
    CyclicBarrier both = new CyclicBarrier(2);
    try (Together threads = new Together()) {
      Thread writer =
          threads.interruptAtEnd(threads.start(() -> takeBoth(both, data.writeLock(), index)));
      Thread reader =
          threads.start(
              true,
              () -> {
                index.lock();
                try {
                  both.await();
                  data.readLock().lockInterruptibly();
                  data.readLock().unlock();
                } catch (InterruptedException expected) {
                  // That is how the test ends it.
                } finally {
                  index.unlock();
                }
              });
      threads.interruptAtEnd(reader);
      Together.until("we see it", () -> Deadlocks.find().size() == 1);
      assertThat(Deadlocks.find()).singleElement().isEqualTo(rotated(List.of(writer, reader)));
    }
  }

  /** As it begins with either. */
  private static List<Thread> rotated(List<Thread> cycle) {
    List<Thread> found = Deadlocks.find().getFirst();
    return found.getFirst() == cycle.getFirst() ? cycle : cycle.reversed();
  }
}
