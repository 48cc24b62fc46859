/**
 * Queue locks that bear more threads than CPUs, virtual ones included, and tell what they do.
 *
 * <pre>{@code
 * Lock lock = new NodelessMcsLock("orders");    // the name appears in reports
 * lock.lock();
 * try {
 *   ...
 * } finally {
 *   lock.unlock();
 * }
 *
 * locked word <--- newcomers                    a fast path, as long as nobody has waited too long
 *      ^
 *      '---------- head --> W1 --> W2 --> W3    those that wait, parked
 * }</pre>
 *
 * What lives here:
 *
 * <ul>
 *   <li>{@link io.quiesce.locks.NodelessMcsLock}: the one to use; {@link io.quiesce.locks.McsLock}:
 *       first come, first served; {@link io.quiesce.locks.ClhLock}, {@link
 *       io.quiesce.locks.TicketLock}, {@link io.quiesce.locks.SpinLock}: for special needs and
 *       comparison. All are {@link io.quiesce.locks.ExclusiveLock}s, with every form of {@link
 *       java.util.concurrent.locks.Lock} and conditions; none is reentrant.
 *   <li>{@link io.quiesce.locks.PerCpuReadWriteLock}: readers that only count on their CPU.
 *   <li>{@link io.quiesce.locks.WaitPolicy}: how a waiter waits, the same for all queue locks.
 *   <li>{@link io.quiesce.locks.LockStatistics}: opt-in figures; {@link
 *       io.quiesce.locks.Deadlocks}: cycles of waiting threads, virtual ones too.
 *   <li>Inside: {@code Waiter} (a place in a queue, and the one step that decides between a grant
 *       and giving up), {@code LockCondition}, {@code Backoff}, {@code LockEvents} (JFR).
 * </ul>
 *
 * <p>Guarantees, lettered: {@code docs/ordering.md}. Which to take when: {@code docs/locks.md}.
 * Virtual threads need JDK 25.0.3 or later (JDK-8369227).
 */
@NullMarked
package io.quiesce.locks;

import org.jspecify.annotations.NullMarked;
