/**
 * Off-heap memory: {@link io.quiesce.memory.RcuArena}, an arena that many threads read and any
 * thread closes at the cost of a few stores.
 */
@NullMarked
package io.quiesce.memory;

import org.jspecify.annotations.NullMarked;
