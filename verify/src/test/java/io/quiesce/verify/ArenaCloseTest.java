package io.quiesce.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import io.quiesce.linux.VirtualMemory;
import io.quiesce.memory.PerCpuAllocator;
import io.quiesce.memory.RcuArena;
import io.quiesce.rcu.Rcu;
import io.quiesce.rcu.Section;
import io.quiesce.rcu.WorkerOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Arenas that are closed under their readers, and the broken twin whose readers hold a section of
 * another domain, so that no grace period of the arena's waits for them. The allocator hands freed
 * blocks out again at once, and each user fills its block with a number of its own: whoever reads
 * two numbers in one section was freed under its feet. The allocator keeps its pages mapped, so
 * that the twin finds wrong numbers instead of the end of the JVM.
 */
@Timeout(120)
class ArenaCloseTest {
  private static final int WORDS = 48;
  private static final long NANOS = Long.getLong("quiesce.verify.arena.millis", 1_500) * 1_000_000L;

  private record Page(RcuArena arena, long address, long stamp) {}

  @BeforeEach
  void available() {
    assumeTrue(VirtualMemory.isAvailable());
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void noBlockIsFreedUnderItsSection(Rcu.Flavour flavour) throws Exception {
    Run run = new Run(flavour, false);
    assertThat(run.torture()).isNull();
    assertThat(run.reads.sum()).isPositive();
    assertThat(run.refused.sum()).as("readers that found an arena closed").isPositive();
    assertThat(run.left).as("bytes that were not freed").isZero();
  }

  @ParameterizedTest
  @EnumSource(Rcu.Flavour.class)
  void withoutItsGracePeriodItIsFound(Rcu.Flavour flavour) throws Exception {
    assertThat(new Run(flavour, true).torture()).startsWith("stamp ");
  }

  private static final class Run {
    private final boolean broken;
    private final Rcu rcu;
    private final Rcu other = Rcu.create("arena-torture-other");
    private final PerCpuAllocator allocator = PerCpuAllocator.create("arena-torture");
    private final AtomicReference<Page> current = new AtomicReference<>();
    private final LongAdder reads = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private volatile @Nullable String fault;
    private volatile boolean stop;
    private long left;

    Run(Rcu.Flavour flavour, boolean broken) {
      this.broken = broken;
      this.rcu =
          Rcu.builder("arena-torture-" + flavour)
              .flavour(flavour)
              .defaultWorker(WorkerOptions.defaults().delay(Duration.ofMillis(1)))
              .build();
    }

    /** The first fault, or null. */
    @Nullable String torture() throws InterruptedException {
      current.set(page(1));
      List<Thread> readers = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        boolean virtual = i == 2;
        readers.add(
            (virtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> read(virtual)));
      }
      long until = System.nanoTime() + NANOS;
      for (long stamp = 2; fault == null && System.nanoTime() - until < 0; stamp++) {
        Page old = current.get();
        if (stamp % 2 == 0) {
          old.arena.close(); // this way round readers see it closed
          current.set(page(stamp));
        } else {
          current.set(page(stamp));
          old.arena.close();
        }
        if (stamp % 64 == 0) {
          rcu.barrier(); // memory is bounded, and freed blocks come back soon
        }
      }
      stop = true;
      for (Thread reader : readers) {
        reader.join();
      }
      current.get().arena.close();
      rcu.close();
      other.close();
      left = allocator.statistics().inUseBytes();
      allocator.close();
      return fault;
    }

    private Page page(long stamp) {
      RcuArena arena = RcuArena.create(rcu, allocator);
      long address = arena.allocate(8L * WORDS, 8).address();
      for (int i = 0; i < WORDS; i++) {
        OffHeap.putLong(address + 8L * i, stamp);
      }
      return new Page(arena, address, stamp);
    }

    @SuppressWarnings("ThreadPriorityCheck") // to be unmounted inside the section
    private void read(boolean virtual) {
      for (int round = 0; !stop; round++) {
        try {
          if (broken) {
            Page page = current.get();
            try (Section _ = other.read()) {
              check(page, virtual || round % 64 == 0);
            }
          } else {
            Page page = current.get();
            try (RcuArena.Access _ = page.arena.read()) {
              check(page, virtual || round % 64 == 0);
            }
          }
          reads.increment();
        } catch (IllegalStateException closed) {
          refused.increment();
        }
        if (virtual) {
          Thread.yield();
        }
      }
    }

    @SuppressWarnings("ThreadPriorityCheck") // the closer shall run meanwhile
    private void check(Page page, boolean dawdle) {
      for (int i = 0; i < WORDS; i++) {
        long seen = OffHeap.getLongOpaque(page.address + 8L * i);
        if (seen != page.stamp) {
          fault = "stamp " + page.stamp + " became " + seen;
          stop = true;
          return;
        }
        if (dawdle && i % 16 == 0) {
          Thread.yield();
        }
      }
    }
  }
}
