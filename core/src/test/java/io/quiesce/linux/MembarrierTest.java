package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MembarrierTest {
  @Test
  void everyCommand() {
    Needs.facility("membarrier-rseq");
    assertThat(Membarrier.isAvailable()).isTrue();
    Membarrier.fence();
    Membarrier.fenceRseq();
    int commands = Membarrier.query();
    assertThat(commands & Membarrier.PRIVATE_EXPEDITED).isNotZero();
    if ((commands & Membarrier.GLOBAL) != 0) {
      Membarrier.global();
    }
    if ((commands & Membarrier.GLOBAL_EXPEDITED) != 0) {
      Membarrier.globalExpedited();
    }
    if ((commands & Membarrier.PRIVATE_EXPEDITED_SYNC_CORE) != 0) {
      Membarrier.syncCore();
    }
    if ((commands & Membarrier.GET_REGISTRATIONS) != 0) {
      int both = Membarrier.REGISTER_PRIVATE_EXPEDITED | Membarrier.REGISTER_PRIVATE_EXPEDITED_RSEQ;
      assertThat(Membarrier.registrations() & both).isEqualTo(both);
    }
  }

  @Test
  void cpusThatAreNotThereNeedNoFence() {
    Needs.facility("membarrier-rseq");
    CpuTopology.online().forEach(Membarrier::fenceCpu);
    assertThatCode(() -> Membarrier.fenceCpu(CpuTopology.tableSize())).doesNotThrowAnyException();
    assertThatCode(() -> Membarrier.fenceCpu(CpuSet.MAX_CPU)).doesNotThrowAnyException();
    assertThatCode(() -> Membarrier.fenceCpu(Integer.MAX_VALUE)).doesNotThrowAnyException();
    Membarrier.fenceCpus(CpuSet.empty());
    Membarrier.fenceCpus(CpuSet.of(0, 64));
    Membarrier.fenceCpus(CpuTopology.possible());
    assertThatThrownBy(() -> Membarrier.fenceCpu(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void limitOfSingleCalls() {
    assertThat(Membarrier.limit(500, 330, 64)).isEqualTo(1);
    assertThat(Membarrier.limit(6000, 330, 64)).isEqualTo(18);
    assertThat(Membarrier.limit(6000, 330, 4)).isEqualTo(4);
    assertThat(Membarrier.limit(1, 0, 2)).isEqualTo(1);
    assertThat(Membarrier.singleCallLimit()).isPositive();
  }

  @Test
  void refusedWithTheCureWhereItIsOff() {
    if (!Membarrier.isAvailable()) {
      assertThatThrownBy(Membarrier::fence)
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining(Platform.reason("membarrier"));
    }
  }

  @Test
  void kernelErrorsAreTyped() {
    Needs.facility("membarrier");
    assertThatThrownBy(
            () -> Syscall.checked("membarrier(1 << 30)", Syscall.MEMBARRIER, 1 << 30, 0, 0))
        .isInstanceOfSatisfying(
            LinuxException.class,
            e -> {
              assertThat(e.errno()).isEqualTo(22);
              assertThat(e.symbol()).isEqualTo("EINVAL");
              assertThat(e.call()).isEqualTo("membarrier(1 << 30)");
              assertThat(e).hasMessageContaining("membarrier(1 << 30) failed with EINVAL (22): ");
            });
  }

  @Test
  void unknownErrorsStillRead() {
    LinuxException e = new LinuxException("bpf(MAP)", 7);
    assertThat(e).hasMessageContaining("bpf(MAP) failed with E7 (7)");
  }
}
