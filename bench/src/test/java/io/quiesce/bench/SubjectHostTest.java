package io.quiesce.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every kind of Java subject for a moment; one through a process of its own. */
@Timeout(120)
class SubjectHostTest {
  private static final Duration ROUND = Duration.ofMillis(10);

  private static SubjectProcess start(String program, String experiment, List<String> words)
      throws Exception {
    Plan plan = new Plan(true, 1, Duration.ofMillis(50), List.of(1), 2);
    return SubjectProcess.start(
        JavaLauncher.command(program, experiment, Params.parse(words), plan),
        SubjectProcess.Patience.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource({
    "read, rcu.read, threads=2 reader=implicit",
    "read, rcu.read, threads=1 reader=virtual",
    "read, rcu.read, threads=1 reader=qsbr",
    "read, rcu.read, threads=2 reader=refcount",
    "synchronize, rcu.synchronize, readers=1 flavour=membarrier",
    "synchronize, rcu.synchronize, readers=1 flavour=sleepable",
    "call, rcu.call, measure=enqueue worker=default batch=1000",
    "call, rcu.call, measure=throughput worker=rt-pinned batch=1000 form=runnable",
    "call, rcu.call, measure=idle-barrier worker=monitor",
    "close, rcu.close, measure=closer way=guarded readers=1 idle=20",
    "close, rcu.close, measure=freed way=retire readers=1",
    "close, rcu.close, measure=rate way=arena readers=2",
    "close, rcu.close, measure=readers way=refcount readers=2 accesses=1",
    "barrier, barrier.cost, strategy=private siblings=1",
    "bystander, barrier.bystander, strategy=batched",
    "count, percpu.add, threads=2 counter=quiesce",
    "count, percpu.add, threads=2 counter=adder",
    "count, percpu.add, threads=1 counter=atomic",
    "count-memory, percpu.memory, counter=quiesce counters=3000",
    "count-memory, percpu.memory, counter=adder counters=3000",
    "list, percpu.list, threads=2 list=quiesce",
    "list, percpu.list, threads=2 list=queue",
    "list, percpu.list, threads=2 list=deque",
    "list, percpu.list, threads=2 list=treiber",
    "pair, alloc.pair, threads=2 allocator=quiesce measure=pair",
    "pair, alloc.pair, threads=1 allocator=glibc measure=batch",
    "pair, alloc.pair, threads=2 allocator=netty-pooled-cached measure=batch",
    "pair, alloc.pair, threads=1 allocator=arena measure=batch",
    "ttest1, alloc.ttest1, threads=2 allocator=quiesce kind=virtual",
    "ttest1, alloc.ttest1, threads=4 allocator=none",
    "lock, locks.uncontended, threads=1 measure=pair lock=nmcs",
    "lock, locks.uncontended, threads=1 measure=pair lock=semaphore",
    "lock, locks.contended, threads=4 measure=throughput steps=25 lock=nmcs",
    "lock, locks.contended, threads=4 measure=throughput steps=25 lock=spin",
    "lock, locks.contended, threads=4 measure=throughput steps=25 lock=stamped",
    "lock, locks.contended, threads=3 measure=throughput steps=25 lock=mcs-spin",
    "lock, locks.contended, threads=4 measure=wait steps=500 lock=mcs",
    "lock, locks.contended, threads=4 measure=wait steps=500 lock=synchronized",
    "lock, locks.contended, threads=4 measure=wait steps=500 lock=semaphore",
    "hackbench, locks.hackbench, groups=1 loops=3 kind=platform lock=nmcs",
    "hackbench, locks.hackbench, groups=2 loops=3 kind=virtual lock=mcs",
    "hackbench, locks.hackbench, groups=1 loops=300 kind=virtual lock=synchronized",
    "idle, alloc.idle, threads=40 allocator=quiesce",
    "idle, alloc.idle, threads=40 allocator=netty-pooled-cached",
  })
  void measures(String program, String experiment, String words) throws Exception {
    try (Subject subject = Subjects.create(program)) {
      subject.setUp(Params.parse(List.of(words.split(" ", -1))));
      for (int i = 0; i < 2; i++) {
        assertThat(subject.round(ROUND).values().iterator().next()).as(experiment).isPositive();
      }
    } catch (Subject.UnavailableException e) {
      assertThat(e).hasMessageContaining(" ");
    }
  }

  /** A library of C is chosen once for a process. */
  @ParameterizedTest
  @CsvSource({"jemalloc", "mimalloc", "tcmalloc"})
  void nativeAllocatorsMeasureOrSayWhatToInstall(String allocator) throws Exception {
    try (SubjectProcess subject =
        start("pair", "alloc.pair", List.of("threads=1", "allocator=" + allocator))) {
      subject.request(ROUND);
      assertThat(subject.result(ROUND).get("ns")).isPositive();
    } catch (SubjectProcess.Failure e) {
      assertThat(e).hasMessageContaining("install lib");
    }
  }

  @Test
  void measuresInItsOwnProcess() throws Exception {
    try (SubjectProcess subject =
        start("read", "rcu.read", List.of("threads=2", "reader=implicit"))) {
      for (int i = 0; i < 2; i++) {
        subject.request(ROUND);
        assertThat(subject.result(ROUND).get("ns")).isPositive();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "nothing, rcu.read, threads=1",
    "read, rcu.read, reader=nobody",
    "barrier, barrier.cost, strategy=hope",
    "lock, locks.contended, lock=none",
  })
  void whatDoesNotExistIsOneSentence(String program, String experiment, String words) {
    assertThatExceptionOfType(SubjectProcess.Failure.class)
        .isThrownBy(() -> start(program, experiment, List.of(words)).close())
        .withMessageMatching("ended with status 1: .* called .*");
  }
}
