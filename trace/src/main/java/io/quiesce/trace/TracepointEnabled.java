package io.quiesce.trace;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that says whether somebody records a tracepoint of the same interface, so that arguments
 * that are expensive need not be computed for nobody. It has no parameters and returns {@code
 * boolean}. The answer may be old at once: the tracepoint itself looks again.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface TracepointEnabled {
  /**
   * Which tracepoint.
   *
   * @return its name, as {@link Tracepoint#name} has it
   */
  String value();
}
