/**
 * The root of Quiesce: {@link io.quiesce.QuiesceListener}, which is told of what happens inside,
 * and {@link io.quiesce.Incubating}.
 *
 * <pre>
 *   io.quiesce.linux   what kernel and CPU offer: barriers, restartable sequences, futex, CPU sets
 *        ^
 *   io.quiesce.percpu  data that each CPU has for itself, and the wait-free queue
 *        ^
 *   io.quiesce.rcu     readers that never wait, grace periods, deferred work, Guarded
 * </pre>
 */
@NullMarked
package io.quiesce;

import org.jspecify.annotations.NullMarked;
