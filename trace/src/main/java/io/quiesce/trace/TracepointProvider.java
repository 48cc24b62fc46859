package io.quiesce.trace;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** An interface whose methods are tracepoints; {@link Tracepoints} makes it work. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface TracepointProvider {
  /**
   * What comes before the colon in the names of its tracepoints.
   *
   * @return any text; by default the simple name of the interface in lower case
   */
  String value() default "";
}
