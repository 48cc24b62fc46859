/**
 * Requests to a process that traces: list, enable, disable, snapshot.
 *
 * <p>The first session of a process opens a Unix-domain socket in a folder that only its user may
 * enter; the last one takes it away. {@link io.quiesce.trace.control.ControlServer} answers, {@link
 * io.quiesce.trace.control.ControlClient} asks; {@link io.quiesce.trace.control.Message} is what
 * goes over the wire:
 *
 * <pre>
 *   client                                       server
 *   enable TAB pattern=shop:* TAB level=14 LF -&gt;
 *                                             &lt;- ok LF
 *                                             &lt;- session TAB name=trace TAB on=3 LF
 *                                             &lt;- end LF
 * </pre>
 *
 * <p>Tracing does not depend on it: without a socket a process traces as before.
 */
@NullMarked
package io.quiesce.trace.control;

import org.jspecify.annotations.NullMarked;
