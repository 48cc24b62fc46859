/**
 * Read-copy update: readers that never wait, and everything that updaters need so that nothing is
 * freed under them.
 *
 * <pre>{@code
 * reader                              updater
 * try (Section s = rcu.read()) {      T old = ref.getAndSet(next);     publish
 *   use(ref.get(s));                  rcu.call(() -> free(old));       let go, a grace period later
 * }
 *
 * time ------------------------------------------------------------------->
 * reader 1   [=== old ===]
 * reader 2          [======= old =======]
 * reader 3                 [=== new ===]          sections that begin after
 * updater          ^publish             ^         the publication see the new
 *                  |<--- grace period ->|free old
 * }</pre>
 *
 * What lives here, from the top:
 *
 * <ul>
 *   <li>{@link io.quiesce.rcu.Guarded}: owns a native handle or anything else that must be closed;
 *       most users need nothing more.
 *   <li>{@link io.quiesce.rcu.Rcu}: a domain; sections, grace periods, deferred work. {@link
 *       io.quiesce.rcu.RcuRef} is the reference that readers follow, {@link io.quiesce.rcu.Section}
 *       the token that proves a section, {@link io.quiesce.rcu.Reader} the explicit form.
 *   <li>{@link io.quiesce.rcu.Callbacks}: the workers that run deferred work.
 *   <li>Inside: {@code GracePeriod} (the algorithm), {@code ReaderRegistry} (who reads), {@code
 *       SleepableCounts} (virtual threads), {@code WakeWord} (how workers sleep), {@code
 *       RetireBuffer}, {@code StallReport}.
 * </ul>
 *
 * <p>Guarantees, lettered: {@code docs/ordering.md}. Example: the programs of the module {@code
 * quiesce-examples}.
 */
@NullMarked
package io.quiesce.rcu;

import org.jspecify.annotations.NullMarked;
