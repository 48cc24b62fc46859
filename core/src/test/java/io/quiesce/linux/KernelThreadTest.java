package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class KernelThreadTest {
  /** A link to the caller's own folder, {@code PID/task/TID}. */
  private static final Path SELF = Path.of("/proc/thread-self");

  private static int told() {
    try {
      return Integer.parseInt(Files.readSymbolicLink(SELF).getFileName().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void isWhatProcTells() throws InterruptedException {
    assumeTrue(Platform.kernelCalls().on(), Platform.kernelCalls().reason());
    assumeTrue(Files.isSymbolicLink(SELF), "skipped: no " + SELF);
    int[] own = new int[2];
    Thread other =
        Thread.ofPlatform()
            .start(
                () -> {
                  own[0] = KernelThread.id();
                  own[1] = told();
                });
    other.join();
    assertThat(own[0]).isEqualTo(own[1]).isPositive();
    assertThat(KernelThread.id()).isEqualTo(told()).isNotEqualTo(own[0]);
  }

  @Test
  void isMinusOneWithoutNativeAccess() {
    assumeFalse(Platform.kernelCalls().on(), "skipped: the kernel can be asked here");
    assertThat(KernelThread.id()).isEqualTo(-1);
  }
}
