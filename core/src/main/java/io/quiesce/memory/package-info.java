/**
 * Off-heap memory: an allocator with caches for each CPU, and arenas under RCU.
 *
 * <pre>
 *   allocateRaw --- one restartable sequence ---&gt; cache of the row &lt;--&gt; central list &lt;--&gt; pages
 *   freeRaw     --- one restartable sequence ---^
 * </pre>
 *
 * <ul>
 *   <li>{@link io.quiesce.memory.PerCpuAllocator}: blocks of any size, for any number of threads.
 *   <li>{@link io.quiesce.memory.RcuArena}: an arena that many threads read and any thread closes
 *       at the cost of a few stores; mapped files too.
 * </ul>
 *
 * <p>Needs native access, the allocator Linux as well; without them the factories throw {@link
 * java.lang.UnsupportedOperationException} naming the flag. Guarantees: {@code docs/ordering.md},
 * letter M. How it works and what it costs: {@code docs/memory.md}, {@code docs/arena.md}; how to
 * find wrong use: {@code docs/memory-hardening.md}.
 */
@NullMarked
package io.quiesce.memory;

import org.jspecify.annotations.NullMarked;
