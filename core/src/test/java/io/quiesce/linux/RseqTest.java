package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RseqTest {
  @Test
  void whereThisThreadRuns() {
    Needs.facility("rseq");
    assertThat(CpuTopology.possible().contains(Rseq.cpu())).isTrue();
    assertThat(CpuTopology.nodes()).containsKey(Rseq.node());
    assertThat(Rseq.featureSize()).isGreaterThanOrEqualTo(20);
    if (Rseq.hasConcurrencyId()) {
      assertThat(Rseq.concurrencyId()).isBetween(0, CpuTopology.tableSize() - 1);
    } else {
      assertThat(Rseq.concurrencyId()).isEqualTo(-1);
    }
  }

  @Test
  void nothingIsKnownWhereNothingCanTell() {
    if (!Platform.nativeAccess()) {
      assertThat(Rseq.cpu()).isEqualTo(-1);
      assertThat(Rseq.node()).isEqualTo(-1);
      assertThat(Rseq.concurrencyId()).isEqualTo(-1);
      assertThat(Rseq.featureSize()).isZero();
      assertThat(Rseq.isAvailable()).isFalse();
    }
  }
}
