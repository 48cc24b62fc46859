package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is known about virtual readers when they are tracked, in a JVM that tracks them. */
@Timeout(120)
class VirtualTrackingTest {
  @Test
  void trackedSectionsAreKnownByTheirThreads() throws Exception {
    assumeFalse(Waiting.isRefusedRun(), "child JVMs are the same in both runs");
    Child child = Child.run(Main.class, List.of("-Dquiesce.rcu.trackVirtual=true"), List.of());
    assertThat(child.output())
        .contains("virtual: waiting for a grace period inside a read section")
        .contains("sleepable: waiting for a grace period inside a read section")
        .contains("virtual: barrier() inside a read section")
        .contains("after: false")
        .contains("blocked: false")
        .containsPattern("stall: .*section open for \\d+ ms, slow-virtual")
        .contains("at io.quiesce.rcu.VirtualTrackingTest$Main.lingerHere")
        .containsPattern("time-out: .*still in use by thread .*slow-virtual");
    assertThat(child.exit()).isZero();
  }

  static final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
      AtomicReference<String> stall = new AtomicReference<>("");
      Rcu rcu =
          Rcu.builder("tracked")
              .defaultWorker(WorkerOptions.defaults().blockAbove(5))
              .stallLimit(Duration.ofMillis(100))
              .onStall(stall::set)
              .build();
      Rcu sleepable = Rcu.builder("counted").flavour(Rcu.Flavour.SLEEPABLE).build();
      Thread.startVirtualThread(() -> insideASection("virtual", rcu)).join();
      insideASection("sleepable", sleepable);

      CountDownLatch inside = new CountDownLatch(1);
      CountDownLatch leave = new CountDownLatch(1);
      Thread slow =
          Thread.ofVirtual().name("slow-virtual").start(() -> lingerHere(rcu, inside, leave));
      inside.await();
      Guarded<String> guarded = Guarded.of(rcu, "value", value -> {});
      try {
        guarded.closeAndWait(Duration.ofMillis(500));
      } catch (TimeoutException expected) {
        System.out.println("time-out: " + expected.getMessage());
      }
      while (stall.get().isEmpty()) {
        Thread.sleep(1);
      }
      System.out.println("stall: " + stall.get().replace('\n', ' '));
      leave.countDown();
      slow.join();
      guarded.closeAndWait(Duration.ofSeconds(30));
      rcu.close();
    }

    private static void insideASection(String kind, Rcu rcu) {
      try (Section s = rcu.read()) {
        for (Runnable wait : List.<Runnable>of(rcu::synchronize, rcu::barrier)) {
          try {
            wait.run();
          } catch (IllegalStateException expected) {
            System.out.println(kind + ": " + expected.getMessage() + " " + s.isOpen());
          }
        }
        for (int i = 0; i < 50; i++) {
          rcu.call(() -> {});
        }
        System.out.println("blocked: false");
      }
      System.out.println("after: " + rcu.isReading());
    }

    private static void lingerHere(Rcu rcu, CountDownLatch inside, CountDownLatch leave) {
      try (Section s = rcu.read()) {
        inside.countDown();
        Waiting.forLatch(leave);
        System.out.println("left " + s.isOpen());
      }
    }
  }
}
