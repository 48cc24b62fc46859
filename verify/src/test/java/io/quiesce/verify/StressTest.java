package io.quiesce.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.Membarrier;
import io.quiesce.verify.stress.StressRunner;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** jcstress in its short form; {@code -Dquiesce.verify.jcstress="-m tough"} gives it options. */
class StressTest {
  @Test
  void healthyTestsForbidAndTwinsShow() throws Exception {
    int cpus = Runtime.getRuntime().availableProcessors();
    Skip.unless(cpus >= 2, "jcstress needs two CPUs and there is " + cpus);
    Skip.unless(Membarrier.isAvailable(), "no process-wide barrier here");
    String options = System.getProperty("quiesce.verify.jcstress", "").strip();
    List<String> faults =
        StressRunner.run(
            options.isEmpty() ? List.of() : List.of(options.split("\\s+")),
            Path.of("target", "jcstress"),
            System.out);
    assertThat(faults).isEmpty();
  }

  /** A skipped layer says why. */
  static final class Skip {
    private Skip() {}

    static void unless(boolean condition, String reason) {
      if (!condition) {
        System.out.println("skipped: " + reason);
      }
      assumeTrue(condition, reason);
    }
  }
}
