/**
 * Data that each CPU has its own copy of, changed by restartable sequences without atomic
 * instructions.
 *
 * <pre>
 *   base            +0          +stride      +2*stride
 *                   | CPU 0     | CPU 1      | CPU 2 ...     one row per possible CPU number
 *   PerCpuOps.add changes the row of the CPU it runs on, whichever that is
 * </pre>
 *
 * <p>Guarantee: only a sequence on a row's own CPU stores to it; whoever finds no row (a thread
 * that is not registered, a platform without sequences) uses an atomic row of its own.
 *
 * <pre>{@code
 * if (!PerCpuOps.add(base, stride, 1)) {
 *   OffHeap.getAndAddLong(atomicRow, 1);
 * }
 * }</pre>
 */
@NullMarked
package io.quiesce.percpu;

import org.jspecify.annotations.NullMarked;
