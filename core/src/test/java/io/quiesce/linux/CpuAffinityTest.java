package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class CpuAffinityTest {
  private static void inThread(Thread.Builder builder, Runnable body) throws Exception {
    FutureTask<Void> task = new FutureTask<>(body, null);
    builder.start(task);
    try {
      task.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }

  @Test
  void bindsTheCallingThread() throws Exception {
    assumeTrue(CpuAffinity.isAvailable(), "no affinity here");
    CpuSet allowed = CpuAffinity.get();
    assertThat(allowed.isEmpty()).isFalse();
    inThread(
        Thread.ofPlatform(),
        () -> {
          for (int cpu : allowed.toArray()) {
            CpuAffinity.pinTo(cpu);
            assertThat(CpuAffinity.get()).isEqualTo(CpuSet.of(cpu));
            assertThat(Rseq.cpu()).isEqualTo(cpu);
            assertThat(Rseq.node()).isEqualTo(CpuTopology.nodeOf(cpu));
          }
          CpuAffinity.set(allowed);
          assertThat(CpuAffinity.get()).isEqualTo(allowed);
        });
  }

  @Test
  void refusals() throws Exception {
    assumeTrue(CpuAffinity.isAvailable(), "no affinity here");
    assertThatThrownBy(() -> CpuAffinity.set(CpuSet.empty()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> CpuAffinity.pinTo(8191))
        .isInstanceOf(LinuxException.class)
        .hasMessageContaining("sched_setaffinity(8191) failed with EINVAL");
    inThread(
        Thread.ofVirtual(),
        () ->
            assertThatThrownBy(() -> CpuAffinity.pinTo(0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("virtual"));
  }
}
