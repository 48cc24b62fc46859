/**
 * The Java agent: traces a program that knows nothing of Quiesce.
 *
 * <pre>
 *   java -javaagent:quiesce-trace.jar=output=trace,mode=overwrite ...
 *   java -javaagent:quiesce-trace.jar=@options ...      one key=value in each line
 * </pre>
 *
 * <p>{@link io.quiesce.trace.agent.TraceAgent} is what the JVM calls; {@code ./quiesce trace
 * record} makes the command line. Keys: {@link io.quiesce.trace.agent.AgentOptions}.
 */
@NullMarked
package io.quiesce.trace.agent;

import org.jspecify.annotations.NullMarked;
