/**
 * What shows that the rest is right, for as long as one likes: the {@link io.quiesce.verify.Torture
 * torture} and the {@link io.quiesce.verify.StoreBufferingLitmus litmus} loop. jcstress and
 * Lincheck live in this module's tests, the Spin models in {@code verify/spin}; its README has the
 * layers and how to run each.
 *
 * <pre>
 *   Torture (parent) -- one child JVM per combination of switches --> RcuTorture: four flavours
 *      |  SIGSTOP, SIGCONT now and then                                 readers  check blocks
 *      |  watches the clock                                             updaters retire blocks
 *      '- table, verdict, how to repeat                                 chaos    workers, fences
 * </pre>
 */
@NullMarked
package io.quiesce.verify;

import org.jspecify.annotations.NullMarked;
