package io.quiesce.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The torture in its short form; {@code -Dquiesce.verify.seconds=N} for longer. */
class TortureTest {
  private static final int SECONDS = Integer.getInteger("quiesce.verify.seconds", 10);

  @Test
  void everythingRetiredIsReclaimedOnceAndNothingIsUsedAfter() {
    assertThat(Torture.run(List.of("rcu"), SECONDS, System.out)).isZero();
  }

  @Test
  void everyNodeAndNumberHasOneOwner() {
    assertThat(Torture.run(List.of("percpu"), SECONDS, System.out)).isZero();
  }

  @Test
  void everyBlockHasOneOwnerAndMemoryComesBack() {
    assertThat(Torture.run(List.of("alloc"), SECONDS, System.out)).isZero();
  }

  @Test
  void everyLockHasOneOwnerAndForgetsNobody() {
    assertThat(Torture.run(List.of("locks"), SECONDS, System.out)).isZero();
  }

  @Test
  void everyEventThatWasNotCountedLostIsInTheTraceOnce() {
    assertThat(Torture.run(List.of("trace"), SECONDS, System.out)).isZero();
  }

  @Test
  void whatIsLeftOutIsFound() {
    assertThat(Torture.runBroken(20, System.out)).isZero();
  }

  @Test
  void anUnknownNameNamesTheKnown() {
    PrintStream out = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
    assertThatThrownBy(() -> Torture.run(List.of("rcp"), 1, out))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rcu");
  }
}
