/**
 * Data that each CPU has for itself, and the queue that everything deferred stands on.
 *
 * <pre>
 *   thread on CPU 1 --- one call ---> [restartable sequence: CPU number, add] ---> row of CPU 1
 *
 *   producers --- exchange ---> tail . . . links . . . head ---> one consumer
 * </pre>
 *
 * <ul>
 *   <li>{@link io.quiesce.percpu.PerCpuOps}: an add to the word of whatever CPU the thread is on,
 *       without atomic instruction and right for virtual threads.
 *   <li>{@link io.quiesce.percpu.WaitFreeQueue}: many producers, one consumer, one exchange and one
 *       store to enqueue.
 * </ul>
 *
 * <p>Guarantees: {@code docs/ordering.md}, letters P and Q.
 */
@NullMarked
package io.quiesce.percpu;

import org.jspecify.annotations.NullMarked;
