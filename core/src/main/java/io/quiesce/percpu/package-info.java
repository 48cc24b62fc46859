/**
 * Data that each CPU has for itself, and the queue that everything deferred stands on.
 *
 * <pre>
 *   thread --- one call ---> [restartable sequence: which row? ... last store commits]
 *                                 |
 *             row 0: {words, list, array}   row 1: {words, list, array}   ...     one per CPU
 *                                 ^
 *   who else must change a row:   close it, fence it, change it, open it
 *
 *   producers --- exchange ---> tail . . . links . . . head ---> one consumer
 * </pre>
 *
 * <ul>
 *   <li>{@link io.quiesce.percpu.PerCpuCounter}: a {@code LongAdder} of a seventh of the memory.
 *   <li>{@link io.quiesce.percpu.PerCpuHistogram}: HdrHistogram's buckets, recorded by any number
 *       of threads.
 *   <li>{@link io.quiesce.percpu.PerCpuStack}: off-heap nodes linked through themselves.
 *   <li>{@link io.quiesce.percpu.PerCpuBuffer}: a bounded array of numbers, such as free blocks.
 *   <li>{@link io.quiesce.percpu.PerCpuMemory}: where such words lie, for structures of your own.
 *   <li>{@link io.quiesce.percpu.PerCpuOps}: the operations that all of them are made of.
 *   <li>{@link io.quiesce.percpu.WaitFreeQueue}: many producers, one consumer, one exchange and one
 *       store to enqueue.
 * </ul>
 *
 * <p>All are right for virtual threads, and work, only slower, where there are no restartable
 * sequences; what needs native access says so. Guarantees: {@code docs/ordering.md}, letters P, Q
 * and T; algorithms, memory and choices: {@code docs/percpu.md}.
 *
 * <p>Example: {@code PerCpuCounter hits = PerCpuCounter.create(); hits.increment(); hits.sum();}
 */
@NullMarked
package io.quiesce.percpu;

import org.jspecify.annotations.NullMarked;
