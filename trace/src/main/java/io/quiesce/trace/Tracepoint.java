package io.quiesce.trace;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A method whose calls are events, the arguments being their fields; see {@link Tracepoints}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Tracepoint {
  /**
   * What comes behind the colon in its name.
   *
   * @return any text, once in an interface; by default the method's name
   */
  String name() default "";

  /**
   * How much it matters.
   *
   * @return {@link TraceLevel#INFO} by default
   */
  TraceLevel level() default TraceLevel.INFO;
}
