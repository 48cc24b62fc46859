package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CpuSetTest {
  @Test
  void readsAndWritesTheKernelsSyntax() {
    for (String text : List.of("", "0", "0-3,7", "0,64", "1,3,5-6", "0-8191")) {
      assertThat(CpuSet.parse(text)).hasToString(text);
    }
    assertThat(CpuSet.parse(" 3, 1-2\n")).hasToString("1-3");
    assertThat(CpuSet.parse("0-3,7").toArray()).containsExactly(0, 1, 2, 3, 7);
    assertThat(CpuSet.parse("0-3,7")).isEqualTo(CpuSet.of(7, 3, 2, 1, 0));
    assertThat(CpuSet.parse("0-3,7")).hasSameHashCodeAs(CpuSet.of(7, 3, 2, 1, 0));
  }

  @Test
  void namesThePartItDoesNotUnderstand() {
    for (String text : List.of("a", "1-", "-1", "3-1", "1,,2", "1,", "99999999", "65536", "0-x")) {
      assertThatThrownBy(() -> CpuSet.parse(text))
          .as(text)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("in the CPU list '" + text + "'");
    }
    assertThatThrownBy(() -> CpuSet.of(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void isASet() {
    CpuSet set = CpuSet.parse("0,64");
    assertThat(set.size()).isEqualTo(2);
    assertThat(set.highest()).isEqualTo(64);
    assertThat(set.contains(64)).isTrue();
    assertThat(set.contains(1)).isFalse();
    assertThat(set.contains(-1)).isFalse();
    assertThat(CpuSet.empty().highest()).isEqualTo(-1);
    assertThat(CpuSet.empty().isEmpty()).isTrue();
    assertThat(set.and(CpuSet.of(64, 65))).isEqualTo(CpuSet.of(64));
    assertThat(set.or(CpuSet.of(1))).hasToString("0-1,64");
    List<Integer> seen = new ArrayList<>();
    set.forEach(seen::add);
    assertThat(seen).containsExactly(0, 64);
    assertThat(CpuSet.ofMask(set.toMask())).isEqualTo(set);
  }
}
