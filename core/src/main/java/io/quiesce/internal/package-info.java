/**
 * What several packages here share and nobody else should use: not exported, and free to change.
 *
 * <p>The ways to JMX and JFR, whose modules may be absent: {@link io.quiesce.internal.Facilities}
 * says so without touching a class of theirs, {@link io.quiesce.internal.Beans} registers beans
 * that keep nothing alive. {@link io.quiesce.internal.Listeners} tells those who listen.
 */
@NullMarked
package io.quiesce.internal;

import org.jspecify.annotations.NullMarked;
