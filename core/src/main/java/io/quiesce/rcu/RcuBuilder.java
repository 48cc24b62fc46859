package io.quiesce.rcu;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;

/** Makes an {@link Rcu} domain. Not safe for use by several threads at once. */
public final class RcuBuilder {
  private static final Duration DEFAULT_STALL_LIMIT = Duration.ofSeconds(10);

  private final String name;
  private Rcu.Flavour flavour = defaultFlavour();
  private Duration stallLimit = DEFAULT_STALL_LIMIT;
  private Consumer<String> stallListener = report -> {};
  private WorkerOptions worker = WorkerOptions.defaults();

  RcuBuilder(String name) {
    this.name = Objects.requireNonNull(name, "name");
  }

  /**
   * The flavour unless told otherwise: {@code -Dquiesce.rcu.flavour}, else membarrier on HotSpot's
   * own compilers and fenced on others, since what the membarrier reader relies on is claimed for
   * C1 and C2 only (docs/ordering.md).
   */
  static Rcu.Flavour defaultFlavour() {
    String wanted = System.getProperty("quiesce.rcu.flavour");
    if (wanted != null) {
      try {
        return Rcu.Flavour.valueOf(wanted.toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException unknown) {
        throw new IllegalArgumentException(
            "-Dquiesce.rcu.flavour="
                + wanted
                + " is unknown; use membarrier, fenced, qsbr or sleepable",
            unknown);
      }
    }
    return isHotSpotCompiler() ? Rcu.Flavour.MEMBARRIER : Rcu.Flavour.FENCED;
  }

  private static boolean isHotSpotCompiler() {
    String vm = System.getProperty("java.vm.name", "");
    String vendor =
        System.getProperty("java.vendor.version", "") + System.getProperty("java.vm.version", "");
    boolean hotSpot = vm.contains("OpenJDK") || vm.contains("HotSpot");
    boolean graal =
        vendor.contains("GraalVM")
            || vm.contains("Substrate")
            || Boolean.parseBoolean(System.getProperty("jvmci.Compiler", "false"));
    return hotSpot && !graal;
  }

  /**
   * Sets the flavour.
   *
   * @param flavour who pays for ordering
   * @return this
   */
  public RcuBuilder flavour(Rcu.Flavour flavour) {
    this.flavour = Objects.requireNonNull(flavour, "flavour");
    return this;
  }

  /**
   * Sets after how long a grace period logs whom it waits for; again at each doubling.
   *
   * @param limit longer than zero; the default is 10 s
   * @return this
   */
  public RcuBuilder stallLimit(Duration limit) {
    if (limit.isNegative() || limit.isZero()) {
      throw new IllegalArgumentException("a stall limit of " + limit + " is not above zero");
    }
    this.stallLimit = limit;
    return this;
  }

  /**
   * Hands stall reports to a listener as well as to the log.
   *
   * @param listener gets the report's text, on the thread that waits; must be short
   * @return this
   */
  public RcuBuilder onStall(Consumer<String> listener) {
    this.stallListener = Objects.requireNonNull(listener, "listener");
    return this;
  }

  /**
   * Sets how the default callback worker works.
   *
   * @param options its options
   * @return this
   */
  public RcuBuilder defaultWorker(WorkerOptions options) {
    this.worker = Objects.requireNonNull(options, "options");
    return this;
  }

  /**
   * Makes the domain.
   *
   * @return a new domain
   */
  public Rcu build() {
    return new Rcu(this, false);
  }

  String name() {
    return name;
  }

  Rcu.Flavour chosenFlavour() {
    return flavour;
  }

  Duration chosenStallLimit() {
    return stallLimit;
  }

  Consumer<String> chosenStallListener() {
    return stallListener;
  }

  WorkerOptions chosenWorker() {
    return worker;
  }
}
