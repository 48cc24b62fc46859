package io.quiesce.rcu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The same smoke in JVMs that lack one thing or another. Slow to start, so in one run only. */
@Timeout(120)
class FallbackTest {
  @BeforeEach
  void once() {
    assumeFalse(Waiting.isRefusedRun(), "child JVMs are the same in both runs");
  }

  @ParameterizedTest
  @CsvSource({
    "MEMBARRIER, -Dquiesce.membarrier=off",
    "FENCED, -Dquiesce.rseq=off -Dquiesce.rcu.flavour=fenced",
    "QSBR, -Dquiesce.membarrier=off -Dquiesce.rseq=off -Dquiesce.rcu.flavour=QSBR",
    "SLEEPABLE, -Dquiesce.linux=off -Dquiesce.rcu.flavour=Sleepable",
    "MEMBARRIER, -Dquiesce.native=off -Dquiesce.rcu.flavour=membarrier",
    "MEMBARRIER, -XX:+UnlockExperimentalVMOptions -XX:+UseSystemMemoryBarrier",
    "SLEEPABLE, -Dquiesce.rcu.trackVirtual=true -Dquiesce.rcu.flavour=sleepable",
  })
  void readersSeeNothingPoisonedWhateverIsMissing(Rcu.Flavour expected, String flags)
      throws Exception {
    Child child = Child.run(Smoke.class, List.of(flags.split(" ")), List.of(), "120");
    assertPasses(child);
    assertThat(child.output()).contains("default Rcu[shared, " + expected);
  }

  @Test
  void readersSeeNothingPoisonedWithoutRegisteredSequences() throws Exception {
    assertPasses(
        Child.run(
            Smoke.class,
            List.of("-Dquiesce.debug=true"),
            List.of("GLIBC_TUNABLES=glibc.pthread.rseq=0"),
            "120"));
  }

  @Test
  void nothingButJavaBaseIsNeeded() throws Exception {
    Child child = Child.run(Smoke.class, List.of("--limit-modules", "java.base"), List.of(), "100");
    assertPasses(child);
    assertThat(child.output()).doesNotContain("NoClassDefFoundError");
  }

  private static void assertPasses(Child child) {
    assertThat(child.output()).endsWith("smoke passed\n").doesNotContain("Exception");
    assertThat(child.exit()).isZero();
  }

  @Test
  void anUnknownFlavourIsNamedWithTheKnownOnes() throws Exception {
    Child child = Child.run(Smoke.class, List.of("-Dquiesce.rcu.flavour=fast"), List.of(), "1");
    assertThat(child.exit()).isEqualTo(1);
    assertThat(child.output())
        .contains(
            "-Dquiesce.rcu.flavour=fast is unknown; use membarrier, fenced, qsbr or sleepable");
  }

  @Test
  void jmxIsLeftAloneWhenSwitchedOff() throws Exception {
    String on = Child.run(JmxProbe.class, List.of(), List.of()).output();
    String off = Child.run(JmxProbe.class, List.of("-Dquiesce.jmx=off"), List.of()).output();
    assertThat(on).contains("registered: true");
    assertThat(off).contains("registered: false");
  }

  /** Says whether a new domain can be seen in JMX. */
  static final class JmxProbe {
    private JmxProbe() {}

    public static void main(String[] arguments) throws Exception {
      try (Rcu rcu = Rcu.create("probe")) {
        var name = new javax.management.ObjectName("io.quiesce:type=Rcu,name=\"probe\"");
        var server = java.lang.management.ManagementFactory.getPlatformMBeanServer();
        boolean wanted = !"off".equals(System.getProperty("quiesce.jmx"));
        // Registered beside, so a little later; what must not come is given a moment to come.
        for (int i = 0; i < (wanted ? 3_000 : 20) && !server.isRegistered(name); i++) {
          Thread.sleep(10);
        }
        boolean seen = server.isRegistered(name);
        System.out.println(rcu + " registered: " + seen);
      }
    }
  }
}
