/**
 * What the Linux kernel and C programmers have, for the JVM: userspace RCU, process-wide memory
 * barriers and per-CPU data, in pure Java with no dependency.
 *
 * <p>Start at {@code io.quiesce.rcu}. Without native access (see the README) everything there works
 * on portable fallbacks; {@code ./quiesce doctor} says which path is taken and what it costs.
 */
module io.quiesce {
  requires static transitive org.jspecify;
  requires static jdk.jfr;
  requires static java.management;

  exports io.quiesce;
  exports io.quiesce.linux;
  exports io.quiesce.memory;
  exports io.quiesce.percpu;
  exports io.quiesce.rcu;
}
